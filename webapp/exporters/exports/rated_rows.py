"""The rows of the rated CSV as values, for every file that has its twelve columns.

``importers.runs.csv_ratings`` reads them again; a property test holds the two together.
"""

from __future__ import annotations

import re

from webapp.exporters.frame.csv_cells import Cell
from webapp.metrics.judging.figures import QueryRow, RunReport
from webapp.metrics.judging.queries import QuerySummary
from webapp.records import CannotTell, EmptyOutcome, QueryState, Relevance

RATED_COLUMNS = (
    "query_id",
    "question",
    "category",
    "results_count",
    "relevant_count",
    "first_relevant_rank",
    "overall_precision",
    "precision_at_5",
    "mrr",
    "success",
    "response_quality",
    "notes",
)
"""The columns of the original evaluation page's CSV, in its order."""

_FIGURES = slice(RATED_COLUMNS.index("relevant_count"), RATED_COLUMNS.index("response_quality"))
_NO_FIGURES: tuple[Cell, ...] = (None,) * len(RATED_COLUMNS[_FIGURES])

_STATE_WORDS = {
    QueryState.FAILED: "call failed",
    QueryState.UNREADABLE: "unreadable answer",
}
OUTCOME_WORDS = {
    EmptyOutcome.CORRECT_EMPTY: "no data exists",
    EmptyOutcome.FALSE_NEGATIVE: "should have results",
}
"""The notes of an empty list where the rater wrote none."""
_OWN_WORDS = "own words: "
_TAKEN_FOR_OURS = re.compile(
    rf"(?:{_OWN_WORDS})*(?:call failed|unreadable answer|cannot tell(?: \(not relevant\))?: rank )",
    re.IGNORECASE,
)


def rated_cells(row: QueryRow, *, cannot_tell: CannotTell | None) -> tuple[Cell, ...]:
    """The cells of `row` under ``RATED_COLUMNS``, numbers unrounded, ``None`` where blank.

    An incomplete query and an unreadable answer have no figures; the number of results of
    the latter is not known. An empty list has ``mrr`` 0 even where it is undefined, as the
    original has it. The notes begin with what the columns cannot hold (``call failed``,
    ``unreadable answer``, ``cannot tell: rank 2, 5``), parted from the rater's words by
    ``; ``. Where `cannot_tell` results stay in the denominators, so that the row can be
    recomputed from its own columns, they are ``cannot tell (not relevant): rank 2, 5``.

    Raises ``ValueError`` when a query has "cannot tell" results and the row no verdicts.
    """
    summary = row.summary
    unreadable = summary.state is QueryState.UNREADABLE
    return (
        row.query_id,
        row.question,
        row.category,
        None if unreadable else summary.results_count,
        *(_figures(summary) if summary.complete else _NO_FIGURES),
        None if unreadable else summary.quality,
        _notes(row, cannot_tell),
    )


def rated_rows(report: RunReport) -> list[tuple[Cell, ...]]:
    """The cells of every query of `report` in run order, without the header."""
    return [rated_cells(row, cannot_tell=report.cannot_tell) for row in report.rows]


def _figures(summary: QuerySummary) -> tuple[Cell, ...]:
    empty = summary.state is QueryState.EMPTY
    success = summary.success.value
    return (
        summary.relevant_count,
        summary.first_relevant_rank,
        summary.overall_precision.value,
        summary.precision_at_5.value,
        0 if empty else summary.reciprocal_rank.value,
        None if success is None else int(success),
    )


def _notes(row: QueryRow, cannot_tell: CannotTell | None) -> str:
    ours = _STATE_WORDS.get(row.summary.state) or _unsure_words(row, cannot_tell)
    theirs = row.notes
    if not theirs and row.summary.empty_outcome:
        return OUTCOME_WORDS[row.summary.empty_outcome]
    if _TAKEN_FOR_OURS.match(theirs):
        theirs = f"{_OWN_WORDS}{theirs}"
    return "; ".join(part for part in (ours, theirs) if part)


def _unsure_words(row: QueryRow, cannot_tell: CannotTell | None) -> str:
    """The ranks that were marked "cannot tell" in words, empty when there are none."""
    ranks = [n for n, verdict in enumerate(row.verdicts, 1) if verdict is Relevance.UNSURE]
    if len(ranks) != row.summary.unsure_count:
        raise ValueError(f"the row of query {row.query_id} lacks its verdicts")
    how = " (not relevant)" if cannot_tell == "not_relevant" else ""
    return f"cannot tell{how}: rank {', '.join(map(str, ranks))}" if ranks else ""
