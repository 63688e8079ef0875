"""A comparison as a document: its sections in the order in which every report prints them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from itertools import combinations
from typing import Any, NamedTuple

from msgspec.structs import replace

from relevansi import labels, notation
from relevansi.exporters.comparisons import answers, breakdowns, pictures, words
from relevansi.exporters.comparisons.differences import difference_table, signed_rank_table
from relevansi.exporters.comparisons.figure_names import (
    figure_name,
    unit_of,
)
from relevansi.exporters.frame.charts import in_words
from relevansi.exporters.frame.tables import (
    Cell,
    Column,
    Document,
    Section,
    Table,
    settings_table,
    stacked,
    whole_number,
    word,
)
from relevansi.i18n import gettext
from relevansi.metrics.comparisons.comparisons import (
    Comparison,
    ComparisonReport,
    Contender,
    FigureEstimate,
)
from relevansi.metrics.comparisons.differences import (
    ComparedQuery,
    leading,
)
from relevansi.metrics.comparisons.stability import StabilityLine
from relevansi.metrics.intervals import CONFIDENCE
from relevansi.metrics.judging.figures import HEADLINES, averaged
from relevansi.metrics.judging.graded import with_judged
from relevansi.metrics.judging.registry import Unit
from relevansi.records import QueryState


class Part(NamedTuple):
    """What another feature makes of the compared runs: its value, as a section and as JSON."""

    name: str
    value: Any
    section: Callable[[Any], Section]
    json: Callable[[Any], Any]


CATEGORY_FIGURES = ("mean_precision_at_5", "mrr", "success_rate")
"""The figures that are given per category."""

MOST_PAIRS = 3
"""Of so many pairs of runs each gets its picture of the questions; of more, the first ones."""

MOST_VARIATIONS = 10
"""So many variations that move an order are named one by one."""


def configuration(report: ComparisonReport) -> Table:
    made = (
        (gettext("Study"), report.study),
        (gettext("Raters"), words.raters(report)),
        (gettext("Rule"), labels.rule(report.comparison.rule)),
        (gettext("Verdicts until"), words.until(report.judged_until)),
        (gettext("Blind rating"), words.blindness(report)),
    )
    scale = report.comparison.scale
    grades = gettext(
        "0-%(top)s, relevant from grade %(grade)s", top=scale.top, grade=scale.relevant_from
    )
    lines = (
        *([(gettext("Rated files"), ", ".join(report.files))] if report.files else made),
        *(
            [(gettext("Cannot tell"), labels.cannot_tell(report.cannot_tell))]
            if report.cannot_tell
            else []
        ),
        *([(gettext("Scale"), grades)] if scale.top > 1 else []),
        (gettext("Intervals and tests"), words.settings()),
        (gettext("Version"), f"Relevansi {report.version}"),
    )
    return settings_table("configuration", gettext("How the comparison was made"), lines)


def contenders(report: ComparisonReport) -> Table:
    counts = (
        gettext("Questions"),
        gettext("Complete"),
        gettext("With results"),
        gettext("Empty"),
        gettext("Failed"),
        gettext("Unreadable"),
        gettext("Not run"),
    )
    return Table(
        "runs",
        gettext("What was compared"),
        (
            Column(gettext("Run")),
            Column("id"),
            Column(gettext("Search method")),
            Column(gettext("LLM")),
            *(Column(heading, numeric=True) for heading in counts),
        ),
        tuple(tuple(_contender(contender)) for contender in report.comparison.contenders),
        (words.provenance(report),),
    )


def _runs(
    comparison: Comparison, parts: tuple[str, ...], best: float | None = None
) -> Iterator[Column]:
    for contender in comparison.contenders:
        yield Column(contender.run.name, numeric=True, parts=parts, best=best)


def summary(report: ComparisonReport) -> Table:
    comparison = report.comparison
    share = notation.percent(CONFIDENCE)
    parts: tuple[str, ...] = (gettext("Value"), gettext("Lower"), gettext("Upper"), "n")
    names = with_judged(comparison.headline)
    figures = [one.estimates[name].figure for one in comparison.contenders for name in names]
    if is_open := any(figure.so_far for figure in figures):
        parts += (gettext("At least"), gettext("At most"))
    return Table(
        "summary",
        gettext("Figures of each run: value, %(share)s interval, n", share=share),
        (
            Column(gettext("Figure")),
            *_runs(comparison, parts),
        ),
        tuple(
            (
                word(figure_name(figure, comparison.scale)),
                *(
                    _estimate(one.estimates[figure], unit_of(figure), is_open=is_open)
                    for one in comparison.contenders
                ),
            )
            for figure in names
        ),
        (
            *words.reversed_orders(comparison),
            *(
                (gettext(words.COMPOSITE_NOTE), *words.composite_parts(comparison))
                if "composite" in comparison.headline
                else ()
            ),
            words.provenance(report),
        ),
    )


def by_category(report: ComparisonReport, figure: str) -> Table:
    comparison = report.comparison
    parts = (gettext("Value"), "n")
    return Table(
        f"category_{figure.replace(' ', '_')}",  # an id on the page, which has no blanks
        gettext("%(figure)s by category", figure=figure_name(figure, comparison.scale)),
        (
            Column(gettext("Category")),
            *_runs(comparison, parts, pictures.top_of(figure)),
        ),
        tuple(
            (
                Cell(labels.with_label(labels.category(category), category), (category,)),
                *(_category(c, category, figure) for c in comparison.contenders),
            )
            for category in comparison.categories
        ),
        (words.provenance(report),),
    )


def stability(report: ComparisonReport) -> Table:
    """Return, for each kind of change and each figure, in how many variations the order moves."""
    found, scale = report.stability, report.comparison.scale
    lines = {(line.change, line.figure): line for line in found.lines}
    changes = dict.fromkeys(line.change for line in found.lines)
    orders = [words.order(report.comparison, order) for order in found.orders.values()]
    parts = (gettext("Tried"), gettext("Order changes"), gettext("Another run first"), "")
    return Table(
        "stability",
        gettext("Does the order survive another way of counting?"),
        (
            Column(gettext("Change")),
            *(Column(figure_name(name, scale), parts=parts) for name in found.orders),
        ),
        (
            (
                word(gettext("None: the order as compared")),
                *(Cell(said, (None, None, None, said)) for said in orders),
            ),
            *(
                (
                    word(gettext(words.CHANGES[change])),
                    *(_moved(lines.get((change, figure))) for figure in found.orders),
                )
                for change in changes
            ),
        ),
        (
            gettext(
                "The order changes when two runs change places; runs that become equal, or "
                "stop being equal, do not count as a change."
            ),
            words.provenance(report),
        ),
    )


def questions(report: ComparisonReport, *, moved_first: bool = False) -> Table:
    """Return every question with the leading figures in each run, and how far they part.

    Those are P@5 and the reciprocal rank in a study of the method.
    """
    comparison = report.comparison
    lines = list(comparison.questions)
    if moved_first:
        lines.sort(key=lambda line: (-(line.spread or 0), line.position))
    is_original = comparison.headline == HEADLINES
    names = leading(comparison.headline)
    shown = [figure_name(name, comparison.scale) for name in names]
    lead = next(iter(shown), "")
    title = gettext("Each question: %(figures)s", figures=" / ".join(shown[:2]))
    spread = gettext("Spread of %(figure)s", figure=lead)
    note = gettext(
        "Spread of %(figure)s: the largest minus the smallest value of the runs.", figure=lead
    )
    if is_original:
        shown = ["P@5", "RR", gettext("Success")]
        title, spread = gettext("Each question: P@5 / reciprocal rank"), gettext("P@5 spread")
        note = gettext(
            "P@5 spread: the largest minus the smallest P@5 of the runs, a false negative at 0."
        )
        names = ("mean_precision_at_5", "mrr_answerable", "success_rate")
    parts = (gettext("State"), *shown)
    return Table(
        "questions",
        title,
        (
            Column(gettext("No."), numeric=True),
            Column(gettext("Question")),
            Column(gettext("Category")),
            *_runs(comparison, parts),
            Column(spread, numeric=True),
        ),
        tuple(
            (
                whole_number(line.position),
                word(line.question),
                Cell(labels.category(line.category), (line.category,)),
                *(_answer(query, averaged(names)) for query in line.answers),
                Cell(notation.figure(line.spread), (line.spread,)),
            )
            for line in lines
        ),
        (
            note,
            *words.unasked(comparison),
            words.provenance(report),
        ),
    )


def _contender(contender: Contender) -> Iterator[Cell]:
    run, totals = contender.run, contender.totals
    yield word(run.name)
    yield word(run.run)
    stated = method = run.search_method or gettext("not stated")
    if run.search_method:
        method = labels.with_label(labels.method(run.search_method), run.search_method)
    yield Cell(method, (stated,))
    yield word(run.llm or gettext("not stated"))
    yield whole_number(totals.n_queries)
    yield Cell(notation.number(totals.n_complete), (totals.n_complete,), of=totals.n_queries)
    for count in (
        totals.n_with_results,
        totals.n_empty,
        totals.n_failed,
        totals.n_unreadable,
        len(contender.missing.not_run),
    ):
        yield whole_number(count)


def _estimate(estimate: FigureEstimate, unit: Unit, *, is_open: bool) -> Cell:
    """Return a figure with its interval, or its band: that it is open has no interval yet."""
    found, interval = estimate.figure, estimate.interval
    reach = (found.lower, found.upper) if is_open else ()
    words = in_words(found, unit)
    if words.is_open:
        values = (None, None, None, found.n, *reach)
        return replace(stacked((words.text, words.n), values), so_far=words.so_far)
    if interval.lower is None or found.settled != found.value:
        return stacked((words.text, words.n), (found.settled, None, None, found.n, *reach))
    values = (found.settled, interval.lower, interval.upper, found.n, *reach)
    bounds = notation.interval(interval.lower, interval.upper, unit)
    return stacked((words.text, bounds, words.n), values)


def _category(contender: Contender, category: str, figure: str) -> Cell:
    figures = contender.categories.get(category)
    if figures is None:
        return Cell(gettext("not run"), (None, None))
    found = figures[figure]
    cell = in_words(found, unit_of(figure))
    return replace(stacked((cell.text, cell.n), (found.settled, found.n)), so_far=cell.so_far)


def _moved(line: StabilityLine | None) -> Cell:
    if line is None:
        return Cell(notation.UNDEFINED, (None, None, None, None))
    moved, unseated, tried = len(line.moved), len(line.unseated), notation.number(line.tried)
    where = ", ".join(map(words.variation, line.moved[:MOST_VARIATIONS]))
    if moved > MOST_VARIATIONS:
        n = notation.number(moved - MOST_VARIATIONS)
        where = gettext("%(listed)s and %(n)s more", listed=where, n=n)
    values = (line.tried, moved, unseated, where or None)
    if not moved:
        return stacked((gettext("stays in %(tried)s of %(tried)s", tried=tried),), values)
    said = gettext("changes in %(moved)s of %(tried)s", moved=notation.number(moved), tried=tried)
    first = [gettext("another run first in %(n)s", n=notation.number(unseated))] if unseated else []
    return stacked((said, where, *first), values, between="; ")


def _answer(query: ComparedQuery | None, names: Sequence[str]) -> Cell:
    said = breakdowns.state(query)
    if query is None:
        return Cell(said, (said, *[None] * len(names)))
    found = query.summary
    values = [found.figures[name].value for name in names]
    text = said
    if found.state is QueryState.RESULTS and (found.complete or any(values[:2])):
        text = " / ".join(in_words(found.figures[name]).text for name in names[:2])
        text += "" if found.complete else f" ({said})"
    return Cell(text, (said, *values))


def document(
    report: ComparisonReport,
    on: date,
    *,
    figures: Sequence[str] = (),
    pairs: Sequence[Sequence[str]] | None = None,
    moved_first: bool = False,
) -> Document:
    """Return `report` as a document dated `on`, in the language in force.

    `figures` are given by category (the leading ones if none are named), the questions of `pairs`
    of runs drawn (of the first few pairs if none are named); `moved_first` lists questions by how
    far the runs lie apart.
    """
    comparison = report.comparison
    notes = (words.provenance(report),)
    missing = [*words.unasked(comparison)]
    missing += [said for contender in comparison.contenders for said in words.lacks(contender)]
    if pairs is None:
        runs = [contender.run.run for contender in comparison.contenders]
        pairs = list(combinations(runs, 2))[:MOST_PAIRS]
    sections = (
        Section(
            "summary",
            gettext("Summary"),
            (),
            (summary(report),),
            (pictures.draw_intervals(report),),
        ),
        Section(
            "categories",
            gettext("By category"),
            (),
            tuple(by_category(report, name) for name in figures or leading(comparison.headline)),
        ),
        Section(
            "differences",
            gettext("Differences"),
            tuple(words.conclusion(comparison, one) for one in words.of(comparison)),
            (
                difference_table("differences", comparison, notes),
                signed_rank_table("signed_rank", comparison, notes),
            ),
        ),
        Section(
            "stability",
            gettext("Stability"),
            (words.stability(report.stability),),
            (stability(report),),
        ),
        *(part.section(part.value) for part in report.parts.values()),
        Section(
            "questions",
            gettext("By question"),
            (),
            (questions(report, moved_first=moved_first),),
            tuple(pictures.draw_questions(report, pair=pair) for pair in pairs),
        ),
        Section(
            "configuration",
            gettext("Configuration"),
            (*words.unsaid(report), *missing),
            (configuration(report), contenders(report)),
        ),
        Section("notes", gettext("Notes"), tuple(words.notes(report)), ()),
    )
    return Document(
        title=gettext(words.TITLES[report.phase]),
        subtitle=words.subtitle(report, on),
        sections=sections,
        answer=tuple(filter(None, answers.answer(comparison, report.state))),
        state=labels.state(report.state) if report.state else "",
        figure=(
            pictures.file_name(report, "intervals", "", on).removesuffix("."),
            pictures.standalone(report, "intervals"),
        ),
    )
