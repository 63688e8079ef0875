"""The questions of a run as a table: what the rated CSV holds, sortable by every column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from webapp import labels
from webapp.i18n import gettext, mark
from webapp.metrics.judging.figures import QueryRow, RunReport
from webapp.metrics.judging.queries import QuerySummary
from webapp.notation import UNDEFINED
from webapp.records import QueryState
from webapp.services.runs.runs import QueryLine, RunPage
from webapp.web.frame import formatting

COLUMNS: Mapping[str, str] = {
    "query_id": mark("No."),
    "question": mark("Question"),
    "category": mark("Category"),
    "results_count": mark("Results"),
    "relevant_count": mark("Relevant"),
    "first_relevant_rank": mark("First relevant rank"),
    "overall_precision": mark("Overall precision"),
    "precision_at_5": "P@5",
    "mrr": "RR",
    "success": mark("Success"),
    "response_quality": mark("Quality"),
    "notes": mark("Notes"),
}
"""The columns by the names that they have in the rated CSV, and in the address of a sorted page."""

IN_WORDS = ("question", "category", "notes")
IN_NUMBERS = tuple(COLUMNS)[3:-1]
"""The columns between category and notes."""

FIGURES = ("overall_precision", "precision_at_5", "mrr")
ORDERS = ("asc", "desc")
SHORT_NOTE = 40
"""Longer notes are folded."""

Value = str | float | None


class SortableColumn(Struct, frozen=True):
    """One column: its name in addresses, its heading, and the order that its link leads to.

    ``in_words`` says that its cells are text; ``sorted`` is how the table is sorted by it, as
    ``aria-sort`` has it; empty if it is not.
    """

    name: str
    heading: str
    in_words: bool
    sorted: str
    next_order: str


class RunQuestion(Struct, frozen=True):
    """One question of a run under a rule.

    ``figures`` are the cells of the columns between category and notes: blank where the rating
    is open, "-" where there is no such value. ``query_id`` is ``None`` where the question was
    not run; ``label`` is the category as files have it. ``is_open`` says that it misses
    something of the reader's own, ``is_asked`` is false where a sample left it out, ``values``
    are what the row is sorted by, under the name of each column.
    """

    position: int
    query_id: int | None
    question: str
    category: str
    label: str
    figures: tuple[str, ...]
    notes: str
    summary: QuerySummary | None
    is_open: bool
    is_asked: bool
    values: Mapping[str, Value]

    @property
    def short_notes(self) -> str:
        """The beginning of notes that are too long for their column; else empty."""
        if len(self.notes) <= SHORT_NOTE:
            return ""
        return f"{self.notes[:SHORT_NOTE].rstrip()}…"


class RunQuestions(Struct, frozen=True):
    """The table: its columns, its rows in the order asked for, and that order as an address."""

    columns: tuple[SortableColumn, ...]
    rows: tuple[RunQuestion, ...]
    order: dict[str, str]

    @property
    def n_open(self) -> int:
        """How many questions miss something of the reader's own."""
        return sum(row.is_open for row in self.rows)


def table(page: RunPage, report: RunReport, sort: str, order: str) -> RunQuestions:
    """Return the questions of `report`, sorted by a column; by none, in the order of the run.

    What has no value comes last, whichever way the rest is sorted; equal ones keep their order.
    """
    asked = {line.query_id: line for line in page.queries}
    rows = [_question(row, asked[row.query_id]) for row in report.rows]
    rows += [_not_run(position, text) for position, text in page.missing_questions]
    is_sorted, falling = sort in COLUMNS, order == "desc"
    if is_sorted:
        known = [row for row in rows if row.values[sort] not in (None, "")]
        unknown = [row for row in rows if row.values[sort] in (None, "")]
        rows = sorted(known, key=lambda row: row.values[sort], reverse=falling) + unknown  # type: ignore[arg-type,return-value]
    return RunQuestions(
        columns=tuple(_columns(sort, falling=falling)),
        rows=tuple(rows),
        order={"sort": sort, "order": ORDERS[falling]} if is_sorted else {},
    )


def _columns(sort: str, *, falling: bool) -> Iterator[SortableColumn]:
    for name, heading in COLUMNS.items():
        here = name == sort
        said = ("descending" if falling else "ascending") if here else ""
        next_order = ORDERS[here and not falling]
        yield SortableColumn(name, gettext(heading), name in IN_WORDS, said, next_order)


def _question(row: QueryRow, line: QueryLine) -> RunQuestion:
    values = _values(row)
    return RunQuestion(
        position=line.position,
        query_id=row.query_id,
        question=row.question,
        category=labels.category(row.category),
        label=row.category,
        figures=tuple(_cell(row.summary, name, values[name]) for name in IN_NUMBERS)
        if line.is_asked
        else (UNDEFINED,) * len(IN_NUMBERS),
        notes=row.notes,
        summary=row.summary,
        is_open=line.is_open,
        is_asked=line.is_asked,
        values=values,
    )


def _not_run(position: int, text: str) -> RunQuestion:
    return RunQuestion(
        position=position,
        query_id=None,
        question=text,
        category="",
        label="",
        figures=(UNDEFINED,) * len(IN_NUMBERS),
        notes="",
        summary=None,
        is_open=False,
        is_asked=True,
        values={**dict.fromkeys(COLUMNS), "query_id": position, "question": text.casefold()},
    )


def _values(row: QueryRow) -> dict[str, Value]:
    summary = row.summary
    unreadable = summary.state is QueryState.UNREADABLE
    return {
        "query_id": row.query_id,
        "question": row.question.casefold(),
        "category": labels.category(row.category).casefold(),
        "results_count": None if unreadable else summary.results_count,
        "relevant_count": summary.relevant_count if summary.complete else None,
        "first_relevant_rank": summary.first_relevant_rank if summary.complete else None,
        "overall_precision": summary.overall_precision.value,
        "precision_at_5": summary.precision_at_5.value,
        "mrr": summary.answerable_reciprocal_rank.value,
        "success": summary.success.value,
        "response_quality": None if unreadable else summary.quality,
        "notes": row.notes.casefold(),
    }


def _cell(summary: QuerySummary, name: str, value: Value) -> str:
    if value is None:
        is_open = name == "response_quality" or not summary.complete
        return "" if is_open and summary.state is not QueryState.UNREADABLE else UNDEFINED
    assert not isinstance(value, str)
    return formatting.figure(value) if name in FIGURES else formatting.number(value)
