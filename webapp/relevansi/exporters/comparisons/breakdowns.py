"""A comparison by question, by category and counted in other ways, as its page draws it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from markupsafe import Markup

from relevansi import labels, notation
from relevansi.exporters.comparisons import words
from relevansi.exporters.comparisons.answers import (
    Method,
    methods,
    short_name,
)
from relevansi.exporters.comparisons.figure_names import unit_of
from relevansi.exporters.frame import charts
from relevansi.exporters.frame.charts import Figure
from relevansi.i18n import gettext, mark, ngettext
from relevansi.metrics.comparisons.comparisons import (
    ComparedQuestionLine,
    Comparison,
    ComparisonReport,
)
from relevansi.metrics.comparisons.differences import ComparedQuery, highest_value, value_of
from relevansi.metrics.comparisons.stability import Stability, StabilityLine, VariedPart
from relevansi.metrics.gold.constraints import ConstraintComparison
from relevansi.metrics.judging.figures import HEADLINES
from relevansi.records import EmptyOutcome, QueryState

MOST_CHANGES = 6
"""So many ways of counting that move an order are named; further ones are counted."""

FILTERS = {
    "gap": mark("Largest gap"),
    "loses": mark("%(name)s loses"),
    "fail": mark("All fail"),
    "set": mark("Question order"),
}


class QuestionCell(NamedTuple):
    """One method's value for a question: how it is filled (``kind``), its text, and in words."""

    kind: str
    text: str
    words: str


class QuestionRow(NamedTuple):
    """One question in every method: plotted values, cells, and how far they lie apart."""

    line: ComparedQuestionLine
    figures: tuple[Figure, ...]
    cells: tuple[QuestionCell, ...]
    distance: float | None


def leading_run(comparison: Comparison) -> str:
    """Return the run that tests put ahead most often, else the highest by the first figure."""
    wins = [test.in_order[0].run for test in comparison.tests if test.significant]
    if wins:
        return max(wins, key=wins.count)
    lead = comparison.lead
    order = comparison.order(lead) if lead in comparison.contenders[0].estimates else ()
    return order[0][0] if order else comparison.contenders[0].run.run


def question_rows(
    report: ComparisonReport, figure: str, lines: Iterable[ComparedQuestionLine]
) -> list[QuestionRow]:
    """Return the questions of `lines` in `figure`, as a matrix shows them."""
    compared = methods(report).values()
    rows = []
    for line in lines:
        values = _values(line, figure)
        answers = [*zip(line.answers, values, compared, strict=True)]
        figures = tuple(Figure(value, mark=method.mark) for _, value, method in answers)
        cells = tuple(cell(query, value, figure) for query, value, _ in answers)
        rows.append(QuestionRow(line, figures, cells, _distance(values)))
    return rows


def filtered_questions(
    comparison: Comparison, figure: str
) -> dict[str, list[ComparedQuestionLine]]:
    """Return the questions that each filter leaves, in its order: the farthest apart come first."""
    runs = [contender.run.run for contender in comparison.contenders]
    leader = runs.index(leading_run(comparison))
    values = {line.position: _values(line, figure) for line in comparison.questions}

    def distance(line: ComparedQuestionLine) -> float:
        return _distance(values[line.position]) or 0

    def loses(line: ComparedQuestionLine) -> bool:
        value = values[line.position][leader]
        return value is not None and max(_defined(values[line.position])) - value > charts.SAME

    def fails(line: ComparedQuestionLine) -> bool:
        defined = _defined(values[line.position])
        return bool(defined) and not any(defined)

    by_distance = sorted(comparison.questions, key=distance, reverse=True)
    return {
        "gap": by_distance,
        "loses": [line for line in by_distance if loses(line)],
        "fail": [line for line in by_distance if fails(line)],
        "set": [*comparison.questions],
    }


def _values(line: ComparedQuestionLine, figure: str) -> list[float | None]:
    return [_value(query, figure) for query in line.answers]


def _defined(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _distance(values: Iterable[float | None]) -> float | None:
    """Return how far the values of two methods or more lie apart."""
    defined = _defined(values)
    return max(defined) - min(defined) if len(defined) > 1 else None


def _value(query: ComparedQuery | None, figure: str) -> float | None:
    """Return the value of a question, a false negative at 0; ``None`` while it can still move."""
    if query is None or figure not in query.summary.figures:
        return None
    span = query.summary.figures[figure]
    if span.lower is not None and span.upper is not None and span.upper - span.lower > charts.SAME:
        return None
    return value_of(query, figure, false_negatives_at_zero=figure in HEADLINES)


def cell(query: ComparedQuery | None, value: float | None, figure: str) -> QuestionCell:
    """Return how a matrix shows a question's value in one method: a shade, or a sign for none."""
    in_words = state(query)
    if query is None:
        return QuestionCell("none", "", in_words)
    summary = query.summary
    if summary.state is QueryState.FAILED:
        return QuestionCell("fail", "×", in_words)
    if summary.state is QueryState.EMPTY and summary.empty_outcome is not None:
        is_correct = summary.empty_outcome is EmptyOutcome.CORRECT_EMPTY
        return QuestionCell("ce" if is_correct else "fn", "∅", in_words)
    unit = unit_of(figure)
    if value is not None:
        step = charts.heat(value / highest_value(figure))
        return QuestionCell(f"h{step}", notation.figure(value, unit), in_words)
    if summary.state is QueryState.UNREADABLE or figure not in summary.figures:
        return QuestionCell("none", notation.UNDEFINED, in_words)
    text = charts.in_words(summary.figures[figure], unit).text
    return QuestionCell("open", text, in_words)


def state(query: ComparedQuery | None) -> str:
    """Return in words the answer to a question and how far it is judged."""
    if query is None:
        return gettext("not run")
    summary = query.summary
    if summary.state is QueryState.RESULTS:
        if not summary.complete:
            # Results that could not be read are counted as judged, and nobody can judge them.
            n_judged = summary.judged_count - query.n_holes
            n_readable = summary.results_count - query.n_holes
            return gettext("%(done)s of %(of)s judged", done=n_judged, of=n_readable)
        return ngettext("%(n)s result", "%(n)s results", summary.results_count)
    if summary.state is not QueryState.EMPTY:
        failed = summary.state is QueryState.FAILED
        return gettext("call failed") if failed else gettext("unreadable")
    if summary.empty_outcome is None:
        return gettext("empty, not judged")
    is_correct = summary.empty_outcome is EmptyOutcome.CORRECT_EMPTY
    return gettext("correct empty") if is_correct else gettext("false negative")


class CategoryRow(NamedTuple):
    """A method in one category: its mean as drawn, its single questions, whether it is highest."""

    method: Method
    figure: Figure
    points: tuple[float, ...]
    is_highest: bool


def category_multiples(
    report: ComparisonReport, figure: str
) -> list[tuple[str, int, list[CategoryRow]]]:
    """Return every category in `figure`, the one whose means lie farthest apart first.

    Each has its name, its number of questions, and a row for each method.
    """
    comparison, by_run = report.comparison, methods(report)
    multiples = []
    for category in comparison.categories:
        means = {
            contender.run.run: contender.categories[category][figure]
            for contender in comparison.contenders
            if category in contender.categories
        }
        values = {run: mean.settled for run, mean in means.items() if mean.settled is not None}
        highest = max(values.values(), default=0)
        rows = []
        for contender in comparison.contenders:
            run = contender.run.run
            if run not in means:
                continue
            listed = [query for query in contender.run.queries if query.category == category]
            spans = [query.summary.figures.get(figure) for query in listed]
            points = tuple(span.final for span in spans if span and span.final is not None)
            is_judged = any(query.summary.judged_count for query in listed)
            of_run = charts.drawn(means[run], mark=by_run[run].mark, is_judged=is_judged)
            rows.append(CategoryRow(by_run[run], of_run, points, values.get(run) == highest > 0))
        n = sum(line.category == category for line in comparison.questions)
        distance = highest - min(values.values(), default=0)
        multiples.append((distance, (labels.category(category), n, rows)))
    multiples.sort(key=itemgetter(0), reverse=True)
    return [multiple for _, multiple in multiples]


class StabilityCell(NamedTuple):
    """How many other ways of counting were tried, how many move an order, and which these are."""

    tried: int
    moved: int
    changes: str


StabilityRow = tuple[str, list[StabilityCell | None]]
"""A kind of change, and for each figure whether the order by it survives."""


def stability_rows(report: ComparisonReport) -> tuple[list[str], list[StabilityRow]]:
    """Return the names of the figures, and each kind of change with a cell for each figure."""
    stability = report.stability
    rows = [
        (gettext(words.CHANGES[change]), [*map(_stability_cell, lines)])
        for change, lines in lines_by_change(stability)
    ]
    return [short_name(figure, report.comparison.scale) for figure in stability.orders], rows


def _stability_cell(line: StabilityLine | None) -> StabilityCell | None:
    if line is None:
        return None
    changes = notation.listed(map(words.variation, line.moved), MOST_CHANGES)
    return StabilityCell(line.tried, len(line.moved), changes)


def lines_by_change(
    stability: Stability,
) -> list[tuple[VariedPart, list[StabilityLine | None]]]:
    """Return each kind of change with its line for each figure, ``None`` where it touches none."""
    lines = {(line.change, line.figure): line for line in stability.lines}
    return [
        (change, [lines.get((change, figure)) for figure in stability.orders])
        for change in dict.fromkeys(line.change for line in stability.lines)
    ]


def constraints_met(
    report: ComparisonReport, checked: ConstraintComparison
) -> dict[str, list[Figure]]:
    """Return the share of each kind of constraint that each run's cards meet, as drawn."""
    by_run = methods(report)
    shares: dict[str, list[Figure]] = {}
    for contender in checked.contenders:
        mark = by_run[contender.run].mark
        for name, figure in contender.report.totals.pca.items():
            value = None if figure.value is None else float(figure.value)
            shares.setdefault(name, []).append(Figure(value, figure.n, mark=mark))
    return shares


RankedItem = tuple[int, bool, Mapping[int, int]]
"""An item of a list: its rank, whether it is relevant, its ranks in other lists by column."""

RANK_HEIGHT = 22


def rank_picture(columns: Sequence[Sequence[RankedItem]], cutoff: int = 5) -> Markup:
    """Draw every list as a column of numbered discs, with lines that join the same item.

    A line is dotted where a list between lacks the item, and in colour where it is relevant.
    """
    places = [f"{100 * (place + 0.5) / len(columns):.2f}%" for place in range(len(columns))]
    height = RANK_HEIGHT * max((rank for column in columns for rank, *_ in column), default=1)
    edge = RANK_HEIGHT * cutoff
    lines = [f'<line class="cutoff" x1="0" x2="100%" y1="{edge}" y2="{edge}"/>']
    discs = []
    for place, column in enumerate(columns):
        for rank, is_relevant, elsewhere in column:
            kind = "y" if is_relevant else "n"
            y = RANK_HEIGHT * (rank - 0.5)
            discs.append(
                f'<circle class="disc {kind}" cx="{places[place]}" cy="{y:g}" r="9"/>'
                f'<text class="{kind}" x="{places[place]}" y="{y + 4.5:g}" text-anchor="middle">'
                f"{rank}</text>"
            )
            following = min((later for later in elsewhere if later > place), default=None)
            if following is not None:
                end = RANK_HEIGHT * (elsewhere[following] - 0.5)
                kind += " skips" if following > place + 1 else ""
                lines.append(
                    f'<line class="joins {kind}" x1="{places[place]}" x2="{places[following]}" '
                    f'y1="{y:g}" y2="{end:g}"/>'
                )
    drawn = "".join(lines + discs)
    return Markup(  # noqa: S704 - numbers of our own
        f'<svg class="plot ranks" height="{height}" aria-hidden="true">{drawn}</svg>'
    )
