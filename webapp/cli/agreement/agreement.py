"""``relevansi agreement``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from webapp import labels, notation
from webapp.cli.frame import options
from webapp.cli.frame import output as progress
from webapp.cli.frame.options import formats
from webapp.cli.frame.output import TerminalTable, printed, write, write_json
from webapp.exporters.agreement.json_file import agreement_json
from webapp.i18n import gettext, ngettext
from webapp.metrics.agreement.agreement import EXPLANATIONS, Agreement, Coefficient
from webapp.metrics.agreement.registry import COEFFICIENTS, KIND_LABELS, coefficients
from webapp.metrics.agreement.report import AgreementReport, KindAgreement
from webapp.services.agreement import agreement

WIDTH = 120


@click.command("agreement")
@formats("table", "json")
def agreement_command(file_format: str, output: Path | None) -> None:
    """Show how far the study's raters agree, with one another and with themselves.

    \b
    JSON: {raters, bootstrap, cards, empty_lists, quality, repeats}. Each kind:
      {raters, scale, n_items, n_shared,
       cannot_tell: {n, judged, rate, raters: {NAME: {n, judged, rate}}} | null,
       overall: FIGURES, pairs: [{raters: [A, B], FIGURES}],
       categories: {NAME: {n_items, FIGURES}},
       over_time: [{part, n_items, first, last, FIGURES}]}
    repeats: [{rater, kind, asked, answered, FIGURES}]. FIGURES: raw, cohen_kappa,
    fleiss_kappa, krippendorff_alpha, gwet_ac1, each
      {value, n, lower, upper, why_undefined, left_out};
    undefined is null, and why_undefined one of too_few_raters, not_two_raters,
    no_shared_item, one_label.
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    with options.reading() as (session, study), progress.steps() as tell:
        report = agreement.report(session, study, tell=tell)
    if file_format == "json":
        write_json(agreement_json(report), output)
        return
    write(agreement_tables(report), output)


def agreement_tables(report: AgreementReport) -> bytes:
    """Every breakdown as a table, then why what is undefined has no value."""
    return printed(_parts(report), width=WIDTH)


def _parts(report: AgreementReport) -> Iterator[TerminalTable | str]:
    for kind in report.kinds:
        yield _summary(kind)
        yield _kind_table(kind)
    if report.repeats:
        yield _repeats_table(report)
    yield from sorted(set(_reasons(report)))
    yield gettext(
        "In brackets: %(percent)s%% intervals (%(method)s, %(resamples)s resamples, "
        "seed %(seed)s).",
        percent=round(100 * report.bootstrap.confidence),
        method=gettext("percentile bootstrap over items"),
        resamples=notation.number(report.bootstrap.resamples),
        seed=report.bootstrap.seed,
    )


def _summary(kind: KindAgreement) -> str:
    said = [
        gettext(KIND_LABELS[kind.kind]) + ":",
        ngettext("%(n)s item judged,", "%(n)s items judged,", kind.n_items),
        gettext("%(n)s decided by two raters or more.", n=kind.n_shared),
    ]
    if kind.cannot_tell is not None and kind.cannot_tell.rate is not None:
        said.append(
            gettext(
                "Cannot tell: %(n)s of %(of)s judgments.",
                n=kind.cannot_tell.n_cannot_tell,
                of=kind.cannot_tell.n_judged,
            )
        )
    return " ".join(said)


def _kind_table(kind: KindAgreement) -> TerminalTable:
    table = _table(gettext(KIND_LABELS[kind.kind]))
    _add(table, gettext("All raters"), kind.overall)
    for pair in kind.pairs:
        _add(table, " – ".join(pair.raters), pair.agreement)
    table.section()
    for group in kind.categories:
        _add(table, labels.category(group.category), group.agreement)
    if len(kind.over_time) > 1:
        table.section()
        for part in kind.over_time:
            of = gettext("Part %(part)s of %(of)s", part=part.part, of=len(kind.over_time))
            _add(table, of, part.agreement)
    return table


def _repeats_table(report: AgreementReport) -> TerminalTable:
    table = _table(gettext("Raters with themselves (hidden repeats)"))
    for own in report.repeats:
        _add(table, f"{own.rater}, {gettext(KIND_LABELS[own.kind])}", own.agreement)
    return table


def _table(title: str) -> TerminalTable:
    table = TerminalTable(title)
    table.left("")
    table.right("n", *(gettext(measure.label) for measure in COEFFICIENTS.values()))
    return table


def _add(table: TerminalTable, name: str, found: Agreement) -> None:
    cells = (_cell(one) for one in coefficients(found).values())
    table.row(name, str(found.raw.n), *cells)


def _cell(found: Coefficient) -> str | tuple[str, str]:
    if found.value is None:
        return "-"
    value = notation.decimals(found.value, 3)
    if found.lower is None or found.upper is None:
        return value
    bounds = (notation.decimals(bound, 2) for bound in (found.lower, found.upper))
    return value, f"({' .. '.join(bounds)})"


def _reasons(report: AgreementReport) -> Iterable[str]:
    """Why figures shown as "-" have no value."""
    shown = [own.agreement for own in report.repeats]
    for kind in report.kinds:
        shown.append(kind.overall)
        shown.extend(pair.agreement for pair in kind.pairs)
        shown.extend(group.agreement for group in kind.categories)
        shown.extend(part.agreement for part in kind.over_time)
    for found in shown:
        for one in coefficients(found).values():
            if one.why_undefined is not None:
                yield f"-: {gettext(EXPLANATIONS[one.why_undefined])}"
