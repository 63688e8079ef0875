"""Figures of a ranked list of which only counts are known, as in a rated CSV.

Many lists of verdicts have the same counts. A figure has a value where all of them agree on
it; where they do not, its bounds are the lowest and the highest that one of them has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct

from webapp.metrics.judging.queries import QuerySummary, Span
from webapp.records import CannotTell, QueryState

TOP = 5
"""The cutoff of precision@5."""


class ListCounts(Struct, frozen=True):
    """The counts of a list that is judged to the end: how many results, how many relevant.

    ``unsure_ranks`` are the ranks marked "cannot tell". ``relevant_in_top`` counts the
    relevant results among the first five; it and ``first_relevant_rank`` are ``None`` where
    they are not known.
    """

    results: int
    relevant: int
    unsure_ranks: frozenset[int] = frozenset()
    first_relevant_rank: int | None = None
    relevant_in_top: int | None = None


class Placing(NamedTuple):
    """A way to place the relevant results: the first one's rank, how many are in the top five."""

    first: int | None
    top: int


def placings(counts: ListCounts) -> tuple[Placing, ...]:
    """Every placing that a list with `counts` can have; none when no list has them.

    >>> placings(ListCounts(results=3, relevant=2))
    (Placing(first=1, top=2), Placing(first=2, top=2))
    """
    return tuple(
        placing
        for placing in _all_placings(counts)
        if counts.first_relevant_rank in {None, placing.first}
        and counts.relevant_in_top in {None, placing.top}
    )


def summarise_counts(
    counts: ListCounts,
    possible: Iterable[Placing],
    quality: float | None,
    *,
    cannot_tell: CannotTell,
) -> QuerySummary:
    """The summary of a list with `counts`, placed in one of the `possible` ways.

    `cannot_tell` says what such a result is in the figures.

    Raises ``ValueError`` without any such way.
    """
    ways = tuple(possible)
    if not ways:
        raise ValueError("no list has these counts")
    left_out = counts.unsure_ranks if cannot_tell == "left_out" else frozenset()
    counted = counts.results - len(left_out)
    counted_in_top = min(counts.results, TOP) - sum(rank <= TOP for rank in left_out)
    firsts = {way.first for way in ways}
    rank = _span(1 / way.first if way.first else 0.0 for way in ways)
    return QuerySummary(
        state=QueryState.RESULTS,
        results_count=counts.results,
        judged_count=counts.results,
        relevant_count=counts.relevant,
        not_relevant_count=counts.results - len(counts.unsure_ranks) - counts.relevant,
        unsure_count=len(counts.unsure_ranks),
        first_relevant_rank=firsts.pop() if len(firsts) == 1 else None,
        complete=True,
        empty_outcome=None,
        quality=quality,
        precision_at_5=_span(_share(way.top, counted_in_top) for way in ways),
        overall_precision=Span.settled(_share(counts.relevant, counted)),
        reciprocal_rank=rank,
        answerable_reciprocal_rank=rank,
        success=Span.settled(1.0 if counts.relevant else None if left_out else 0.0),
        response_quality=Span.rated(quality),
    )


def _all_placings(counts: ListCounts) -> Iterator[Placing]:
    """Every placing of the relevant results on the ranks that are not "cannot tell"."""
    free = [rank for rank in range(1, counts.results + 1) if rank not in counts.unsure_ranks]
    early = [rank for rank in free if rank <= TOP]
    late = free[len(early) :]
    if not counts.relevant:
        yield Placing(None, 0)
        return
    for top in range(1, min(len(early), counts.relevant) + 1):
        if counts.relevant - top <= len(late):
            yield from (Placing(first, top) for first in early[: len(early) - top + 1])
    if counts.relevant <= len(late):
        yield from (Placing(first, 0) for first in late[: len(late) - counts.relevant + 1])


def _span(values: Iterable[float | None]) -> Span:
    """The span of a figure that has one of `values`; either all or none of them are ``None``."""
    found = {value for value in values if value is not None}
    if len(found) < 2:
        return Span.settled(next(iter(found), None))
    return Span(None, min(found), max(found))


def _share(relevant: int, counted: int) -> float | None:
    return relevant / counted if counted else None
