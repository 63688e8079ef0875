"""A finished rating replayed: judgments until every order is settled, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.metrics.planning.test_bounds import Answer, pooled
from tests.services.planning.savings.replays import at_random, by_effect, in_file_order, replay
from webapp.metrics.planning.bounds import (
    ABSENT,
    BOUNDED,
    NOT_RELEVANT,
    OPEN,
    RELEVANT,
    PooledLists,
)
from webapp.records import QueryState


def lists(*things: int) -> Answer:
    return Answer(QueryState.RESULTS, things)


@pytest.fixture(name="rated")
def _rated() -> tuple[PooledLists, np.ndarray]:
    """Questions 0 and 1 list the same card in both runs; in 2, 3, 4 the first run is right."""
    found = pooled([(lists(1), lists(1))] * 2 + [(lists(1), lists(2))] * 3, 3)
    same, apart = [ABSENT, RELEVANT, ABSENT], [ABSENT, RELEVANT, NOT_RELEVANT]
    return found, np.array([same, same, apart, apart, apart], np.int8)


def test_the_file_order_judges_what_changes_nothing_too(
    rated: tuple[PooledLists, np.ndarray],
) -> None:
    """1 and 1 card that are shared, then 2 and 2: two of three questions decide."""
    found = replay(*rated, in_file_order)
    assert found.settled_after == dict.fromkeys(BOUNDED, 6)
    assert (found.all_after, found.total, found.same) == (6, 8, True)
    assert found.steps == ((0, 1.0), (1, 1.0), (2, 1.0), (4, 1.0), (6, 0.0), (8, 0.0))


def test_by_effect_judges_what_decides(rated: tuple[PooledLists, np.ndarray]) -> None:
    for seed in range(5):
        found = replay(*rated, by_effect(seed))
        assert (found.all_after, found.total, found.same) == (4, 8, True)


def test_a_random_order_repeats_with_its_seed(rated: tuple[PooledLists, np.ndarray]) -> None:
    assert replay(*rated, at_random(7)) == replay(*rated, at_random(7))
    assert {replay(*rated, at_random(seed)).all_after for seed in range(20)} == {4, 5, 6}


def test_what_is_not_complete_is_not_replayed(rated: tuple[PooledLists, np.ndarray]) -> None:
    found, complete = rated
    complete[0, 1] = OPEN
    with pytest.raises(ValueError, match="not complete"):
        replay(found, complete, in_file_order)
