"""Claims about bounds and totals that hold for every rating, finished or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import get_args

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, P, SetP

from relevansi.metrics.judging import queries
from relevansi.metrics.judging.figures import Figure, Totals, figures
from relevansi.metrics.judging.list_counts import ListCounts, placings, summarise_counts
from relevansi.metrics.judging.queries import (
    MEANS,
    TOP,
    QueryJudgments,
    QuerySummary,
    summarise,
    why_undefined,
)
from relevansi.records import CannotTell, QueryState, Relevance
from tests.metrics.judging.random_judgments import (
    Verdicts,
    decided,
    judged,
    later,
    query_judgments,
    runs,
    verdict_lists,
)

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
    @given(judgments=query_judgments())
    def test_bounds_are_in_order(self, cannot_tell: CannotTell, judgments: QueryJudgments) -> None:
        summary = summarise(judgments, cannot_tell=cannot_tell)

        for name in MEANS:
            span = summary.figures[name]
            if span.lower is not None and span.upper is not None:
                top = 5 if name == "mean_response_quality" else 1
                assert 0 <= span.lower <= span.upper <= top

    @given(judgments=query_judgments())
    def test_a_value_coincides_with_its_bounds(
        self, cannot_tell: CannotTell, judgments: QueryJudgments
    ) -> None:
        summary = summarise(judgments, cannot_tell=cannot_tell)

        for name in MEANS:
            span = summary.figures[name]
            settled = summary.complete and name != "mean_response_quality"
            if settled or span.value is not None:
                assert span.lower == span.value == span.upper

    @given(judgments=query_judgments())
    def test_there_is_a_value_or_a_reason(
        self, cannot_tell: CannotTell, judgments: QueryJudgments
    ) -> None:
        summary = summarise(judgments, cannot_tell=cannot_tell)

        for name in MEANS:
            assert (summary.figures[name].value is None) is (
                why_undefined(summary, name) is not None
            )


@either_way
class TestBoundsOfARun:
    @given(run=runs)
    def test_bounds_are_in_order(self, cannot_tell: CannotTell, run: list[QueryJudgments]) -> None:
        for name, figure in figures_of(run, cannot_tell).items():
            assert (figure.lower is None) is (figure.upper is None)
            if figure.lower is not None and figure.upper is not None:
                top = 5 if name == "mean_response_quality" else 1
                assert 0 <= figure.lower <= figure.upper <= top

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

    @given(first=runs, second=runs)
    def test_they_add_up(
        self, cannot_tell: CannotTell, first: list[QueryJudgments], second: list[QueryJudgments]
    ) -> None:
        added, together = (
            Totals.together((totals_of(first, cannot_tell), totals_of(second, cannot_tell))),
            totals_of([*first, *second], cannot_tell),
        )

        assert added.n_queries == together.n_queries
        assert added.n_judged == together.n_judged
        for name, figure in figures(added).items():
            assert figure.n == figures(together)[name].n
            assert figure.value == pytest.approx(figures(together)[name].value, abs=ROUNDING)


ListFigure = Callable[[Sequence[bool | None], int | None], float | None]

FIGURES: tuple[ListFigure, ...] = (queries.precision_at, queries.reciprocal_rank, queries.success)
EXACT = 1e-9


def by_ir_measures(verdicts: Verdicts) -> dict[str, float]:
    """P@5, RR and set precision by ir-measures; what is not decided is not in the qrels."""
    qrels = [
        ir_measures.Qrel("q", str(rank), int(verdict))
        for rank, verdict in enumerate(verdicts, 1)
        if verdict in {Relevance.RELEVANT, Relevance.NOT_RELEVANT}
    ]
    run = [ir_measures.ScoredDoc("q", str(r), -r) for r in range(1, len(verdicts) + 1)]
    result = ir_measures.pytrec_eval.iter_calc([P @ 5, RR, SetP], qrels, run)
    return {str(metric.measure): metric.value for metric in result}


def without_cannot_tell(verdicts: Verdicts) -> Verdicts:
    return tuple(v for v in verdicts if v is not Relevance.UNSURE)


class TestReferences:
    @given(verdicts=verdict_lists(decided, min_size=1))
    def test_a_fully_decided_list(self, verdicts: Verdicts) -> None:
        expected = by_ir_measures(verdicts)
        by_own_length = 5 / min(len(verdicts), 5)

        listed = queries.relevances(verdicts)
        by_length = expected["P@5"] * by_own_length

        assert queries.precision_at(listed, TOP) == pytest.approx(by_length, abs=EXACT)
        assert queries.reciprocal_rank(listed) == pytest.approx(expected["RR"], abs=EXACT)
        assert queries.precision_at(listed) == pytest.approx(expected["SetP"], abs=EXACT)

    @given(verdicts=verdict_lists(judged, min_size=1))
    def test_cannot_tell_keeps_its_rank(self, verdicts: Verdicts) -> None:
        if not without_cannot_tell(verdicts):
            return
        expected = by_ir_measures(verdicts)

        rank = queries.reciprocal_rank(queries.relevances(verdicts))
        assert rank == pytest.approx(expected["RR"], abs=EXACT)

    @given(verdicts=verdict_lists(judged, min_size=1))
    def test_cannot_tell_leaves_the_shares(self, verdicts: Verdicts) -> None:
        for cutoff in (None, TOP):
            precision = queries.precision_at(queries.relevances(verdicts), cutoff)
            decided_ones = without_cannot_tell(verdicts[:cutoff])
            if decided_ones:
                expected = by_ir_measures(decided_ones)["SetP"]
                assert precision == pytest.approx(expected, abs=EXACT)
            else:
                assert precision is None

    @given(verdicts=verdict_lists(judged, min_size=1))
    def test_cannot_tell_as_not_relevant(self, verdicts: Verdicts) -> None:
        if not without_cannot_tell(verdicts):
            return  # the tools do not know a question without any judgment
        expected = by_ir_measures(verdicts)
        relevances = queries.relevances(queries.as_counted(verdicts, cannot_tell="not_relevant"))
        by_own_length = 5 / min(len(verdicts), 5)

        by_length = expected["P@5"] * by_own_length
        assert queries.precision_at(relevances, TOP) == pytest.approx(by_length, abs=EXACT)
        assert queries.precision_at(relevances) == pytest.approx(expected["SetP"], abs=EXACT)
        assert queries.success(relevances) == float(Relevance.RELEVANT in verdicts)


class TestRange:
    @pytest.mark.parametrize("figure", FIGURES)
    @given(verdicts=verdict_lists())
    def test_between_0_and_1_or_undefined(self, figure: ListFigure, verdicts: Verdicts) -> None:
        value = figure(queries.relevances(verdicts), None)

        assert value is None or 0 <= value <= 1

    @given(verdicts=verdict_lists())
    def test_the_suggested_quality_of_a_list_is_1_to_5_or_nothing(self, verdicts: Verdicts) -> None:
        grade = queries.suggested_quality(QueryState.RESULTS, verdicts)

        assert grade is None or 1 <= grade <= 5


class TestOrder:
    """Laws of the figures under changes to the order of a list."""

    @given(
        top=verdict_lists(min_size=5),
        cutoff=st.integers(1, 5),
        below=verdict_lists(),
        other_below=verdict_lists(),
    )
    def test_nothing_below_the_cutoff_matters(
        self, top: Verdicts, cutoff: int, below: Verdicts, other_below: Verdicts
    ) -> None:
        first = queries.relevances(top[:cutoff] + below)
        second = queries.relevances(top[:cutoff] + other_below)

        for figure in FIGURES:
            assert figure(first, cutoff) == figure(second, cutoff)


lists = verdict_lists(judged, min_size=1)
R = Relevance.RELEVANT


def counts(verdicts: Verdicts, *, rank: bool, top: bool) -> ListCounts:
    return ListCounts(
        results=len(verdicts),
        relevant=verdicts.count(Relevance.RELEVANT),
        unsure_ranks=frozenset(n for n, v in enumerate(verdicts, 1) if v is Relevance.UNSURE),
        first_relevant_rank=verdicts.index(R) + 1 if rank and R in verdicts else None,
        relevant_in_top=verdicts[:TOP].count(Relevance.RELEVANT) if top else None,
    )


def summary(list_counts: ListCounts, cannot_tell: CannotTell = "left_out") -> QuerySummary:
    return summarise_counts(list_counts, placings(list_counts), 3, cannot_tell=cannot_tell)


@either_way
@given(verdicts=lists)
def test_counts_with_rank_and_top_determine_every_figure(
    verdicts: Verdicts, cannot_tell: CannotTell
) -> None:
    judgments = QueryJudgments(QueryState.RESULTS, verdicts, None, 3)
    result = summary(counts(verdicts, rank=True, top=True), cannot_tell)

    assert result == summarise(judgments, cannot_tell=cannot_tell)


@either_way
@given(verdicts=lists, rank=st.booleans(), top=st.booleans())
def test_the_list_s_values_lie_within_the_bounds_of_fewer_counts(
    verdicts: Verdicts, rank: bool, top: bool, cannot_tell: CannotTell
) -> None:
    complete = summarise(QueryJudgments(QueryState.RESULTS, verdicts), cannot_tell=cannot_tell)
    result = summary(counts(verdicts, rank=rank, top=top), cannot_tell)

    for figure in ("mean_overall_precision", "success_rate"):
        assert result.figures[figure] == complete.figures[figure]
    for figure in ("mean_precision_at_5", "mrr"):
        value, span = complete.figures[figure].value, result.figures[figure]
        assert span.value in {None, value}
        if value is None:
            assert (span.lower, span.upper) == (None, None)
        else:
            assert span.lower is not None
            assert span.upper is not None
            assert span.lower <= value <= span.upper


@given(verdict_lists(judged, min_size=1).filter(lambda v: len(v) <= TOP))
def test_of_a_short_list_every_relevant_result_is_among_the_first_five(verdicts: Verdicts) -> None:
    precision = queries.precision_at(queries.relevances(verdicts), TOP)

    if isinstance(precision, float):
        result = summary(counts(verdicts, rank=False, top=False))
        assert result.figures["mean_precision_at_5"].value == pytest.approx(precision)
