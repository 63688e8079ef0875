"""Counts alone give a figure where every list with them agrees on it, else its bounds."""

from __future__ import annotations

import pytest

from webapp.metrics.judging.figures import ListCounts, Placing, placings, summarise_counts
from webapp.metrics.judging.queries import QuerySummary, Span
from webapp.records import CannotTell


def summary(counts: ListCounts, cannot_tell: CannotTell = "left_out") -> QuerySummary:
    """Return the summary over every placing that the counts can have."""
    return summarise_counts(counts, placings(counts), quality=None, cannot_tell=cannot_tell)


@pytest.mark.parametrize(
    ("counts", "found"),
    [
        (ListCounts(3, 0), [Placing(None, 0)]),
        (ListCounts(3, 3), [Placing(1, 3)]),
        (ListCounts(6, 1), [*(Placing(rank, 1) for rank in range(1, 6)), Placing(6, 0)]),
        (ListCounts(6, 1, first_relevant_rank=6), [Placing(6, 0)]),
        (ListCounts(6, 5, relevant_in_top=5), [Placing(1, 5)]),
        (ListCounts(2, 1, unsure_ranks=frozenset({1})), [Placing(2, 1)]),
        (ListCounts(2, 1, first_relevant_rank=3), []),
        (ListCounts(6, 3, relevant_in_top=1), []),  # only one rank lies below the top five
    ],
)
def test_placings_are_those_that_a_list_can_have(counts: ListCounts, found: list[Placing]) -> None:
    assert list(placings(counts)) == found


def test_of_a_long_list_the_top_five_are_between_bounds() -> None:
    found = summary(ListCounts(results=8, relevant=6, first_relevant_rank=1))

    # Three ranks lie below the top: 3 to 5 of the 6 relevant ones are in it.
    assert found.precision_at_5 == Span(None, 0.6, 1.0)
    assert found.overall_precision == Span.settled(0.75)
    assert found.reciprocal_rank == Span.settled(1.0)


def test_an_unknown_first_rank_leaves_the_reciprocal_rank_between_bounds() -> None:
    found = summary(ListCounts(results=3, relevant=1))

    assert (found.first_relevant_rank, found.reciprocal_rank) == (None, Span(None, 1 / 3, 1.0))
    assert found.precision_at_5 == Span.settled(1 / 3)


def test_cannot_tell_is_left_out_and_success_waits_for_it() -> None:
    found = summary(ListCounts(results=3, relevant=0, unsure_ranks=frozenset({2})))

    assert (found.judged_count, found.not_relevant_count, found.unsure_count) == (3, 2, 1)
    assert found.precision_at_5 == Span.settled(0.0)
    assert found.success == Span.settled(None)


def test_cannot_tell_can_stay_in_the_denominators() -> None:
    # Of ttytyyyttr: rank 10 cannot be told, 4 of 10 are relevant, 2 of them among the first five.
    counts = ListCounts(10, 4, frozenset({10}), first_relevant_rank=3, relevant_in_top=2)
    nothing = ListCounts(results=3, relevant=0, unsure_ranks=frozenset({2}))

    assert summary(counts, "not_relevant").overall_precision == Span.settled(0.4)
    assert summary(counts, "left_out").overall_precision == Span.settled(4 / 9)
    assert summary(counts, "not_relevant").precision_at_5 == Span.settled(0.4)
    assert summary(counts, "not_relevant").not_relevant_count == 5
    assert summary(nothing, "not_relevant").success == Span.settled(0.0)


def test_counts_that_no_list_has_are_refused() -> None:
    impossible = ListCounts(2, 1, first_relevant_rank=3)

    with pytest.raises(ValueError, match="no list"):
        summary(impossible)
