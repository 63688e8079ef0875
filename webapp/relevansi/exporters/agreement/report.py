"""Agreement in a study as a document, and as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from typing import Any

from msgspec.structs import asdict, replace

from relevansi import labels, notation
from relevansi.exporters.comparisons.files import formats
from relevansi.exporters.exports.metrics_tables import said_seconds, seconds_json
from relevansi.exporters.frame.tables import (
    Cell,
    Column,
    Document,
    Section,
    Table,
    stacked,
    whole_number,
    word,
)
from relevansi.i18n import gettext, ngettext
from relevansi.metrics.agreement.agreement import EXPLANATIONS, Agreement, Coefficient
from relevansi.metrics.agreement.registry import COEFFICIENTS, KIND_LABELS, OF_TWO, coefficients
from relevansi.metrics.agreement.report import (
    AgreementReport,
    CannotTell,
    ConflictReport,
    Consistency,
    ItemKind,
    KindAgreement,
    SignTest,
)
from relevansi.metrics.intervals import CONFIDENCE
from relevansi.printable import json_escaped

UNLIKELY = 0.05
"""Below this probability chance is called an unlikely reason."""


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
    name: str, title: str, found: Agreement, wanted: Collection[str] = tuple(COEFFICIENTS)
) -> Table:
    """Return the `wanted` coefficients of one group, a row for each."""
    chosen = {key: one for key, one in coefficients(found).items() if key in wanted}
    columns = (Column(gettext("Figure")), _column(gettext("Value")), Column("n", numeric=True))
    rows = tuple(
        (word(gettext(COEFFICIENTS[key].label)), _cell(key, one), whole_number(one.n))
        for key, one in chosen.items()
    )
    return Table(name, title, columns, rows, tuple(_reasons(chosen.values())))


def by_group(
    name: str,
    title: str,
    headings: Iterable[str],
    groups: Iterable[tuple[tuple[str, ...], Agreement]],
    note: str,
    wanted: Collection[str] = tuple(COEFFICIENTS),
) -> Table:
    """Return the `wanted` coefficients of several groups, a row for each, named by `headings`."""
    measured = [(names, found.raw.n, coefficients(found)) for names, found in groups]
    shown = [one for one in wanted if any(one in figures for *_, figures in measured)]
    named = (_column(gettext(COEFFICIENTS[one].label)) for one in shown)
    columns = (*map(Column, headings), *named, Column("n", numeric=True))
    rows = tuple(
        (*map(word, names), *(_cell(one, figures.get(one)) for one in shown), whole_number(n))
        for names, n, figures in measured
    )
    values = (figures[one] for *_, figures in measured for one in shown if one in figures)
    return Table(name, title, columns, rows, (note, *_reasons(values)))


def intervals() -> str:
    return gettext(
        "Intervals: 95% over items, Wilson's with the variance that leaving out one item at a time "
        "shows. An item alone has none."
    )


def _of_kind(found: KindAgreement) -> Section:
    name, title = found.kind.value, gettext(KIND_LABELS[found.kind])
    if len(found.raters) < 2:
        lacks = gettext(
            "Nothing of this kind has been judged yet. Figures appear here once two raters have "
            "judged the same thing."
        )
        if found.n_items:
            lacks = gettext("So far one rater alone has judged here. Agreement needs at least two.")
        return Section(name, title, (lacks,), ())
    judged = ngettext("%(n)s item has a judgment", "%(n)s items have a judgment", found.n_items)
    shared = ngettext(
        "%(n)s was decided by two raters or more",
        "%(n)s were decided by two raters or more",
        found.n_shared,
    )
    names = gettext("Raters: %(names)s.", names=", ".join(found.raters))
    return Section(name, title, (f"{judged}, {shared}.", names), tuple(_tables(found)))


def _tables(found: KindAgreement) -> Iterator[Table]:
    grouped = [name for name in COEFFICIENTS if name not in OF_TWO or len(found.raters) == 2]
    basis = gettext(
        "n: items that two raters or more decided. The chance term of Fleiss' kappa and Gwet's AC1 "
        "is over all %(n)s items that anybody decided.",
        n=notation.number(found.overall.n_rated),
    )
    table = overall(f"{found.kind}_overall", gettext("All raters"), found.overall)
    yield replace(table, notes=(basis, *table.notes))
    if found.cannot_tell_by:
        yield _cannot_tell_table(found.cannot_tell_by)
    if len(found.raters) > 2:
        title, headings = gettext("Per pair of raters"), (gettext("Raters"),)
        groups = (((" – ".join(pair),), one) for pair, one in found.pairs.items())
        note = gettext("n counts the items that both decided.")
        yield by_group(f"{found.kind}_pairs", title, headings, groups, note)
    title, headings = gettext("By category"), (gettext("Category"),)
    groups = (((labels.category(name),), one) for name, (_, one) in found.categories.items())
    note = gettext(
        "All raters; n counts the items of the category that two raters or more decided."
    )
    yield by_group(f"{found.kind}_categories", title, headings, groups, note, grouped)
    if (of := len(found.over_time)) > 1:
        parts = (
            ((gettext("Part %(part)s of %(of)s", part=n, of=of), notation.period(*times)), one)
            for n, (*times, _, one) in enumerate(found.over_time, start=1)
        )
        note = gettext(
            "The items in the order in which anybody first judged them, cut into parts of "
            "equal size; n counts those that two raters or more decided."
        )
        columns = (gettext("Part"), gettext("Time"))
        yield by_group(f"{found.kind}_time", gettext("Over time"), columns, parts, note, grouped)


def _cannot_tell_table(by_rater: Mapping[str, CannotTell]) -> Table:
    def cell(said: CannotTell) -> Cell:
        n, of = notation.number(said.n_cannot_tell), notation.number(said.n_judged)
        lines = (notation.percent(round(said.rate or 0, 3)), gettext("%(n)s of %(of)s", n=n, of=of))
        return stacked(lines, (said.rate, said.n_cannot_tell, said.n_judged))

    title, parts = gettext("Cannot tell"), (gettext("Value"), "n", gettext("Judgments"))
    columns = (Column(gettext("Rater")), Column(title, numeric=True, parts=parts))
    rows = tuple((word(rater), cell(said)) for rater, said in by_rater.items())
    note = gettext("It counts as missing in every figure; this is how often it was chosen.")
    return Table(f"{ItemKind.CARDS}_cannot_tell", title, columns, rows, (note,))


def _repeats(report: AgreementReport) -> Iterator[Section]:
    if not report.repeats:
        return
    title = gettext("Raters with themselves")
    told = gettext(
        "Hidden repeats: some questions are asked twice, unannounced. The second verdict on a card "
        "is compared with the first and never replaces it; n counts the cards that were decided "
        "both times."
    )

    def names(own: Consistency) -> tuple[str, ...]:
        answered = gettext("%(n)s of %(of)s", n=own.answered, of=own.asked)
        return own.rater, gettext(KIND_LABELS[own.kind]), answered

    headings = (gettext("Rater"), gettext("What is compared"), gettext("Answered"))
    groups = ((names(own), own.agreement) for own in report.repeats)
    table = by_group("repeats", title, headings, groups, told)
    yield Section("repeats", title, (), (table,))


def _notes(report: AgreementReport) -> Iterator[str]:
    yield intervals()
    if any(one.kind is ItemKind.QUALITY and len(one.raters) > 1 for one in report.kinds):
        yield gettext(
            "Quality 0-5 is an order: Krippendorff's alpha weighs how far two grades are apart, "
            "the other figures ask for equal grades."
        )
    if pace := said_seconds(report.seconds):
        yield pace


def _column(heading: str) -> Column:
    parts = (gettext("Value"), gettext("Lower"), gettext("Upper"))
    return Column(heading, numeric=True, parts=parts)


def _cell(name: str, found: Coefficient | None) -> Cell:
    if found is None:  # repeats of cards are graded, those of quality beside them not weighted
        return Cell(notation.UNDEFINED, (None, None, None))
    unit = COEFFICIENTS[name].unit
    value, values = notation.figure(found.value, unit), (found.value, found.lower, found.upper)
    if found.lower is None:
        return stacked((value,), values)
    return stacked((value, notation.interval(found.lower, found.upper, unit)), values)


def _reasons(found: Iterable[Coefficient]) -> list[str]:
    reasons = {one.why_undefined for one in found}
    return [f"-: {gettext(EXPLANATIONS[why])}" for why in EXPLANATIONS if why in reasons]


def contradicts_itself(run: str, query: int, property_id: str) -> str:
    return gettext(
        "%(run)s passes and fails the same property of question %(query)s (%(property)s); "
        "it is left out of this comparison.",
        run=run,
        query=query,
        property=property_id,
    )


def conflict_document(report: ConflictReport) -> Document:
    """Return `report` as a document: what was found, which way it leans, every contradiction."""
    judged = ngettext(
        "%(n)s property of a question was judged in more than one run.",
        "%(n)s properties of a question were judged in more than one run.",
        report.pairs_judged_more_than_once,
    )
    differing = ngettext(
        "On %(n)s of them the verdicts differ.",
        "On %(n)s of them the verdicts differ.",
        len(report.contradictions),
    )
    sections = [Section("found", gettext("What was found"), (judged, differing), ())]
    if report.contradictions:
        title, leans = gettext("Which way they lean"), tuple(map(_lean, report.sign_tests))
        sections.append(Section("lean", title, leans, (_favours(report, title),)))
        table = _contradictions(report)
        sections.append(Section(table.name, table.title, (), (table,)))
    return Document(gettext("Conflict report"), "", tuple(sections))


def _favours(report: ConflictReport, title: str) -> Table:
    counted = Column(gettext("Verdicts in favour of the run"), numeric=True)
    rows = tuple((word(run), whole_number(n)) for run, n in report.favours.items())
    notes = (
        gettext(
            "The number of contradictions that favour the run: the property was judged "
            "relevant there and not relevant elsewhere."
        ),
        gettext(
            "Sign test, exact and two-sided, for every two runs over the properties on which "
            "both gave a verdict and differ. Below 0.05 chance is called an unlikely reason; "
            "with several tests at once, judge more strictly."
        ),
    )
    return Table("favours", title, (Column(gettext("Run")), counted), rows, notes)


def _lean(test: SignTest) -> str:
    a, b = test.runs
    if test.favours_a + test.favours_b == 0:
        return gettext("%(a)s and %(b)s do not contradict each other.", a=a, b=b)
    leaning = gettext(
        "Between %(a)s and %(b)s, %(for_a)s favour %(a)s and %(for_b)s favour %(b)s.",
        a=a,
        b=b,
        for_a=notation.number(test.favours_a),
        for_b=notation.number(test.favours_b),
    )
    p = notation.p_value(test.p)
    if test.p >= UNLIKELY:
        return f"{leaning} {gettext('That can well be chance (p = %(p)s).', p=p)}"
    unlikely = gettext(
        "Chance hardly explains that (p = %(p)s): tossed coins come out this uneven about once in "
        "%(times)s.",
        p=p,
        times=notation.number(round(1 / test.p)),
    )
    return f"{leaning} {unlikely}"


def _contradictions(report: ConflictReport) -> Table:
    verdicts = {
        True: f"✓ {gettext('Relevant')}",
        False: f"✗ {gettext('Not relevant')}",
        None: notation.UNDEFINED,
    }

    def named(query_id: int, identity: str) -> tuple[Cell, Cell]:
        number, question = report.questions[query_id]
        lines = tuple(dict.fromkeys((report.titles.get(identity) or identity, identity)))
        return word(f"{number}. {question}"), stacked(lines, (identity,))

    columns = tuple(map(Column, (gettext("Question"), gettext("Property"), *report.favours)))
    rows = tuple(
        (*named(*pair), *(word(verdicts[by_run.get(run)]) for run in report.favours))
        for pair, by_run in report.contradictions.items()
    )
    return Table("contradictions", gettext("Contradictions"), columns, rows, ())


def agreement_json(report: AgreementReport) -> dict[str, Any]:
    """Return `report` as ``relevansi agreement --help`` describes it."""
    return {
        "raters": list(report.raters),
        "interval": {"method": "score, from the jackknife", "confidence": CONFIDENCE},
        **{str(kind.kind): _kind(kind) for kind in report.kinds},
        "repeats": [
            {
                "rater": own.rater,
                "kind": str(own.kind),
                "asked": own.asked,
                "answered": own.answered,
                **_figures(own.agreement),
            }
            for own in report.repeats
        ],
        **({"seconds_per_verdict": seconds_json(report.seconds)} if report.seconds else {}),
    }


def agreement_bytes(report: AgreementReport) -> bytes:
    """Return ``agreement_json`` as a file, its figures unrounded."""
    text = json.dumps(agreement_json(report), ensure_ascii=False, indent=1)
    return f"{json_escaped(text)}\n".encode()


def _kind(found: KindAgreement) -> dict[str, Any]:
    cannot_tell = None
    if found.cannot_tell is not None:
        by_rater = {name: _cannot_tell(own) for name, own in found.cannot_tell_by.items()}
        cannot_tell = {**_cannot_tell(found.cannot_tell), "raters": by_rater}
    return {
        "raters": list(found.raters),
        "scale": str(found.scale),
        "n_items": found.n_items,
        "n_shared": found.n_shared,
        "n_rated": found.overall.n_rated,
        "cannot_tell": cannot_tell,
        "overall": _figures(found.overall),
        "pairs": [
            {"raters": list(pair), **_figures(agreement)} for pair, agreement in found.pairs.items()
        ],
        "categories": {
            name: {"n_items": n_items, **_figures(agreement)}
            for name, (n_items, agreement) in found.categories.items()
        },
        "over_time": [
            {
                "part": part,
                "n_items": n_items,
                "first": first.isoformat(),
                "last": last.isoformat(),
                **_figures(agreement),
            }
            for part, (first, last, n_items, agreement) in enumerate(found.over_time, start=1)
        ],
    }


def _cannot_tell(said: CannotTell) -> dict[str, Any]:
    return {"n": said.n_cannot_tell, "judged": said.n_judged, "rate": said.rate}


def _figures(found: Agreement) -> dict[str, Any]:
    return {name: asdict(one) for name, one in coefficients(found).items()}


FORMATS = formats(document, agreement_bytes)
"""Every format of the agreement by the name that the command line gives it."""
