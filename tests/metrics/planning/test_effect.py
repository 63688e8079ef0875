"""An order is settled once no open judgment can turn it; effects lead to what is not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.metrics.planning.test_bounds import Answer, pooled
from webapp.metrics.planning.bounds import ABSENT, NOT_RELEVANT, OPEN, RELEVANT
from webapp.metrics.planning.effect import orders_so_far
from webapp.records import QueryState

P5 = "mean_precision_at_5"


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
        (order,) = orders_so_far(found, said, (P5,)).orders
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

    so_far = orders_so_far(found, states, (P5,))

    assert so_far.effects.tolist() == [2.0, 0.0]  # from -1 to 1
    (order,) = so_far.orders
    assert (order.open_things, order.open_questions, order.n) == (2, (0,), 2)
    states[0, 1:] = RELEVANT, NOT_RELEVANT
    settled = orders_so_far(found, states, (P5,))
    assert settled.is_settled
    assert settled.effects.tolist() == [0.0, 0.0]
    # Questions and runs can be as many as they are: pairs of three runs, four figures.
    three = pooled([(lists(1), lists(2), lists(1))], 3)
    assert len(orders_so_far(three, states[:1]).orders) == 12


def test_runs_without_a_common_question_have_no_order_to_settle() -> None:
    found = pooled([(lists(1), Answer(QueryState.UNREADABLE))], 2)
    (order,) = orders_so_far(found, np.array([[ABSENT, OPEN]], np.int8), (P5,)).orders
    assert (order.low, order.high, order.n, order.ahead) == (None, None, 0, None)
    assert order.is_settled
