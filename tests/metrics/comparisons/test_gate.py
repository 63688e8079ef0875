"""What a gate decides of floors and differences, tried with every way to judge what is open."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from relevansi.metrics.comparisons.gate import GatedAnswer, GateRequest, Outcome, gate_figures
from relevansi.metrics.judging.graded import RankedGrades, spans_of
from relevansi.metrics.judging.queries import QueryJudgments, summarise
from relevansi.records import QueryState, Relevance

Verdict = int | None
FIGURES = ("P@2", "success@2", "RR", "ERR@2")
V1 = ("mean_precision_at_5", "mean_overall_precision", "mrr", "success_rate")
READ = {None: None, 0: Relevance.NOT_RELEVANT, 1: Relevance.RELEVANT}
LISTS = st.lists(st.tuples(st.integers(1, 3), st.sampled_from([None, 0, 1])), max_size=3)


def answer(listed: list[tuple[int, Verdict]]) -> GatedAnswer:
    """Return an answer with these items and their verdicts, by rank."""
    items, verdicts = [item for item, _ in listed], tuple(verdict for _, verdict in listed)
    state = QueryState.RESULTS if listed else QueryState.EMPTY
    judgments = QueryJudgments(state, tuple(READ[verdict] for verdict in verdicts))
    summary = summarise(judgments, cannot_tell="not_relevant")
    pool = tuple(verdict for verdict in verdicts if verdict is not None)
    further = spans_of(RankedGrades(verdicts, pool), FIGURES)
    judged = tuple(verdict is not None for verdict in verdicts)
    return GatedAnswer(summary.with_figures(further), tuple(items), judged)


def completed(listed: list[tuple[int, Verdict]]) -> list[list[tuple[int, Verdict]]]:
    """Return the list in every way to judge what is open in it."""
    ways = product(*((0, 1) if verdict is None else (verdict,) for _, verdict in listed))
    return [
        [(item, verdict) for (item, _), verdict in zip(listed, way, strict=True)] for way in ways
    ]


@given(st.lists(LISTS, min_size=1, max_size=3), st.sampled_from([0.0, 0.2, 0.25, 0.5, 1.0]))
def test_a_floor_is_decided_only_where_every_judging_agrees(
    lists: list[list[tuple[int, Verdict]]], floor: float
) -> None:
    """Missed or reached now, it is so whatever people say; open, they can still decide it."""
    nothing = answer([])
    request = GateRequest(baseline="b", floors=dict.fromkeys((*FIGURES, *V1), floor))

    def outcomes(run: list[list[tuple[int, Verdict]]]) -> dict[str, Outcome | None]:
        pairs = [(answer(listed), nothing) for listed in run]
        return {
            gate_figure.figure: gate_figure.floor_outcome
            for gate_figure in gate_figures(pairs, (), request)
        }

    every = [outcomes([*run]) for run in product(*map(completed, lists))]
    for figure, outcome in outcomes(lists).items():
        result = {finished[figure] for finished in every}
        assert result == (
            {Outcome.PASSED, Outcome.FAILED} if outcome == Outcome.OPEN else {outcome}
        )


@given(st.lists(st.tuples(LISTS, LISTS), min_size=1, max_size=8))
def test_equal_lists_never_fail_and_need_no_judgment(
    lists: list[tuple[list[tuple[int, Verdict]], list[tuple[int, Verdict]]]],
) -> None:
    """Of a run against itself nothing is open, and a question whose lists agree counts as judged.

    With the lists of one run in both places the outcome is passed for each figure.
    """
    figures = (*FIGURES, *V1)
    request = GateRequest(baseline="b", tolerance=0.01)

    same = gate_figures([(answer(run), answer(run)) for run, _ in lists], figures, request)

    outcomes = {gate_figure.difference.outcome for gate_figure in same if gate_figure.difference}
    assert outcomes == {Outcome.PASSED}
    mixed = [(answer(run), answer(baseline)) for run, baseline in lists]
    n_same = sum(run.items == baseline.items for run, baseline in mixed)
    for gate_figure in gate_figures(mixed, V1[1:], replace(request, tolerance=None)):
        assert gate_figure.difference is not None
        assert gate_figure.difference.n_apart == len(lists) - n_same


def test_without_a_question_nothing_passes() -> None:
    """All that a run lacks may be left out, and then there is nothing to decide by."""
    [result] = gate_figures([], ("mrr",), GateRequest(baseline="b", floors={"mrr": 0.0}))

    assert result.difference is not None
    assert result.difference.outcome == result.floor_outcome == Outcome.OPEN
