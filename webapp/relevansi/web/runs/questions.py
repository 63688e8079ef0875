"""The questions of a run: the rows of their table, their columns over the first figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from relevansi import labels, notation
from relevansi.exporters.frame import charts
from relevansi.exporters.frame.charts import Column
from relevansi.i18n import gettext
from relevansi.metrics.comparisons.gate import depth_of
from relevansi.metrics.judging.figures import QueryRow, RunReport
from relevansi.metrics.judging.queries import QUALITY, QuerySummary
from relevansi.records import EmptyOutcome, QueryState
from relevansi.services.runs.runs import RunPage
from relevansi.web.runs.run_figures import FigureColumn

LOW = 0.5
CUTOFF = 5
MOST_SQUARES = 12
ORDERS = ("asc", "desc")
OF_QUERY = {"mean_precision_at_5": "P@5", "mrr": "RR"}
"""What the figure of one question is called, where its mean is called otherwise."""


class QuestionLine(Struct, frozen=True):
    """One row of the table; ``row`` is ``None`` of a question that the run was not asked.

    ``verdicts`` are those of its list in rank order, ``more`` how many follow.
    """

    number: int
    position: int
    question: str
    row: QueryRow | None = None
    is_asked: bool = False
    is_open: bool = False
    values: tuple[float | None, ...] = ()
    verdicts: tuple[str | None, ...] = ()
    more: int = 0

    @property
    def is_empty(self) -> bool:
        return self.row is not None and self.row.summary.state is not QueryState.RESULTS


def table(
    page: RunPage,
    report: RunReport,
    columns: Sequence[FigureColumn],
    sort: str,
    order: str,
    kind: str,
) -> dict[str, Any]:
    """Return the rows that `kind` ("low", "empty" or all) keeps, sorted by a column.

    What has no value comes last.
    """
    names = [column.name for column in columns]
    lines = list(_lines(page, report, names))
    kinds = {
        "": lines,
        "low": [line for line in lines if (value := _first(line)) is not None and value < LOW],
        "empty": [line for line in lines if line.is_empty],
    }
    keys = {
        "query_id": lambda line: line.number,
        "question": lambda line: line.question.casefold(),
        "category": lambda line: labels.category(line.row.category).casefold() if line.row else "",
        "relevant": lambda line: line.row.summary.relevant_count if line.row else None,
        **{name: _value_at(place) for place, name in enumerate(names)},
    }
    rows = kinds.get(kind, lines)
    falling = order == "desc"
    if key := keys.get(sort):
        with_value = [line for line in rows if key(line) not in (None, "")]
        without = [line for line in rows if key(line) in (None, "")]
        rows = [*sorted(with_value, key=key, reverse=falling), *without]
    headings = {
        "query_id": gettext("No."),
        "question": gettext("Question"),
        "category": gettext("Category"),
        "relevant": gettext("Cards by rank"),
        **{column.name: OF_QUERY.get(column.name, column.label) for column in columns},
    }
    columns_shown = []
    for name, heading in headings.items():
        is_sorted = name == sort
        direction = ("descending" if falling else "ascending") if is_sorted else ""
        columns_shown.append((name, heading, direction, ORDERS[is_sorted and not falling]))
    return {
        "headings": columns_shown,
        "lines": rows,
        "kind": kind if kind in kinds else "",
        "counts": {name: len(of_kind) for name, of_kind in kinds.items()},
        "sorted": {"sort": sort, "order": ORDERS[falling]} if sort in keys else {},
        "cutoff": depth_of(names[0]) or CUTOFF,
        "low": notation.axis_number(LOW),
    }


def bars(report: RunReport, column: FigureColumn) -> list[Column]:
    """Return a column for each question in their order; many are sorted by their value."""
    listed = [_column(row, row.summary.figures[column.name].final) for row in report.rows]
    if len(listed) > charts.MOST_NUMBERED:
        listed.sort(key=lambda column: (column.value is None, -(column.value or 0)))
    return listed


def qualities(report: RunReport) -> list[int]:
    """Return how often each grade from 0 to 5 was given to an answer; medians are rounded up."""
    counts = [0] * 6
    for row in report.rows:
        if row.summary.quality is not None:
            counts[int(row.summary.quality + 0.5)] += 1
    return counts if any(counts) else []


def _column(row: QueryRow, value: float | None) -> Column:
    summary = row.summary
    if value is not None:
        return Column(row.query_id, value)
    kinds = {
        QueryState.FAILED: "failed",
        QueryState.UNREADABLE: "none",
        QueryState.RESULTS: "none" if summary.complete else "open",
    }
    of_outcome = {EmptyOutcome.FALSE_NEGATIVE: "missed", EmptyOutcome.CORRECT_EMPTY: "empty"}
    outcome = of_outcome[summary.empty_outcome] if summary.empty_outcome else "open"
    return Column(row.query_id, None, kinds.get(summary.state) or outcome)


def _lines(page: RunPage, report: RunReport, names: Sequence[str]) -> Iterator[QuestionLine]:
    for row in report.rows:
        query = page.queries[row.query_id]
        values = tuple(_value(row.summary, name) for name in names) if query.is_asked else ()
        yield QuestionLine(
            *(row.query_id, query.position, row.question, row, query.is_asked, query.is_open),
            values=values,
            verdicts=row.verdicts[:MOST_SQUARES],
            more=max(0, len(row.verdicts) - MOST_SQUARES),
        )
    for position, text in page.missing_questions:
        yield QuestionLine(position, position, text)


def _value(summary: QuerySummary, name: str) -> float | None:
    if summary.state is QueryState.UNREADABLE:
        return None
    if name == QUALITY:
        return summary.quality
    # 0 for a list that should not be empty, as in the rated CSV.
    return summary.figures["mrr_answerable" if name == "mrr" else name].final


def _first(line: QuestionLine) -> float | None:
    return line.values[0] if line.values else None


def _value_at(place: int) -> Any:
    return lambda line: line.values[place] if line.values else None
