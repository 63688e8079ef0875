"""Percentile intervals come from resamples that the seed alone decides."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest

from webapp.metrics.comparisons.significance import (
    Bootstrap,
    Interval,
    interval,
    quantile,
    resample,
)

FEW = Bootstrap(resamples=7)


@pytest.mark.parametrize("share", [0.0, 0.025, 0.3, 0.5, 0.975, 1.0])
def test_a_quantile_is_numpys(share: float) -> None:
    ordered = [0.1, 0.2, 0.2, 0.7, 1.5]

    assert quantile(ordered, share) == pytest.approx(float(np.quantile(ordered, share)), abs=1e-15)


def test_a_resample_draws_as_many_units_as_there_are() -> None:
    (drawn,) = resample([[2, 1, 1]], FEW)

    assert drawn.shape == (7, 3)
    assert set(drawn.sum(axis=1)) == {4}


def test_the_seed_decides_what_is_drawn() -> None:
    (one,), (same,) = resample([[2, 1, 1]], FEW), resample([[2, 1, 1]], FEW)
    (other,) = resample([[2, 1, 1]], Bootstrap(7, seed=1))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("counts", [[], [1]])
def test_under_two_units_nothing_is_drawn(counts: list[int]) -> None:
    (none,) = resample([counts], FEW)
    assert none.shape == (0, len(counts))


def test_resamples_without_an_estimate_are_left_out_and_counted() -> None:
    found = interval([nan, 3.0, 1.0, 2.0, nan], confidence=0.5)

    # Of 1, 2, 3 a quarter lies at position 0.5 and three quarters at 1.5.
    assert found == Interval(1.5, 2.5, left_out=2)


def test_without_any_estimate_there_are_no_bounds() -> None:
    assert interval([nan] * 3) == Interval(None, None, left_out=3)
