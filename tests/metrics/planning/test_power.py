"""Power, questions needed and smallest differences equal statsmodels'; plans are made of them."""

from __future__ import annotations

import pytest
from scipy import stats  # type: ignore[import-untyped]

from webapp.metrics.planning.power import (
    Demand,
    RatingEffort,
    RatingPlanWish,
    plan,
    power,
    questions_needed,
    simulated_power,
    smallest_difference,
    spread,
    upper_limit,
)

# statsmodels 0.15.0, TTestPower().power(d / s, n, level, alternative="two-sided").
POWERS = [
    (2, 0.5, 0.4, 0.05, 0.11225284899013722),
    (5, 0.3, 0.25, 0.05, 0.5302212511402787),
    (10, 0.2, 0.3, 0.05, 0.4692343078511547),
    (30, 0.15, 0.28, 0.05, 0.8094521085765543),
    (30, 0.15, 0.28, 0.01, 0.575504260012987),
    (64, -0.1, 0.5, 0.05, 0.3505670349805007),
    (200, 0.05, 0.35, 0.1, 0.6439051970088113),
    (1000, 0.02, 0.2, 0.05, 0.8847890988907137),
]
# statsmodels 0.15.0, TTestPower().solve_power, rounded up: 29.33, 72.58, 380.19, 3.53, 7128.98.
NEEDED = [
    (0.15, 0.28, 0.05, 0.8, 30),
    (0.1, 0.3, 0.05, 0.8, 73),
    (0.05, 0.3, 0.05, 0.9, 381),
    (0.5, 0.2, 0.05, 0.8, 4),
    (0.02, 0.4, 0.01, 0.95, 7129),
]
# statsmodels 0.15.0, TTestPower().solve_power(nobs=n, ...) x s.
SHOWN = [
    (30, 0.28, 0.05, 0.8, 0.14818599726669054),
    (10, 0.3, 0.05, 0.8, 0.29880057322872533),
    (200, 0.5, 0.05, 0.9, 0.11516182184580201),
    (3, 0.2, 0.05, 0.8, 0.6528087105639276),
]


@pytest.mark.parametrize(("n", "difference", "deviation", "level", "expected"), POWERS)
def test_the_power_is_that_of_statsmodels(
    n: int, difference: float, deviation: float, level: float, expected: float
) -> None:
    assert power(n, difference, deviation, level=level) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("difference", "deviation", "level", "wanted", "expected"), NEEDED)
def test_the_questions_needed_are_those_of_statsmodels(
    difference: float, deviation: float, level: float, wanted: float, expected: int
) -> None:
    assert questions_needed(difference, deviation, Demand(level, wanted)) == expected


@pytest.mark.parametrize(("n", "deviation", "level", "wanted", "expected"), SHOWN)
def test_the_smallest_difference_is_that_of_statsmodels(
    n: int, deviation: float, level: float, wanted: float, expected: float
) -> None:
    found = smallest_difference(n, deviation, Demand(level, wanted))
    assert found is not None
    assert found == pytest.approx(expected, rel=1e-5)  # statsmodels' search ends early
    limit = stats.t.isf(level / 2, n - 1)
    shift = found / deviation * n**0.5
    reached = stats.nct.sf(limit, n - 1, shift) + stats.nct.cdf(-limit, n - 1, shift)
    assert reached == pytest.approx(wanted, abs=1e-9)


def test_one_question_shows_nothing_and_no_number_shows_next_to_nothing() -> None:
    assert smallest_difference(1, 0.3) is None
    assert questions_needed(1e-9, 1.0) is None


def test_the_spread_of_a_rated_pair_has_the_upper_limit_of_chi_square() -> None:
    found = spread([0.2, -0.2, 0.6, 0.2])  # mean 0.2; squares 0, 0.16, 0.16, 0: 0.32 / 3
    assert found is not None
    assert (found.n, found.ties) == (4, 0)
    assert found.mean == pytest.approx(0.2)
    assert found.deviation == pytest.approx((0.32 / 3) ** 0.5)
    expected = found.deviation * (3 / stats.chi2.ppf(0.2, 3)) ** 0.5
    assert found.upper == pytest.approx(expected, rel=1e-10)
    assert upper_limit(1.0, 30) == pytest.approx((29 / stats.chi2.ppf(0.2, 29)) ** 0.5)


@pytest.mark.parametrize("differences", [[], [0.5], [0.2, 0.2, 0.2]])
def test_too_few_or_equal_differences_have_no_spread(differences: list[float]) -> None:
    assert spread(differences) is None


def test_the_simulated_power_is_near_that_of_the_t_test_and_repeats() -> None:
    differences = list(stats.norm.ppf([(i + 0.5) / 40 for i in range(40)]))
    found = simulated_power(differences, 30, 0.5, seed=7)

    deviation = float(stats.tstd(differences)) * (39 / 40) ** 0.5  # drawn with replacement
    error = (found * (1 - found) / 500) ** 0.5
    assert found == pytest.approx(power(30, 0.5, deviation), abs=4 * error)
    assert found == simulated_power(differences, 30, 0.5, seed=7)


EFFORT = RatingEffort(things=10.0, answers=3.0, raters=3, times=2, pace=6.0)
DIFFERENCES = [0.2, -0.2, 0.6, 0.2, 0.0, 0.4]


def test_the_work_of_questions_is_things_and_answers_times_raters_times_pace() -> None:
    assert EFFORT.verdicts(30) == 600  # 30 x 10 x 2
    assert EFFORT.ratings(30) == 180  # 30 x 3 x 2
    assert EFFORT.hours(30) == pytest.approx(780 * 6 / 3600)
    assert RatingEffort(10.0, 3.0, 3, 2, None).hours(30) is None


def test_a_rated_pair_gives_the_deviation_its_limit_and_a_simulation() -> None:
    found = plan(
        RatingPlanWish("mrr", 0.2), EFFORT, has=30, pair=("a", "b"), differences=DIFFERENCES
    )
    assert found.spread is not None
    assert found.deviation == found.spread.deviation
    assert found.needed == questions_needed(0.2, found.spread.deviation)
    assert found.needed_upper == questions_needed(0.2, found.spread.upper)
    assert found.shows == smallest_difference(30, found.spread.deviation)
    assert found.simulated is not None
    assert {30, found.needed} <= {point.questions for point in found.curve}
    shown = [point.shows for point in found.curve]
    assert shown == sorted(shown, reverse=True)


def test_an_entered_deviation_counts_instead_of_the_pair() -> None:
    wish = RatingPlanWish("mrr", 0.15, deviation=0.28)
    found = plan(wish, EFFORT, has=30, pair=("a", "b"), differences=DIFFERENCES)
    # statsmodels: 30 questions, see above.
    assert (found.needed, found.deviation, found.spread) == (30, 0.28, None)
    assert (found.simulated, found.needed_upper, found.curve[0].upper) == (None, None, None)
