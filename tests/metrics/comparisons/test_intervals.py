"""Percentile intervals come from resamples that the seed alone decides."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from webapp.metrics.comparisons.intervals import Interval, interval, quantile
from webapp.metrics.comparisons.resampling import Bootstrap, resample

FEW = Bootstrap(resamples=7)


@pytest.mark.parametrize("share", [0.0, 0.025, 0.3, 0.5, 0.975, 1.0])
def test_a_quantile_is_numpys(share: float) -> None:
    ordered = [0.1, 0.2, 0.2, 0.7, 1.5]

    assert quantile(ordered, share) == pytest.approx(float(np.quantile(ordered, share)), abs=1e-15)


def test_a_resample_draws_as_many_units_as_there_are() -> None:
    drawn = resample(Counter("aabc"), FEW)

    assert len(drawn) == 7
    assert {one.total() for one in drawn} == {4}
    assert set().union(*drawn) <= set("abc")


def test_the_seed_and_not_the_order_of_the_units_decides_what_is_drawn() -> None:
    assert resample(Counter("abca"), FEW) == resample(Counter("caab"), FEW)
    assert resample(Counter("abca"), FEW) != resample(Counter("abca"), Bootstrap(7, seed=1))


@pytest.mark.parametrize("units", ["", "a"])
def test_under_two_units_nothing_is_drawn(units: str) -> None:
    assert resample(Counter(units), FEW) == ()


def test_resamples_without_an_estimate_are_left_out_and_counted() -> None:
    values = iter([None, 3.0, 1.0, 2.0, None])
    found = interval([Counter()] * 5, lambda _: next(values), confidence=0.5)

    # Of 1, 2, 3 a quarter lies at position 0.5 and three quarters at 1.5.
    assert found == Interval(1.5, 2.5, left_out=2)


def test_without_any_estimate_there_are_no_bounds() -> None:
    assert interval([Counter()] * 3, lambda _: None) == Interval(None, None, left_out=3)
