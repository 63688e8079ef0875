"""Wilson's and Tango's intervals, what they are of other values, and how often they hold."""

from __future__ import annotations

from math import log

import pytest
import scipy  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from relevansi.metrics.intervals import (
    NO_INTERVAL,
    Interval,
    difference_interval,
    estimate_interval,
    mean_interval,
)


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (10, 10), (8, 10), (1, 25), (27, 30)])
def test_of_a_proportion_it_is_wilsons(successes: int, n: int) -> None:
    theirs = scipy.stats.binomtest(successes, n).proportion_ci(method="wilson")

    result = mean_interval([1.0] * successes + [0.0] * (n - successes))

    assert (result.lower, result.upper) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def unlikelihood(share: float, difference: float, counts: tuple[int, int, int]) -> float:
    """Return minus the logarithm of the likelihood where a `share` is lost by the first run."""
    chances = (share + difference, share, 1 - 2 * share - difference)
    return -sum(n * log(max(p, 1e-300)) for n, p in zip(counts, chances, strict=True))


@pytest.mark.parametrize(("won", "lost", "n"), [(12, 2, 50), (3, 0, 30), (5, 5, 25), (0, 4, 10)])
def test_of_a_paired_difference_of_proportions_it_is_tangos(won: int, lost: int, n: int) -> None:
    """At its ends the score is 1.96, with the likeliest share of losses found by a search."""
    result = difference_interval([1.0] * won + [-1.0] * lost + [0.0] * (n - won - lost))

    for end, side in ((result.lower, 1), (result.upper, -1)):
        assert end is not None
        least = max(0.0, -end)
        search = scipy.optimize.minimize_scalar(
            unlikelihood,
            args=(end, (won, lost, n - won - lost)),
            bounds=(least, (1 - end) / 2),
            method="bounded",
            options={"xatol": 1e-12},
        )
        variance = n * (2 * search.x + end - end**2)
        assert (won - lost - n * end) / variance**0.5 == pytest.approx(side * 1.959964, abs=1e-3)


def test_values_between_have_the_factor_of_their_variance() -> None:
    # 0.2, 0.4, 0.6, 0.8: mean 0.5, variance 0.05; (4 x 0.05 + 0.5) / (4 x 0.25 + 0.5) = 7/15.
    result = mean_interval([0.2, 0.4, 0.6, 0.8])
    k = 1.959963984540054**2 * 7 / 15 / 4
    reach = (k / 4 + k * k / 4) ** 0.5 / (1 + k)
    assert (result.lower, result.upper) == pytest.approx((0.5 - reach, 0.5 + reach), abs=1e-12)
    # Grades 0 to 5 are the same on their scale.
    grades = mean_interval([1.0, 2.0, 3.0, 4.0], highest=5.0)
    assert (grades.lower, grades.upper) == pytest.approx((2.5 - 5 * reach, 2.5 + 5 * reach))


def test_differences_have_the_interval_of_their_typical_size() -> None:
    # Of 0.5 and -0.5: k = (2 x 0.25 + 0.1) / (2 x 0.5 + 0.1) = 6/11, and 11/12 of one each way.
    result = difference_interval([0.5, -0.5] + [0.0] * 8)
    assert result.lower == pytest.approx(-result.upper)  # type: ignore[operator]
    assert result.upper is not None
    assert 6 / 11 * 0.2 < result.upper < difference_interval([1.0, -1.0] + [0.0] * 8).upper  # type: ignore[operator]


@given(st.lists(st.floats(0, 1), min_size=2, max_size=40))
def test_an_interval_is_no_point_holds_the_mean_and_stays_in_the_range(values: list[float]) -> None:
    result, mean = mean_interval(values), sum(values) / len(values)
    assert result.lower is not None
    assert result.upper is not None
    assert 0 <= result.lower <= mean + 1e-9
    assert mean - 1e-9 <= result.upper <= 1
    assert result.upper - result.lower > 0.01


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=40))
def test_the_interval_of_a_difference_is_no_point_and_turns_with_it(values: list[float]) -> None:
    result, mean = difference_interval(values), sum(values) / len(values)
    turned = difference_interval([-value for value in values])
    assert result.lower is not None
    assert result.upper is not None
    assert -1 <= result.lower <= mean + 1e-9
    assert mean - 1e-9 <= result.upper <= 1
    assert result.upper - result.lower > 0.005
    assert (turned.lower, turned.upper) == pytest.approx((-result.upper, -result.lower))


def test_one_question_has_no_interval() -> None:
    assert mean_interval([1.0]) == difference_interval([0.5]) == NO_INTERVAL
    assert estimate_interval(0.5, 0.1, 1) == NO_INTERVAL
    assert NO_INTERVAL.of_sample(0.5, 0.5) == NO_INTERVAL


def test_a_sample_of_all_questions_is_a_point() -> None:
    assert Interval(0.2, 0.9).of_sample(0.5, 1.0) == Interval(0.5, 0.5)
