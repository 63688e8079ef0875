"""Lists known by their counts only, as a rated CSV has them: where their relevant results can be.

A figure has a value where all lists with these counts agree, else its bounds are the lowest and
the highest that one of them has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from relevansi.metrics.judging.queries import TOP, QueryJudgments, QuerySummary, Span, summarise
from relevansi.records import CannotTell, QueryState, Relevance


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
    counts: ListCounts, ways: Sequence[Placing], quality: float | None, *, cannot_tell: CannotTell
) -> QuerySummary:
    """The summary of a list with `counts`, whose relevant results lie in one of these `ways`.

    `cannot_tell` says what such a result is in the figures.
    """
    n_unsure = len(counts.unsure_ranks)
    n_not_relevant = counts.results - n_unsure - counts.relevant
    in_any_order = (
        *(Relevance.RELEVANT,) * counts.relevant,
        *(Relevance.NOT_RELEVANT,) * n_not_relevant,
        *(Relevance.UNSURE,) * n_unsure,
    )
    judgments = QueryJudgments(QueryState.RESULTS, in_any_order, quality=quality)
    left_out = counts.unsure_ranks if cannot_tell == "left_out" else ()
    counted_in_top = min(counts.results, TOP) - sum(rank <= TOP for rank in left_out)
    firsts = {way.first for way in ways}
    rank = _span(1 / first if first else 0.0 for first in firsts)
    top = _span(way.top / counted_in_top if counted_in_top else None for way in ways)
    summary = summarise(judgments, cannot_tell=cannot_tell)
    return summary.with_figures(
        {"mean_precision_at_5": top, "mrr": rank, "mrr_answerable": rank}
    )._replace(first_relevant_rank=firsts.pop() if len(firsts) == 1 else None)


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
    """The one value that there is, else none with the lowest and the highest as its bounds."""
    present = [value for value in values if value is not None]
    if not present:
        return Span.settled(None)
    lowest, highest = min(present), max(present)
    return Span.settled(lowest) if lowest == highest else Span(None, lowest, highest)
