"""Claims about lists known by their counts: every list with the counts lies within the bounds."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.metrics.judging.random_judgments import Verdicts, judged, verdict_lists
from webapp.metrics.judging import queries
from webapp.metrics.judging.figures import TOP, ListCounts, placings, summarise_counts
from webapp.metrics.judging.queries import QueryJudgments, QuerySummary, summarise
from webapp.records import CannotTell, QueryState, Relevance

lists = verdict_lists(judged, min_size=1)


def counts(verdicts: Verdicts, *, rank: bool, top: bool) -> ListCounts:
    """The counts of `verdicts`, with the first rank and the first five where they are given."""
    return ListCounts(
        results=len(verdicts),
        relevant=verdicts.count(Relevance.RELEVANT),
        unsure_ranks=frozenset(n for n, v in enumerate(verdicts, 1) if v is Relevance.UNSURE),
        first_relevant_rank=queries.first_relevant_rank(verdicts) if rank else None,
        relevant_in_top=verdicts[:TOP].count(Relevance.RELEVANT) if top else None,
    )


def summary(found: ListCounts, cannot_tell: CannotTell = "left_out") -> QuerySummary:
    return summarise_counts(found, placings(found), 3, cannot_tell=cannot_tell)


either_way = pytest.mark.parametrize("cannot_tell", get_args(CannotTell))


@either_way
@given(verdicts=lists)
def test_counts_with_the_first_rank_and_the_first_five_say_all_that_the_list_says(
    verdicts: Verdicts, cannot_tell: CannotTell
) -> None:
    judgments = QueryJudgments(QueryState.RESULTS, verdicts, None, 3)
    found = summary(counts(verdicts, rank=True, top=True), cannot_tell)

    assert found == summarise(judgments, cannot_tell=cannot_tell)


@either_way
@given(verdicts=lists, rank=st.booleans(), top=st.booleans())
def test_what_the_list_says_lies_within_the_bounds_of_fewer_counts(
    verdicts: Verdicts, rank: bool, top: bool, cannot_tell: CannotTell
) -> None:
    whole = summarise(QueryJudgments(QueryState.RESULTS, verdicts), cannot_tell=cannot_tell)
    found = summary(counts(verdicts, rank=rank, top=top), cannot_tell)

    assert (found.overall_precision, found.success) == (whole.overall_precision, whole.success)
    for figure in ("precision_at_5", "reciprocal_rank"):
        value, span = whole.span(figure).value, found.span(figure)
        assert span.value in {None, value}
        if value is None:
            assert (span.lower, span.upper) == (None, None)
        else:
            assert span.lower is not None
            assert span.upper is not None
            assert span.lower <= value <= span.upper


@given(verdict_lists(judged, min_size=1).filter(lambda v: len(v) <= TOP))
def test_of_a_short_list_every_relevant_result_is_among_the_first_five(verdicts: Verdicts) -> None:
    whole = queries.precision_at(verdicts)

    if isinstance(whole, float):
        found = summary(counts(verdicts, rank=False, top=False))
        assert found.precision_at_5.value == pytest.approx(whole)
