from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevansi.metrics.judging.queries import QueryJudgments, summarise
from relevansi.metrics.planning.settled import (
    ABSENT,
    BOUNDED,
    CANNOT_TELL,
    NOT_RELEVANT,
    OPEN,
    RELEVANT,
    PooledLists,
    SettledOrder,
    SettledOrders,
    difference_bounds,
    settled_orders,
)
from relevansi.records import EmptyOutcome, QueryState, Relevance

VERDICTS = {
    NOT_RELEVANT: Relevance.NOT_RELEVANT,
    RELEVANT: Relevance.RELEVANT,
    CANNOT_TELL: Relevance.UNSURE,
}
OUTCOMES = {NOT_RELEVANT: EmptyOutcome.FALSE_NEGATIVE, RELEVANT: EmptyOutcome.CORRECT_EMPTY}
EMPTINESS = 0
"""Item 0 is the emptiness of the question in these tests."""


@dataclass(frozen=True)
class Answer:
    """One run's answer: the items it lists in rank order, or none in another state."""

    state: QueryState
    items: tuple[int, ...] = ()


def pooled(questions: Sequence[tuple[Answer, ...]], n_items: int) -> PooledLists:
    listings = []
    for q, answers in enumerate(questions):
        for r, answer in enumerate(answers):
            listings += [(q, r, item, rank) for rank, item in enumerate(answer.items, start=1)]
            if answer.state is QueryState.EMPTY:
                listings.append((q, r, EMPTINESS, 0))
    states = np.array([[str(a.state) for a in answers] for answers in questions])
    has_results = states == str(QueryState.RESULTS)
    has_success = states != str(QueryState.UNREADABLE)
    return PooledLists.of(listings, n_items, has_results, has_success)


def value(answer: Answer, verdicts: tuple[int, ...], figure: str) -> float | None:
    judged = QueryJudgments(
        state=answer.state,
        verdicts=tuple(VERDICTS[verdicts[item]] for item in answer.items),
        empty_outcome=OUTCOMES[verdicts[EMPTINESS]] if answer.state is QueryState.EMPTY else None,
    )
    return summarise(judged, cannot_tell="left_out").figures[figure].value


def enumerated(
    answers: tuple[Answer, Answer], states: tuple[int, ...], figure: str
) -> tuple[float, float, bool]:
    ways = product(*[(NOT_RELEVANT, RELEVANT) if s == OPEN else (s,) for s in states])
    result = []
    for way in ways:
        first, second = (value(answer, way, figure) for answer in answers)
        result.append(None if first is None or second is None else first - second)
    values = [difference or 0.0 for difference in result]
    return min(values), max(values), any(difference is not None for difference in result)


@st.composite
def questions(draw: st.DrawFn) -> tuple[tuple[Answer, Answer], tuple[int, ...]]:
    count = draw(st.integers(1, 7))
    card_states = st.sampled_from([NOT_RELEVANT, RELEVANT, CANNOT_TELL, OPEN, OPEN])
    emptiness = draw(st.sampled_from([NOT_RELEVANT, RELEVANT, OPEN]))
    states = (emptiness, *draw(st.lists(card_states, min_size=count, max_size=count)))

    def answer() -> Answer:
        state = draw(st.sampled_from([QueryState.RESULTS] * 5 + list(QueryState)))
        if state is not QueryState.RESULTS:
            return Answer(state)
        listed = st.lists(st.integers(1, count), min_size=1, max_size=9)
        return Answer(state, tuple(draw(listed)))

    return (answer(), answer()), states


@given(questions())
@pytest.mark.parametrize("figure", BOUNDED)
def test_the_bounds_are_those_of_full_enumeration(
    figure: str, question: tuple[tuple[Answer, Answer], tuple[int, ...]]
) -> None:
    answers, states = question

    result = difference_bounds(
        pooled([answers], len(states)), np.array([states], np.int8), figure, 0, 1
    )

    low, high, is_pair = enumerated(answers, states, figure)
    assert result.low[0] == pytest.approx(low, abs=1e-12)
    assert result.high[0] == pytest.approx(high, abs=1e-12)
    assert bool(result.pairs[0]) == is_pair


@given(questions())
@pytest.mark.parametrize("figure", BOUNDED)
def test_an_item_that_moves_nothing_can_be_judged_either_way(
    figure: str, question: tuple[tuple[Answer, Answer], tuple[int, ...]]
) -> None:
    answers, states = question
    lists = pooled([answers], len(states))
    before = difference_bounds(lists, np.array([states], np.int8), figure, 0, 1)
    for item, state in enumerate(states):
        if state == OPEN and not before.moving[0, item]:
            for verdict in (NOT_RELEVANT, RELEVANT):
                judged = np.array([[*states[:item], verdict, *states[item + 1 :]]], np.int8)
                after = difference_bounds(lists, judged, figure, 0, 1)
                assert after.low[0] == pytest.approx(before.low[0], abs=1e-12)
                assert after.high[0] == pytest.approx(before.high[0], abs=1e-12)


P5 = "mean_precision_at_5"


def so_far(pool: PooledLists, states: np.ndarray, runs: str = "ab") -> SettledOrders:
    names = {run: run for run in runs}
    return settled_orders(pool, states, names=names, positions=range(1, len(states) + 1))


def order_of(pool: PooledLists, states: np.ndarray) -> SettledOrder:
    """Return the order in P@5."""
    return next(order for order in so_far(pool, states).orders if order.figure == P5)


def lists(*items: int) -> Answer:
    return Answer(QueryState.RESULTS, items)


def test_an_order_is_open_until_the_rest_cannot_turn_it() -> None:
    """Three questions, one card each, another one in each run: 1 - 0 per question at most."""
    result = pooled([(lists(1), lists(2))] * 3, 3)
    states = np.array([[ABSENT, OPEN, OPEN]] * 3, np.int8)

    def after(*judged: tuple[int, int]) -> tuple[object, ...]:
        verdicts = states.copy()
        for question, (first, second) in enumerate(judged):
            verdicts[question, 1:] = first, second
        order = order_of(result, verdicts)
        return order.settled, order.higher, order.low, order.high

    assert after() == (False, None, -1.0, 1.0)
    ahead = RELEVANT, NOT_RELEVANT
    assert after(ahead) == (False, None, pytest.approx(-1 / 3), 1.0)
    assert after(ahead, ahead) == (True, "a", pytest.approx(1 / 3), 1.0)
    behind = NOT_RELEVANT, RELEVANT
    assert after(behind, behind) == (True, "b", -1.0, pytest.approx(-1 / 3))
    equal = RELEVANT, RELEVANT
    assert after(equal, equal, equal) == (True, None, 0.0, 0.0)


def test_what_can_still_move_is_counted_for_open_orders_alone() -> None:
    """The second question's cards are the same in both runs: it moves nothing."""
    result = pooled([(lists(1), lists(2)), (lists(1, 2), lists(1, 2))], 3)
    states = np.array([[ABSENT, OPEN, OPEN]] * 2, np.int8)

    before = so_far(result, states)

    assert (before.open_cards, before.open_questions, before.next_questions) == (2, (1,), (1,))
    assert (before.judged, before.judged_items) == (0, 4)
    order = order_of(result, states)
    assert (order.open_cards, order.open_questions, order.n) == (2, (1,), 2)
    states[0, 1:] = RELEVANT, NOT_RELEVANT
    settled = so_far(result, states)
    assert all(order.settled for order in settled.orders)
    assert (settled.open_cards, settled.next_questions, settled.judged) == (0, (), 2)
    three = pooled([(lists(1), lists(2), lists(1))], 3)
    assert len(so_far(three, states[:1], "abc").orders) == 12  # three pairs, four figures
