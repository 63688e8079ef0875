"""Runs to compare, written as rows of verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from relevansi.metrics.comparisons.comparisons import Comparison
from relevansi.metrics.comparisons.differences import ComparedQuery, ComparedRun, Difference
from relevansi.metrics.judging.queries import QueryJudgments, summarise
from relevansi.records import EmptyOutcome, QueryState, Relevance

EMPTY = {"c": EmptyOutcome.CORRECT_EMPTY, "f": EmptyOutcome.FALSE_NEGATIVE, "e": None}


def compared(
    name: str,
    *rows: str | None,
    qualities: Sequence[int | None] = (),
    categories: Sequence[str] = (),
) -> ComparedRun:
    """Return a run with one question per row, in order; ``None`` was not run.

    A row is verdicts ("1", "0", "?" cannot tell, "." unjudged), or "c" correct empty, "f"
    false negative, "e" unclassified, "!" failed, "~" unreadable.
    """
    grades = [*qualities, *[None] * len(rows)]
    queries = tuple(
        _query(position, row, grades[position - 1], categories[position - 1] if categories else "a")
        for position, row in enumerate(rows, start=1)
        if row is not None
    )
    return ComparedRun(name, name, name, "one", queries)


def differences_of(comparison: Comparison, figure: str) -> tuple[Difference, ...]:
    """Return the differences of one headline figure."""
    return tuple(difference for difference in comparison.differences if difference.figure == figure)


def _query(position: int, row: str, quality: int | None, category: str) -> ComparedQuery:
    judgments = _judgments(row, quality)
    return ComparedQuery(
        position=position,
        query_id=position,
        question=f"Question {position}",
        category=category,
        summary=summarise(judgments, cannot_tell="left_out"),
        verdicts=judgments.verdicts,
    )


def _judgments(row: str, quality: int | None) -> QueryJudgments:
    if row in EMPTY:
        return QueryJudgments(QueryState.EMPTY, empty_outcome=EMPTY[row], quality=quality)
    if row in "!~":
        state = QueryState.FAILED if row == "!" else QueryState.UNREADABLE
        return QueryJudgments(state, quality=quality)
    marks = {"1": Relevance.RELEVANT, "0": Relevance.NOT_RELEVANT, "?": Relevance.UNSURE, ".": None}
    return QueryJudgments(QueryState.RESULTS, tuple(marks[mark] for mark in row), quality=quality)
