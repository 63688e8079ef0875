"""A comparison as tables and sentences: made once, printed by the page and by every report.

A cell has its text in the language in force, rounded for display, and the unrounded values
behind it, which spreadsheets keep.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from webapp import labels, notation
from webapp.exporters.comparisons import words
from webapp.i18n import gettext, ngettext
from webapp.metrics.comparisons.compared_runs import ComparedQuery
from webapp.metrics.comparisons.comparisons import (
    ComparedQuestionLine,
    Comparison,
    Contender,
    FigureEstimate,
)
from webapp.metrics.comparisons.differences import Difference, RunDifferences
from webapp.metrics.comparisons.report import ComparisonReport
from webapp.metrics.comparisons.signed_rank import SignedRank
from webapp.metrics.comparisons.stability import FIGURES, Order, StabilityLine
from webapp.metrics.judging.figures import HEADLINES, Figure
from webapp.metrics.judging.registry import Unit
from webapp.records import EmptyOutcome, QueryState

CATEGORY_FIGURES = ("mean_precision_at_5", "mrr", "success_rate")
"""The figures that are given per category."""

MOST_VARIATIONS = 10
"""So many variations that move an order are named one by one."""

Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: what is shown, and the unrounded values in the order of its column's parts.

    ``lines`` are the parts of the text where there are several: the value, its interval, n.
    """

    text: str
    values: tuple[Value, ...]
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """One column; a column of several values per cell names each of them in ``parts``."""

    heading: str
    numeric: bool = False
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """One table: a name for programs, a title for people, cells by row, notes below it."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report: its name for programs, its heading, sentences, then tables."""

    name: str
    title: str
    sentences: tuple[str, ...]
    tables: tuple[Table, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report of a comparison, from its title to its notes."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]


def conclusions(comparison: Comparison, figures: Sequence[str] = HEADLINES) -> tuple[str, ...]:
    """Return a sentence for each of `figures` and each pair of runs.

    False negatives count as the figure itself has them.
    """
    return tuple(
        words.conclusion(comparison, difference)
        for difference in comparison.differences
        if difference.figure in figures
        and (difference.figure == "mrr_answerable" or not difference.false_negatives_at_zero)
    )


def configuration(report: ComparisonReport) -> Table:
    """Return the study, the raters and the settings of the comparison, one line each."""
    made = (
        (gettext("Study"), report.study),
        (gettext("Raters"), words.raters(report)),
        (gettext("Rule"), labels.rule(report.comparison.rule)),
        (gettext("Verdicts until"), words.until(report)),
        (gettext("Blind rating"), words.blindness(report)),
    )
    lines = (
        *([(gettext("Rated files"), ", ".join(report.files))] if report.files else made),
        (gettext("Intervals and tests"), words.settings(report.comparison.settings)),
        (gettext("Version"), f"Relevansi {report.version}"),
    )
    return Table(
        "configuration",
        gettext("How the comparison was made"),
        (Column(gettext("Setting")), Column(gettext("Value"))),
        tuple((word(label), word(value)) for label, value in lines),
        (),
    )


def contenders(report: ComparisonReport) -> Table:
    """Return the labels of each run and how far it is rated."""
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


def summary(report: ComparisonReport) -> Table:
    """Return every headline figure of every run with its interval and n."""
    comparison = report.comparison
    share = notation.percent(comparison.settings.confidence)
    parts = (gettext("Value"), gettext("Lower"), gettext("Upper"), "n")
    return Table(
        "summary",
        gettext("Figures of each run: value, %(share)s interval, n", share=share),
        (
            Column(gettext("Figure")),
            *(Column(c.run.name, numeric=True, parts=parts) for c in comparison.contenders),
        ),
        tuple(
            (
                word(words.figure_name(figure)),
                *(_estimate(c.estimates[figure], unit) for c in comparison.contenders),
            )
            for figure, unit in ((name, words.unit_of(name)) for name in HEADLINES)
        ),
        (gettext(words.COMPOSITE_NOTE), words.provenance(report)),
    )


def by_category(report: ComparisonReport, figure: str) -> Table:
    """Return one headline figure per category and run, each with its n."""
    comparison = report.comparison
    parts = (gettext("Value"), "n")
    return Table(
        f"category_{figure}",
        gettext("%(figure)s by category", figure=words.figure_name(figure)),
        (
            Column(gettext("Category")),
            *(Column(c.run.name, numeric=True, parts=parts) for c in comparison.contenders),
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


def differences(report: ComparisonReport) -> Table:
    """Return every paired difference with its interval, n, counts, test and p-values."""
    return difference_table("differences", report.comparison, (words.provenance(report),))


def signed_ranks(report: ComparisonReport) -> Table:
    """Return Wilcoxon's test of every paired difference, beside the randomisation test."""
    return signed_rank_table("signed_rank", report.comparison, (words.provenance(report),))


def difference_table(name: str, comparison: RunDifferences, notes: Sequence[str]) -> Table:
    """Return the differences of a comparison as the table `name`, with `notes` at its end."""
    share = notation.percent(comparison.settings.confidence)
    return Table(
        name,
        gettext("Differences by question, first run minus second"),
        (
            Column(gettext("Figure")),
            Column(gettext("Runs"), parts=(gettext("First"), gettext("Second"))),
            Column(
                gettext("Difference, %(share)s interval", share=share),
                numeric=True,
                parts=(gettext("Difference"), gettext("Lower"), gettext("Upper")),
            ),
            Column("n", numeric=True),
            Column(
                gettext("Wins/ties/losses"),
                numeric=True,
                parts=(gettext("Wins"), gettext("Ties"), gettext("Losses")),
            ),
            Column(gettext("Test")),
            Column("p", numeric=True),
            Column(gettext("p after Holm"), numeric=True),
            Column(gettext("Difference of the figures"), numeric=True),
        ),
        tuple(_difference(comparison, difference) for difference in comparison.differences),
        (
            *filter(None, [words.smallness(comparison)]),
            words.settings(comparison.settings),
            *notes,
        ),
    )


def signed_rank_table(name: str, comparison: RunDifferences, notes: Sequence[str]) -> Table:
    """Return Wilcoxon's test of the differences of a comparison as the table `name`."""
    return Table(
        name,
        gettext("Wilcoxon signed-rank test of the same differences"),
        (
            Column(gettext("Figure")),
            Column(gettext("Runs"), parts=(gettext("First"), gettext("Second"))),
            Column(gettext("n, zeros left out"), numeric=True, parts=("n", gettext("Zeros"))),
            Column(gettext("Rank sums W+ / W−"), numeric=True, parts=("W+", "W−")),
            Column(gettext("Test")),
            Column("p", numeric=True),
            Column(gettext("p after Holm"), numeric=True),
        ),
        tuple(
            _signed_rank(comparison, difference, difference.signed_rank)
            for difference in comparison.differences
            if difference.signed_rank is not None
        ),
        (words.signed_rank_note(), *notes),
    )


def stability(report: ComparisonReport) -> Table:
    """Return, for each kind of change and each figure, in how many variations the order moves."""
    found = report.stability
    lines = {(line.change, line.figure): line for line in found.lines}
    changes = dict.fromkeys(line.change for line in found.lines)
    parts = (gettext("Tried"), gettext("Order changes"), gettext("Another run first"), "")
    return Table(
        "stability",
        gettext("Does the order survive another way of counting?"),
        (
            Column(gettext("Change")),
            *(Column(words.figure_name(figure), parts=parts) for figure in FIGURES),
        ),
        (
            (
                word(gettext("None: the order as compared")),
                *(_order(report, found.orders[figure]) for figure in FIGURES),
            ),
            *(
                (
                    word(words.change(change)),
                    *(_moved(lines.get((change, figure))) for figure in FIGURES),
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


def questions(report: ComparisonReport) -> Table:
    """Return every question with P@5 and reciprocal rank in each run, and how far they part."""
    comparison = report.comparison
    parts = (gettext("State"), "P@5", "RR", gettext("Success"))
    return Table(
        "questions",
        gettext("Each question: P@5 / reciprocal rank"),
        (
            Column(gettext("No."), numeric=True),
            Column(gettext("Question")),
            Column(gettext("Category")),
            *(Column(c.run.name, numeric=True, parts=parts) for c in comparison.contenders),
            Column(gettext("P@5 spread"), numeric=True),
        ),
        tuple(tuple(_question(line)) for line in comparison.questions),
        (
            gettext(
                "P@5 spread: the largest minus the smallest P@5 of the runs, a false negative at 0."
            ),
            words.provenance(report),
        ),
    )


def state(query: ComparedQuery | None) -> str:
    """Return in words the answer to a question and how far it is judged."""
    if query is None:
        return gettext("not run")
    found = query.summary
    if found.state is QueryState.EMPTY:
        return _empty(found.empty_outcome)
    if found.state is QueryState.FAILED:
        return gettext("call failed")
    if found.state is QueryState.UNREADABLE:
        return gettext("unreadable")
    if not found.complete:
        return gettext("%(done)s of %(of)s judged", done=found.judged_count, of=found.results_count)
    return ngettext("%(n)s result", "%(n)s results", found.results_count)


def _empty(outcome: EmptyOutcome | None) -> str:
    if outcome is None:
        return gettext("empty, not judged")
    if outcome is EmptyOutcome.CORRECT_EMPTY:
        return gettext("correct empty")
    return gettext("false negative")


def word(text: str) -> Cell:
    """Return a cell of words."""
    return Cell(text, (text,))


def _said(text: str | None) -> Cell:
    """Words, or "-" where there are none to say."""
    return Cell(text or notation.UNDEFINED, (text,))


def _count(value: int) -> Cell:
    return Cell(notation.number(value), (value,))


def _method(label: str | None) -> Cell:
    """A search method in words, and as a workbook's value the label of the files."""
    stated = label or gettext("not stated")
    return Cell(labels.with_label(labels.method(label), label) if label else stated, (stated,))


def _contender(contender: Contender) -> Iterator[Cell]:
    run, totals = contender.run, contender.totals
    yield word(run.name)
    yield word(run.run)
    yield _method(run.search_method)
    yield word(run.llm or gettext("not stated"))
    for count in (
        totals.n_queries,
        totals.n_complete,
        totals.n_with_results,
        totals.n_empty,
        totals.n_failed,
        totals.n_unreadable,
        len(contender.missing.not_run),
    ):
        yield _count(count)


def _estimate(estimate: FigureEstimate, unit: Unit) -> Cell:
    found, interval = estimate.figure, estimate.interval
    values = (found.value, interval.lower, interval.upper, found.n)
    if interval.lower is None:
        return _lines(_with_n(found, unit), values)
    value, n = _with_n(found, unit)
    bounds = notation.interval(interval.lower, interval.upper, unit)
    return _lines((value, bounds, n), values)


def _lines(lines: tuple[str, ...], values: tuple[Value, ...], between: str = " ") -> Cell:
    return Cell(between.join(lines), values, lines)


def _with_n(found: Figure, unit: Unit) -> tuple[str, str]:
    return notation.figure(found.value, unit), f"n = {notation.number(found.n)}"


def _category(contender: Contender, category: str, figure: str) -> Cell:
    figures = contender.categories.get(category)
    if figures is None:
        return Cell(gettext("not run"), (None, None))
    found = figures[figure]
    return _lines(_with_n(found, words.unit_of(figure)), (found.value, found.n))


def _difference(comparison: RunDifferences, difference: Difference) -> tuple[Cell, ...]:
    lower, upper = difference.interval.lower, difference.interval.upper
    counts = (difference.wins, difference.ties, difference.losses)
    unit = words.difference_unit(difference)
    apart = notation.difference(difference.mean, unit)
    bounds = notation.interval(lower, upper, unit, signed=True)
    return (
        word(words.difference_name(difference)),
        _runs(comparison, difference),
        _lines((apart,) if lower is None else (apart, bounds), (difference.mean, lower, upper)),
        _count(difference.n),
        Cell("/".join(notation.number(count) for count in counts), counts),
        _said(None if difference.p is None else words.test_name(difference)),
        Cell(notation.p_value(difference.p), (difference.p,)),
        Cell(notation.p_value(difference.p_holm), (difference.p_holm,)),
        Cell(notation.difference(difference.headline, unit), (difference.headline,)),
    )


def _signed_rank(
    comparison: RunDifferences, difference: Difference, test: SignedRank
) -> tuple[Cell, ...]:
    p_holm = difference.signed_rank_p_holm
    zeros = notation.number(test.zeros)
    sums = (test.positive, test.negative)
    return (
        word(words.difference_name(difference)),
        _runs(comparison, difference),
        Cell(f"{notation.number(test.n)} ({zeros})", (test.n, test.zeros)),
        Cell(" / ".join(map(notation.number, sums)), sums),
        word(gettext("exact") if test.exact else gettext("normal approximation")),
        Cell(notation.p_value(test.p), (test.p,)),
        Cell(notation.p_value(p_holm), (p_holm,)),
    )


def _runs(comparison: RunDifferences, difference: Difference) -> Cell:
    first, second = comparison.name(difference.first), comparison.name(difference.second)
    return Cell(gettext("%(first)s minus %(second)s", first=first, second=second), (first, second))


def _order(report: ComparisonReport, order: Order) -> Cell:
    said = words.order(report.comparison, order)
    return Cell(said, (None, None, None, said))


def _moved(line: StabilityLine | None) -> Cell:
    """In how many variations the order moves, in which, and where another run leads."""
    if line is None:
        return Cell(notation.UNDEFINED, (None, None, None, None))
    moved, unseated, tried = len(line.moved), len(line.unseated), notation.number(line.tried)
    where = _where([words.variation(variation) for variation in line.moved])
    values = (line.tried, moved, unseated, where)
    if where is None:
        return _lines((gettext("stays in %(tried)s of %(tried)s", tried=tried),), values)
    said = gettext("changes in %(moved)s of %(tried)s", moved=notation.number(moved), tried=tried)
    first = [gettext("another run first in %(n)s", n=notation.number(unseated))] if unseated else []
    return _lines((said, where, *first), values, between="; ")


def _where(moved: Sequence[str]) -> str | None:
    listed = ", ".join(moved[:MOST_VARIATIONS])
    rest = len(moved) - MOST_VARIATIONS
    if rest > 0:
        return gettext("%(listed)s and %(n)s more", listed=listed, n=notation.number(rest))
    return listed or None


def _question(line: ComparedQuestionLine) -> Iterator[Cell]:
    yield _count(line.position)
    yield word(line.question)
    yield Cell(labels.category(line.category), (line.category,))
    for query in line.answers:
        yield _answer(query)
    yield Cell(notation.figure(line.spread), (line.spread,))


def _answer(query: ComparedQuery | None) -> Cell:
    said = state(query)
    if query is None:
        return Cell(said, (said, None, None, None))
    found = query.summary
    precision, rank = found.precision_at_5.value, found.answerable_reciprocal_rank.value
    listed = found.state is QueryState.RESULTS and found.complete
    text = f"{notation.figure(precision)} / {notation.figure(rank)}" if listed else said
    return Cell(text, (said, precision, rank, found.success.value))
