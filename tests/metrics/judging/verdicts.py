"""Verdict lists written the way one reads them: ✓ R, ✗ N, cannot tell U, unjudged "."."""

from __future__ import annotations

from relevansi.metrics.judging.queries import QueryJudgments, QuerySummary, summarise
from relevansi.records import CannotTell, EmptyOutcome, QueryState, Relevance

_LETTERS = {"R": Relevance.RELEVANT, "N": Relevance.NOT_RELEVANT, "U": Relevance.UNSURE, ".": None}


def verdicts(letters: str) -> tuple[Relevance | None, ...]:
    return tuple(_LETTERS[letter] for letter in letters)


CORRECT, MISSED = EmptyOutcome.CORRECT_EMPTY, EmptyOutcome.FALSE_NEGATIVE


def listed(
    letters: str, quality: float | None = None, *, cannot_tell: CannotTell = "left_out"
) -> QuerySummary:
    judgments = QueryJudgments(QueryState.RESULTS, verdicts(letters), quality=quality)
    return summarise(judgments, cannot_tell=cannot_tell)


def empty(outcome: EmptyOutcome | None = None, quality: float | None = None) -> QuerySummary:
    judgments = QueryJudgments(QueryState.EMPTY, empty_outcome=outcome, quality=quality)
    return summarise(judgments, cannot_tell="left_out")


def failed(quality: float | None = None) -> QuerySummary:
    return summarise(QueryJudgments(QueryState.FAILED, quality=quality), cannot_tell="left_out")


def unreadable() -> QuerySummary:
    return summarise(QueryJudgments(QueryState.UNREADABLE), cannot_tell="left_out")


SEED_5_2 = [
    listed("RRRRN", 4),
    listed("RRRRR", 5),
    empty(CORRECT, 0),
    empty(MISSED, 0),
    listed("NRRRN", 3),
]
