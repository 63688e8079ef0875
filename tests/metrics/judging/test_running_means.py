"""Means and percentiles one by one are those of all at once."""

from __future__ import annotations

import random
import tracemalloc

import numpy as np
import pytest

from webapp.metrics.judging import figures
from webapp.metrics.judging.figures import Mean, Percentiles


def test_the_mean_is_exact_in_any_order() -> None:
    """1e16 + 1 - 1e16 loses the 1 when it is summed naively."""
    values = [1e16, 1.0, -1e16, 1.0] * 3
    found = set()
    for seed in range(20):
        random.Random(seed).shuffle(values)
        mean = Mean()
        for value in values:
            mean.add(value)
        found.add(mean.value)

    assert found == {0.5}


def test_nothing_has_no_mean_and_no_percentile() -> None:
    assert Mean().value is None
    assert Percentiles().at(0.5, 0.95) == (None, None)


@pytest.mark.parametrize("block", [3, 50_000])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 10, 101])
def test_percentiles_are_numpy_s_however_many_blocks_are_merged(
    monkeypatch: pytest.MonkeyPatch, n: int, block: int
) -> None:
    monkeypatch.setattr(figures, "_BLOCK", block)
    values = random.Random(n).sample(range(10_000), n)
    found = Percentiles()
    for value in values:
        found.add(value)

    assert found.at(0, 0.5, 0.95, 1) == pytest.approx(
        list(np.percentile(values, [0, 50, 95, 100])), rel=1e-12
    )


def test_many_durations_stand_as_bare_numbers() -> None:
    """8 bytes each and one block of objects at a time, not 32 bytes each in one list."""
    found = Percentiles()
    for value in range(200_000):
        found.add(value / 7)
    tracemalloc.start()
    try:
        found.at(0.5, 0.95)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 3_000_000  # sorted at once they took 6.4 million and more
