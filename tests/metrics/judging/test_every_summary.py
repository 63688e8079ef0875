"""Claims about bounds and totals that hold for every rating, finished or not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.metrics.judging.random_judgments import later, query_judgments, runs
from webapp.metrics.judging.figures import Figure, Totals, figures
from webapp.metrics.judging.queries import QUERY_FIGURES, QueryJudgments, summarise, why_undefined
from webapp.records import CannotTell, QueryState

ROUNDING = 1e-12


either_way = pytest.mark.parametrize("cannot_tell", get_args(CannotTell))


def figures_of(run: Iterable[QueryJudgments], cannot_tell: CannotTell) -> dict[str, Figure]:
    return figures(totals_of(run, cannot_tell))


def totals_of(run: Iterable[QueryJudgments], cannot_tell: CannotTell) -> Totals:
    return Totals.of(summarise(judgments, cannot_tell=cannot_tell) for judgments in run)


def assert_within(inner: Figure, outer: Figure) -> None:
    if inner.lower is None or inner.upper is None:
        return
    assert outer.lower is not None
    assert outer.upper is not None
    assert outer.lower - ROUNDING <= inner.lower
    assert inner.upper <= outer.upper + ROUNDING


@either_way
class TestBoundsOfAQuery:
    """The bounds that the finished rating of one query can still reach."""

    @given(judgments=query_judgments())
    def test_bounds_are_in_order_and_in_range(
        self, cannot_tell: CannotTell, judgments: QueryJudgments
    ) -> None:
        summary = summarise(judgments, cannot_tell=cannot_tell)

        for name in QUERY_FIGURES:
            span = summary.span(name)
            if span.lower is not None and span.upper is not None:
                top = 5 if name == "response_quality" else 1
                assert 0 <= span.lower <= span.upper <= top

    @given(judgments=query_judgments())
    def test_a_value_coincides_with_its_bounds(
        self, cannot_tell: CannotTell, judgments: QueryJudgments
    ) -> None:
        summary = summarise(judgments, cannot_tell=cannot_tell)

        for name in QUERY_FIGURES:
            span = summary.span(name)
            settled = summary.complete and name != "response_quality"
            if settled or span.value is not None:
                assert span.lower == span.value == span.upper

    @given(judgments=query_judgments())
    def test_there_is_a_value_or_a_reason(
        self, cannot_tell: CannotTell, judgments: QueryJudgments
    ) -> None:
        summary = summarise(judgments, cannot_tell=cannot_tell)

        for name in QUERY_FIGURES:
            assert (summary.span(name).value is None) is (why_undefined(summary, name) is not None)


@either_way
class TestBoundsOfARun:
    """The bounds of a run hold for every way to go on, cannot tell included."""

    @given(run=runs)
    def test_bounds_are_in_order_and_in_range(
        self, cannot_tell: CannotTell, run: list[QueryJudgments]
    ) -> None:
        for name, figure in figures_of(run, cannot_tell).items():
            assert (figure.lower is None) is (figure.upper is None)
            if figure.lower is not None and figure.upper is not None:
                top = 5 if name == "mean_response_quality" else 1
                assert 0 <= figure.lower <= figure.upper <= top

    @given(run=runs)
    def test_a_value_has_an_n_and_bounds(
        self, cannot_tell: CannotTell, run: list[QueryJudgments]
    ) -> None:
        for figure in figures_of(run, cannot_tell).values():
            assert (figure.value is None) is (figure.n == 0)
            assert figure.value is None or figure.lower is not None

    @given(run=runs, data=st.data())
    def test_every_finished_rating_lies_within_them(
        self, cannot_tell: CannotTell, run: list[QueryJudgments], data: st.DataObject
    ) -> None:
        before = figures_of(run, cannot_tell)
        rated = [data.draw(later(judgments, finished=True)) for judgments in run]
        after = figures_of(rated, cannot_tell)

        for name, figure in after.items():
            assert figure.value == figure.lower == figure.upper
            assert_within(figure, before[name])

    @given(run=runs, data=st.data())
    def test_more_rating_never_widens_them(
        self, cannot_tell: CannotTell, run: list[QueryJudgments], data: st.DataObject
    ) -> None:
        before = figures_of(run, cannot_tell)
        rated = [data.draw(later(judgments, finished=False)) for judgments in run]
        after = figures_of(rated, cannot_tell)

        for name, figure in after.items():
            assert_within(figure, before[name])

    @given(run=runs, data=st.data())
    def test_unreadable_answers_change_nothing(
        self, cannot_tell: CannotTell, run: list[QueryJudgments], data: st.DataObject
    ) -> None:
        place = data.draw(st.integers(0, len(run)))
        unreadable = QueryJudgments(QueryState.UNREADABLE)

        assert figures_of([*run[:place], unreadable, *run[place:]], cannot_tell) == figures_of(
            run, cannot_tell
        )


@either_way
class TestTotals:
    """Totals are sums: no order, no memory of how they were put together."""

    @given(run=runs, data=st.data())
    def test_the_order_of_the_queries_does_not_matter(
        self, cannot_tell: CannotTell, run: list[QueryJudgments], data: st.DataObject
    ) -> None:
        assert totals_of(data.draw(st.permutations(run)), cannot_tell) == totals_of(
            run, cannot_tell
        )

    @given(one=runs, other=runs)
    def test_they_add_up(
        self, cannot_tell: CannotTell, one: list[QueryJudgments], other: list[QueryJudgments]
    ) -> None:
        added, together = (
            totals_of(one, cannot_tell) + totals_of(other, cannot_tell),
            totals_of([*one, *other], cannot_tell),
        )

        assert added.n_queries == together.n_queries
        assert added.n_judged == together.n_judged
        for name, figure in figures(added).items():
            assert figure.n == figures(together)[name].n
            assert figure.value == pytest.approx(figures(together)[name].value, abs=ROUNDING)

    @given(run=runs)
    def test_no_queries_change_nothing(
        self, cannot_tell: CannotTell, run: list[QueryJudgments]
    ) -> None:
        assert (
            totals_of(run, cannot_tell) + Totals()
            == Totals() + totals_of(run, cannot_tell)
            == totals_of(run, cannot_tell)
        )
