"""A run made ready to be compared: its questions by their place in the set, each summarised."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from webapp.metrics.judging.figures import MEANS
from webapp.metrics.judging.queries import QuerySummary
from webapp.records import EmptyOutcome, QueryState, Relevance


class ComparedQuery(Struct, frozen=True):
    """One question of the set as one run answered it, judged under one rule.

    ``position`` is the question's in the set (from 1) and pairs the runs; ``query_id`` is
    the run's own number for it. ``verdicts`` are those of its results in rank order, as the
    study counts them (``ranking.counted``).
    """

    position: int
    query_id: int
    question: str
    category: str
    summary: QuerySummary
    verdicts: tuple[Relevance | None, ...] = ()


class ComparedRun(Struct, frozen=True):
    """A run to compare: its id, a name that no other of the comparison has, its questions."""

    run: str
    name: str
    search_method: str | None
    llm: str | None
    queries: tuple[ComparedQuery, ...]


def counted(query: ComparedQuery, headline: str) -> float | None:
    """The number of a question that a headline figure averages, ``None`` where it has none.

    Coverage averages 1 for a question with results and 0 for one without.
    """
    if headline in MEANS:
        return query.summary.span(MEANS[headline]).value
    if headline == "coverage" and query.summary.state is not QueryState.UNREADABLE:
        return float(query.summary.state is QueryState.RESULTS)
    return None


def ranked(values: Mapping[str, float | None]) -> tuple[tuple[str, ...], ...]:
    """The keys from the largest value to the smallest, equal ones together in given order.

    Values that differ in the 10th decimal only are equal; ``None`` has no place.

    >>> ranked({"a": 0.5, "b": 0.75, "c": None, "d": 0.5})
    (('b',), ('a', 'd'))
    """
    places: dict[float, list[str]] = {}
    for key, value in values.items():
        if value is not None:
            places.setdefault(round(value, 9), []).append(key)
    return tuple(tuple(places[value]) for value in sorted(places, reverse=True))


def value_of(query: ComparedQuery, figure: str, *, false_negatives_at_zero: bool) -> float | None:
    """The value of a headline figure for one question; ``None`` where it has none yet."""
    summary = query.summary
    false_negative = summary.empty_outcome is EmptyOutcome.FALSE_NEGATIVE
    if false_negatives_at_zero and false_negative:
        return 0.0
    return summary.span(MEANS[figure]).value
