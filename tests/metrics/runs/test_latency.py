"""Percentiles and mean of response times, against numpy and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.metrics.runs.provenance import Latency, latency


def test_percentiles_lie_between_the_sorted_values() -> None:
    # 50 %: position 0.5 x 3 = 1.5 between 3000 and 4000; 95 %: 2.85 between 4000 and 9000.
    found = latency([9000, 3000, 4000, 1000])

    assert found is not None
    assert (found.p50, found.mean, found.n) == (3500, 4250, 4)
    assert found.p95 == pytest.approx(8250)


def test_one_duration_is_every_percentile() -> None:
    assert latency([1200]) == Latency(1200, 1200, 1200, 1)


@pytest.mark.parametrize("odd", [None, "3", True, -1, math.nan, math.inf, [], {}])
def test_what_is_no_duration_is_left_out(odd: object) -> None:
    assert latency([odd]) is None
    assert latency([odd, 5]) == Latency(5, 5, 5, 1)


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=40))
def test_the_percentiles_are_numpys(values: list[int]) -> None:
    found = latency(values)

    assert found is not None
    assert found.p50 == pytest.approx(np.percentile(values, 50))
    assert found.p95 == pytest.approx(np.percentile(values, 95))
    assert found.mean == pytest.approx(np.mean(values))
