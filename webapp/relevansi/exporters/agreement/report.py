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
    numbers,
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
    unit, lower, upper = COEFFICIENTS[name].unit, coefficient.lower, coefficient.upper
    lines = [notation.figure(coefficient.value, unit)]
    if lower is not None:
        lines.append(notation.interval(lower, upper, unit))
    return stacked(tuple(lines), (coefficient.value, lower, upper))


def _reasons(figures: Iterable[Coefficient]) -> list[str]:
    reasons = {figure.why_undefined for figure in figures}
    return [f"-: {gettext(EXPLANATIONS[why])}" for why in EXPLANATIONS if why in reasons]


def contradicts_itself(run: str, query: int, property_id: str) -> str:
    """Return that a run is left out of a comparison, as it has both verdicts on a property."""
    return gettext(
        "%(run)s passes and fails the same property of question %(query)s (%(property)s); "
        "it is left out of this comparison.",
        run=run,
        query=query,
        property=property_id,
    )


def conflict_document(report: ConflictReport) -> Document:
    """Return `report` as a document: the counts, which way verdicts lean, every contradiction."""
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
    """Return how many contradictions favour each run."""
    columns = (Column(gettext("Run")), numbers(gettext("Verdicts in favour of the run")))
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
    return Table("favours", title, columns, rows, notes)


def _lean(test: SignTest) -> str:
    """Return which of two runs the contradictions favour, and whether that can be chance."""
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
    """Return each property on which the verdicts differ, with that of every run."""
    verdicts = {
        True: f"✓ {gettext('Relevant')}",
        False: f"✗ {gettext('Not relevant')}",
        None: notation.UNDEFINED,
    }
    columns = tuple(map(Column, (gettext("Question"), gettext("Property"), *report.favours)))
    rows = []
    for (query_id, identity), by_run in report.contradictions.items():
        number, question = report.questions[query_id]
        title = report.titles.get(identity)
        lines = (title, identity) if title and title != identity else (identity,)
        cells = (word(verdicts[by_run.get(run)]) for run in report.favours)
        rows.append((word(f"{number}. {question}"), stacked(lines, (identity,)), *cells))
    return Table("contradictions", gettext("Contradictions"), columns, tuple(rows), ())


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
