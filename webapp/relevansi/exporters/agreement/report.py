"""Agreement in a study as a document, and as one JSON document."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from typing import Any

from msgspec.structs import asdict, replace

from relevansi import labels, notation
from relevansi.exporters.exports.judging_sentences import pace_sentence
from relevansi.exporters.exports.metrics_tables import seconds_json
from relevansi.exporters.frame.json_files import fields
from relevansi.exporters.frame.report_formats import formats
from relevansi.exporters.frame.tables import (
    Cell,
    Column,
    Document,
    Section,
    Table,
    estimated,
    numbers,
    stacked,
    whole_number,
    word,
)
from relevansi.i18n import gettext, ngettext
from relevansi.metrics.agreement.agreement import EXPLANATIONS, Agreement, Coefficient
from relevansi.metrics.agreement.report import (
    COEFFICIENTS,
    KIND_LABELS,
    OF_TWO,
    AgreementReport,
    CannotTell,
    Consistency,
    ItemKind,
    KindAgreement,
    coefficients,
)
from relevansi.metrics.intervals import CONFIDENCE


def document(report: AgreementReport, on: date | None = None) -> Document:
    """Return `report` as a document, dated `on`: a section for each kind of items it has."""
    names = gettext("Raters: %(names)s.", names=", ".join(report.raters))
    day = [f"{notation.day(on)}."] if on else []
    sections = [*map(_of_kind, report.kinds), *_repeats(report)]
    if any(section.tables for section in sections):
        sections.append(Section("notes", gettext("Notes"), tuple(_notes(report)), ()))
    title = gettext("Inter-rater agreement")
    return Document(title, " ".join((*day, names)), tuple(sections))


def overall(
    name: str, title: str, agreement: Agreement, names: Collection[str] = tuple(COEFFICIENTS)
) -> Table:
    """Return the coefficients of these `names` in one group, a row for each."""
    chosen = [(key, each) for key, each in coefficients(agreement).items() if key in names]
    columns = (Column(gettext("Figure")), _column(gettext("Value")), numbers("n"))
    rows = tuple(
        (word(gettext(COEFFICIENTS[key].label)), _cell(key, each), whole_number(each.n))
        for key, each in chosen
    )
    return Table(name, title, columns, rows, tuple(_reasons(each for _, each in chosen)))


def by_group(
    name: str,
    title: str,
    headings: Iterable[str],
    groups: Iterable[tuple[tuple[str, ...], Agreement]],
    note: str,
    figure_names: Collection[str] = tuple(COEFFICIENTS),
) -> Table:
    """Return coefficients of several groups, a row for each, which `headings` name."""
    rows_of_figures = [(names, coefficients(group), group.raw.n) for names, group in groups]
    measured = {key for _, figures, _ in rows_of_figures for key in figures}
    keys = [key for key in figure_names if key in measured]
    rows = []
    listed: list[Coefficient] = []
    for names, figures, n in rows_of_figures:
        cells = (_cell(key, figures.get(key)) for key in keys)
        rows.append((*map(word, names), *cells, whole_number(n)))
        listed += [figures[key] for key in keys if key in figures]
    figure_columns = (_column(gettext(COEFFICIENTS[key].label)) for key in keys)
    columns = (*map(Column, headings), *figure_columns, numbers("n"))
    return Table(name, title, columns, tuple(rows), (note, *_reasons(listed)))


def intervals() -> str:
    """Return how the intervals of the coefficients were made."""
    return gettext(
        "Intervals: 95% over items, Wilson's with the variance that leaving out one item at a time "
        "shows. An item alone has none."
    )


def _of_kind(kind: KindAgreement) -> Section:
    """Return the agreement on one kind of items, or why there is none yet."""
    name, title = kind.kind.value, gettext(KIND_LABELS[kind.kind])
    if len(kind.raters) < 2:
        why_empty = gettext(
            "Nothing of this kind has been judged yet. Figures appear here once two raters have "
            "judged the same thing."
        )
        if kind.n_items:
            why_empty = gettext(
                "So far one rater alone has judged here. Agreement needs at least two."
            )
        return Section(name, title, (why_empty,), ())
    judged = ngettext("%(n)s item has a judgment", "%(n)s items have a judgment", kind.n_items)
    shared = ngettext(
        "%(n)s was decided by two raters or more",
        "%(n)s were decided by two raters or more",
        kind.n_shared,
    )
    names = gettext("Raters: %(names)s.", names=", ".join(kind.raters))
    return Section(name, title, (f"{judged}, {shared}.", names), tuple(_tables(kind)))


def _tables(kind: KindAgreement) -> Iterator[Table]:
    """Yield the tables of one kind: all raters, cannot tell, pairs, categories, over time."""
    # Small groups show the coefficients of two raters only where the study has two.
    grouped = [name for name in COEFFICIENTS if name not in OF_TWO or len(kind.raters) == 2]
    basis = gettext(
        "n: items that two raters or more decided. The chance term of Fleiss' kappa and Gwet's AC1 "
        "is over all %(n)s items that anybody decided.",
        n=notation.number(kind.overall.n_rated),
    )
    table = overall(f"{kind.kind}_overall", gettext("All raters"), kind.overall)
    yield replace(table, notes=(basis, *table.notes))
    if kind.cannot_tell_by:
        yield _cannot_tell_table(kind.cannot_tell_by)
    if len(kind.raters) > 2:
        title, headings = gettext("Per pair of raters"), (gettext("Raters"),)
        groups = (((" – ".join(pair),), agreement) for pair, agreement in kind.pairs.items())
        note = gettext("n counts the items that both decided.")
        yield by_group(f"{kind.kind}_pairs", title, headings, groups, note)
    title, headings = gettext("By category"), (gettext("Category"),)
    groups = (
        ((labels.category(name),), agreement) for name, (_, agreement) in kind.categories.items()
    )
    note = gettext(
        "All raters; n counts the items of the category that two raters or more decided."
    )
    yield by_group(f"{kind.kind}_categories", title, headings, groups, note, grouped)
    if len(kind.over_time) > 1:
        parts = []
        for n, (first, last, _, agreement) in enumerate(kind.over_time, start=1):
            part = gettext("Part %(part)s of %(of)s", part=n, of=len(kind.over_time))
            parts.append(((part, notation.period(first, last)), agreement))
        note = gettext(
            "The items in the order in which anybody first judged them, cut into parts of "
            "equal size; n counts those that two raters or more decided."
        )
        columns = (gettext("Part"), gettext("Time"))
        yield by_group(f"{kind.kind}_time", gettext("Over time"), columns, parts, note, grouped)


def _cannot_tell_table(by_rater: Mapping[str, CannotTell]) -> Table:
    def cell(counts: CannotTell) -> Cell:
        n, of = notation.number(counts.n_cannot_tell), notation.number(counts.n_judged)
        rate = notation.percent(round(counts.rate or 0, 3))
        lines = (rate, gettext("%(n)s of %(of)s", n=n, of=of))
        return stacked(lines, (counts.rate, counts.n_cannot_tell, counts.n_judged))

    title = gettext("Cannot tell")
    value = numbers(title, gettext("Value"), "n", gettext("Judgments"))
    rows = tuple((word(rater), cell(counts)) for rater, counts in by_rater.items())
    note = gettext("It counts as missing in every figure; this is how often it was chosen.")
    columns = (Column(gettext("Rater")), value)
    return Table(f"{ItemKind.CARDS}_cannot_tell", title, columns, rows, (note,))


def _repeats(report: AgreementReport) -> Iterator[Section]:
    """Yield how each rater agrees with themselves, where questions were repeated."""
    if not report.repeats:
        return
    title = gettext("Raters with themselves")
    note = gettext(
        "Hidden repeats: some questions are asked twice, unannounced. The second verdict on a card "
        "is compared with the first and never replaces it; n counts the cards that were decided "
        "both times."
    )

    def names(repeat: Consistency) -> tuple[str, ...]:
        answered = gettext("%(n)s of %(of)s", n=repeat.answered, of=repeat.repeats)
        return repeat.rater, gettext(KIND_LABELS[repeat.kind]), answered

    headings = (gettext("Rater"), gettext("What is compared"), gettext("Answered"))
    groups = ((names(repeat), repeat.agreement) for repeat in report.repeats)
    table = by_group("repeats", title, headings, groups, note)
    yield Section("repeats", title, (), (table,))


def _notes(report: AgreementReport) -> Iterator[str]:
    yield intervals()
    if any(kind.kind is ItemKind.QUALITY and len(kind.raters) > 1 for kind in report.kinds):
        yield gettext(
            "Quality 0-5 is an order: Krippendorff's alpha weighs how far two grades are apart, "
            "the other figures ask for equal grades."
        )
    yield from filter(None, [pace_sentence(report.seconds)])


def _column(heading: str) -> Column:
    return numbers(heading, gettext("Value"), gettext("Lower"), gettext("Upper"))


def _cell(name: str, coefficient: Coefficient | None) -> Cell:
    # Repeats of cards are graded, those of quality beside them not weighted.
    if coefficient is None:
        return Cell(notation.UNDEFINED, (None, None, None))
    bounds = coefficient.lower, coefficient.upper
    return estimated(coefficient.value, *bounds, COEFFICIENTS[name].unit)


def _reasons(figures: Iterable[Coefficient]) -> list[str]:
    reasons = {figure.why_undefined for figure in figures}
    return [f"-: {gettext(EXPLANATIONS[why])}" for why in EXPLANATIONS if why in reasons]


def agreement_json(report: AgreementReport) -> dict[str, Any]:
    """Return `report` as ``relevansi agreement --help`` describes it."""
    return {
        "raters": list(report.raters),
        "interval": {"method": "score, from the jackknife", "confidence": CONFIDENCE},
        **{str(kind.kind): _kind(kind) for kind in report.kinds},
        "repeats": [
            {
                "rater": repeat.rater,
                "kind": str(repeat.kind),
                "asked": repeat.repeats,
                "answered": repeat.answered,
                **_figures(repeat.agreement),
            }
            for repeat in report.repeats
        ],
        **({"seconds_per_verdict": seconds_json(report.seconds)} if report.seconds else {}),
    }


def _kind(kind: KindAgreement) -> dict[str, Any]:
    cannot_tell = None
    if kind.cannot_tell is not None:
        by_rater = {name: _cannot_tell(counts) for name, counts in kind.cannot_tell_by.items()}
        cannot_tell = {**_cannot_tell(kind.cannot_tell), "raters": by_rater}
    return {
        "raters": list(kind.raters),
        "scale": str(kind.scale),
        **fields(kind, "n_items", "n_shared"),
        "n_rated": kind.overall.n_rated,
        "cannot_tell": cannot_tell,
        "overall": _figures(kind.overall),
        "pairs": [
            {"raters": list(pair), **_figures(agreement)} for pair, agreement in kind.pairs.items()
        ],
        "categories": {
            name: {"n_items": n_items, **_figures(agreement)}
            for name, (n_items, agreement) in kind.categories.items()
        },
        "over_time": [
            {
                "part": part,
                "n_items": n_items,
                "first": first.isoformat(),
                "last": last.isoformat(),
                **_figures(agreement),
            }
            for part, (first, last, n_items, agreement) in enumerate(kind.over_time, start=1)
        ],
    }


def _cannot_tell(counts: CannotTell) -> dict[str, Any]:
    return {"n": counts.n_cannot_tell, "judged": counts.n_judged, "rate": counts.rate}


def _figures(agreement: Agreement) -> dict[str, Any]:
    return {name: asdict(coefficient) for name, coefficient in coefficients(agreement).items()}


FORMATS = formats(document, agreement_json)
"""Every format of the agreement by the name that the command line gives it."""
