"""Claims about the figures of a list: their range, their order, and what the references say."""

from __future__ import annotations

from collections.abc import Callable

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, P, SetP

from tests.metrics.judging.random_judgments import Verdicts, decided, judged, verdict_lists
from webapp.metrics.judging import queries
from webapp.metrics.judging.queries import Undefined
from webapp.records import QueryState, Relevance

ListFigure = Callable[[Verdicts], float | Undefined]
Reference = Callable[[Verdicts], dict[str, float]]

FIGURES: tuple[ListFigure, ...] = (
    queries.precision,
    queries.precision_at,
    queries.reciprocal_rank,
    queries.success,
)
EXACT = 1e-9


def by_ir_measures(verdicts: Verdicts) -> dict[str, float]:
    """P@5, RR and set precision by ir-measures; what is not decided is not in the qrels."""
    qrels = [
        ir_measures.Qrel("q", str(rank), int(verdict))
        for rank, verdict in enumerate(verdicts, 1)
        if verdict in {Relevance.RELEVANT, Relevance.NOT_RELEVANT}
    ]
    run = [ir_measures.ScoredDoc("q", str(r), -r) for r in range(1, len(verdicts) + 1)]
    found = ir_measures.pytrec_eval.iter_calc([P @ 5, RR, SetP], qrels, run)
    return {str(metric.measure): metric.value for metric in found}


def by_pytrec_eval(verdicts: Verdicts) -> dict[str, float]:
    """The same three by pytrec_eval itself, under the names that ir-measures gives them."""
    qrels = {
        str(rank): int(verdict)
        for rank, verdict in enumerate(verdicts, 1)
        if verdict in {Relevance.RELEVANT, Relevance.NOT_RELEVANT}
    }
    run = {str(rank): float(-rank) for rank in range(1, len(verdicts) + 1)}
    evaluator = pytrec_eval.RelevanceEvaluator({"q": qrels}, {"P_5", "recip_rank", "set_P"})
    found = evaluator.evaluate({"q": run})["q"]
    return {"P@5": found["P_5"], "RR": found["recip_rank"], "SetP": found["set_P"]}


oracles = pytest.mark.parametrize("reference", [by_ir_measures, by_pytrec_eval])


def without_cannot_tell(verdicts: Verdicts) -> Verdicts:
    return tuple(v for v in verdicts if v is not Relevance.UNSURE)


class TestReferences:
    """The figures equal those of the reference tools wherever both are defined."""

    @oracles
    @given(verdicts=verdict_lists(decided, min_size=1))
    def test_a_fully_decided_list(self, reference: Reference, verdicts: Verdicts) -> None:
        expected = reference(verdicts)
        by_own_length = 5 / min(len(verdicts), 5)

        assert queries.precision_at(verdicts) == pytest.approx(
            expected["P@5"] * by_own_length, abs=EXACT
        )
        assert queries.reciprocal_rank(verdicts) == pytest.approx(expected["RR"], abs=EXACT)
        assert queries.precision(verdicts) == pytest.approx(expected["SetP"], abs=EXACT)

    @oracles
    @given(verdicts=verdict_lists(judged, min_size=1))
    def test_cannot_tell_keeps_its_rank_where_the_rank_counts(
        self, reference: Reference, verdicts: Verdicts
    ) -> None:
        if not without_cannot_tell(verdicts):
            return
        expected = reference(verdicts)

        assert queries.reciprocal_rank(verdicts) == pytest.approx(expected["RR"], abs=EXACT)

    @oracles
    @given(verdicts=verdict_lists(judged, min_size=1))
    def test_cannot_tell_leaves_the_list_where_shares_count(
        self, reference: Reference, verdicts: Verdicts
    ) -> None:
        for figure, part in ((queries.precision, verdicts), (queries.precision_at, verdicts[:5])):
            kept = without_cannot_tell(part)
            if kept:
                expected = reference(kept)["SetP"]
                assert figure(verdicts) == pytest.approx(expected, abs=EXACT)
            else:
                assert figure(verdicts) is Undefined.NOTHING_DECIDED

    @oracles
    @given(verdicts=verdict_lists(judged, min_size=1))
    def test_cannot_tell_as_not_relevant_is_what_the_tools_make_of_it(
        self, reference: Reference, verdicts: Verdicts
    ) -> None:
        if not without_cannot_tell(verdicts):
            return  # the tools do not know a question without any judgment
        expected = reference(verdicts)
        counted = queries.counted(verdicts, cannot_tell="not_relevant")
        by_own_length = 5 / min(len(verdicts), 5)

        assert queries.precision_at(counted) == pytest.approx(
            expected["P@5"] * by_own_length, abs=EXACT
        )
        assert queries.precision(counted) == pytest.approx(expected["SetP"], abs=EXACT)
        assert queries.success(counted) == float(Relevance.RELEVANT in verdicts)


class TestRange:
    """A figure of a list is between 0 and 1, or says why it has no value."""

    @pytest.mark.parametrize("figure", FIGURES)
    @given(verdicts=verdict_lists())
    def test_between_0_and_1_or_undefined(self, figure: ListFigure, verdicts: Verdicts) -> None:
        value = figure(verdicts)

        assert isinstance(value, Undefined) or 0 <= value <= 1

    @given(verdicts=verdict_lists())
    def test_the_suggested_quality_of_a_list_is_1_to_5_or_nothing(self, verdicts: Verdicts) -> None:
        grade = queries.suggested_quality(QueryState.RESULTS, verdicts)

        assert grade is None or 1 <= grade <= 5


class TestOrder:
    """Laws of the figures under changes to the order of a list."""

    @pytest.mark.parametrize("figure", FIGURES)
    @given(verdicts=verdict_lists())
    def test_a_relevant_result_on_top_never_lowers(
        self, figure: ListFigure, verdicts: Verdicts
    ) -> None:
        before, after = figure(verdicts), figure((Relevance.RELEVANT, *verdicts))

        assert not isinstance(after, Undefined)
        assert isinstance(before, Undefined) or after >= before

    @given(
        top=verdict_lists(min_size=5),
        cutoff=st.integers(1, 5),
        one=verdict_lists(),
        other=verdict_lists(),
    )
    def test_nothing_below_the_cutoff_matters(
        self, top: Verdicts, cutoff: int, one: Verdicts, other: Verdicts
    ) -> None:
        first, second = top[:cutoff] + one, top[:cutoff] + other

        assert queries.precision_at(first, cutoff=cutoff) == queries.precision_at(
            second, cutoff=cutoff
        )
