"""An order is settled once no open judgment can turn it; effects lead to what is not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.metrics.planning.test_bounds import Answer, pooled
from webapp.metrics.planning.bounds import ABSENT, NOT_RELEVANT, OPEN, RELEVANT, PooledLists
from webapp.metrics.planning.effect import (
    OrdersSoFar,
    RunOrder,
    orders_so_far,
    reaches,
    reaches_anew,
)
from webapp.records import QueryState

P5 = "mean_precision_at_5"


def so_far(pool: PooledLists, states: np.ndarray) -> OrdersSoFar:
    return orders_so_far(pool, reaches(pool, states))


def order_of(pool: PooledLists, states: np.ndarray) -> RunOrder:
    """Return the order in P@5."""
    return next(one for one in so_far(pool, states).orders if one.figure == P5)


def lists(*things: int) -> Answer:
    return Answer(QueryState.RESULTS, things)


def test_an_order_is_open_until_the_rest_cannot_turn_it() -> None:
    """Three questions, one card each, another one in each run: 1 - 0 per question at most."""
    found = pooled([(lists(1), lists(2))] * 3, 3)
    states = np.array([[ABSENT, OPEN, OPEN]] * 3, np.int8)

    def after(*judged: tuple[int, int]) -> tuple[object, ...]:
        said = states.copy()
        for question, (one, two) in enumerate(judged):
            said[question, 1:] = one, two
        order = order_of(found, said)
        return order.is_settled, order.ahead, order.low, order.high

    assert after() == (False, None, -1.0, 1.0)
    ahead = RELEVANT, NOT_RELEVANT
    assert after(ahead) == (False, None, pytest.approx(-1 / 3), 1.0)
    assert after(ahead, ahead) == (True, 0, pytest.approx(1 / 3), 1.0)
    behind = NOT_RELEVANT, RELEVANT
    assert after(behind, behind) == (True, 1, -1.0, pytest.approx(-1 / 3))
    equal = RELEVANT, RELEVANT
    assert after(equal, equal, equal) == (True, None, 0.0, 0.0)


def test_the_effect_of_a_question_is_what_it_can_move_of_open_orders_alone() -> None:
    """The second question's cards are the same in both runs: it moves nothing."""
    found = pooled([(lists(1), lists(2)), (lists(1, 2), lists(1, 2))], 3)
    states = np.array([[ABSENT, OPEN, OPEN]] * 2, np.int8)

    before = so_far(found, states)

    assert before.effects.tolist() == [8.0, 0.0]  # from -1 to 1 in each of four figures
    assert (before.open_things, before.open_questions) == (2, (0,))
    order = order_of(found, states)
    assert (order.open_things, order.open_questions, order.n) == (2, (0,), 2)
    states[0, 1:] = RELEVANT, NOT_RELEVANT
    settled = so_far(found, states)
    assert settled.is_settled
    assert settled.effects.tolist() == [0.0, 0.0]
    three = pooled([(lists(1), lists(2), lists(1))], 3)
    assert len(so_far(three, states[:1]).orders) == 12  # three pairs, four figures


def test_only_the_questions_that_changed_are_reckoned_anew() -> None:
    found = pooled([(lists(1, 2), lists(2, 1)), (lists(1), lists(2)), (lists(2), lists(1, 2))], 3)
    states = np.array([[ABSENT, OPEN, OPEN]] * 3, np.int8)
    before = reaches(found, states)
    judged = states.copy()
    judged[1, 1], judged[2, 2] = RELEVANT, NOT_RELEVANT

    after = reaches_anew(before, found, judged, np.array([False, True, True]))

    for mended, whole in zip(after, reaches(found, judged), strict=True):
        assert np.array_equal(mended, whole)
    assert np.array_equal(before.low, reaches(found, states).low)  # left as it was


def test_runs_without_a_common_question_have_no_order_to_settle() -> None:
    found = pooled([(lists(1), Answer(QueryState.UNREADABLE))], 2)
    order = order_of(found, np.array([[ABSENT, OPEN]], np.int8))
    assert (order.low, order.high, order.n, order.ahead) == (None, None, 0, None)
    assert order.is_settled
