"""Power, questions needed and smallest differences equal statsmodels'; plans are made of them."""

from __future__ import annotations

from math import comb, sqrt

import numpy as np
import pytest
import scipy  # type: ignore[import-untyped]

from relevansi.metrics.comparisons.differences import PairedValues, paired_differences
from relevansi.metrics.intervals import LEVEL
from relevansi.metrics.planning.power import (
    Demand,
    RatingEffort,
    RatingPlanWish,
    difference_shown,
    mcnemar_power,
    mixture,
    plan,
    power,
    power_of_test,
    questions_needed,
    questions_to_show,
    smallest_difference,
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


@pytest.mark.parametrize(("difference", "deviation", "level", "target", "expected"), NEEDED)
def test_the_questions_needed_are_those_of_statsmodels(
    difference: float, deviation: float, level: float, target: float, expected: int
) -> None:
    assert questions_needed(difference, deviation, Demand(level, target)) == expected


@pytest.mark.parametrize(("n", "deviation", "level", "target", "expected"), SHOWN)
def test_the_smallest_difference_is_that_of_statsmodels(
    n: int, deviation: float, level: float, target: float, expected: float
) -> None:
    result = smallest_difference(n, deviation, Demand(level, target))
    assert result is not None
    assert result == pytest.approx(expected, rel=1e-5)  # statsmodels' search ends early
    limit = scipy.stats.t.isf(level / 2, n - 1)
    shift = result / deviation * n**0.5
    reached = scipy.stats.nct.sf(limit, n - 1, shift) + scipy.stats.nct.cdf(-limit, n - 1, shift)
    assert reached == pytest.approx(target, abs=1e-9)


def test_one_question_shows_nothing_and_no_number_shows_next_to_nothing() -> None:
    assert smallest_difference(1, 0.3) is None
    assert questions_needed(1e-9, 1.0) is None


def test_mcnemars_power_is_that_of_every_table() -> None:
    """All (wins, losses, ties) of 20 questions with their chances, each with scipy's test."""
    won, lost, level = 0.3, 0.1, 0.05
    expected = 0.0
    for wins in range(21):
        for losses in range(21 - wins):
            ways = comb(20, wins) * comb(20 - wins, losses)
            chance = ways * won**wins * lost**losses * 0.6 ** (20 - wins - losses)
            if wins + losses and scipy.stats.binomtest(wins, wins + losses).pvalue <= level:
                expected += chance
    assert mcnemar_power(20, won, lost, level) == pytest.approx(expected, abs=1e-12)


def test_a_difference_of_successes_takes_the_questions_of_mcnemars_test() -> None:
    """3 of 30 won and none lost: 0.16 more takes 48 questions, of three pairs 56."""
    mixed = mixture([1.0] * 3 + [0.0] * 27)
    assert mixed is not None
    # Of 30 questions 6 must differ, all one way: P(Bin(30, 0.16) >= 6).
    assert power_of_test(mixed, 30, 0.16, 0.05) == pytest.approx(scipy.stats.binom.sf(5, 30, 0.16))
    assert questions_to_show(0.16, mixed) == 48
    assert questions_to_show(0.16, mixed, Demand(0.05 / 3)) == 56


def test_a_mixture_counts_what_the_lower_run_wins() -> None:
    result = mixture([-0.2, 0.2, -0.6, 0.0])
    assert result is not None
    assert (result.n, result.lost, result.sizes, result.share) == (4, 0.25, (0.2, 0.2, 0.6), 0.75)
    # Sizes are 1/3 on average: 0.1 more is 0.3 of the questions more; then fewer are lost.
    assert result.raised(0.1) == pytest.approx((0.55, 0.25, 1.0))
    assert result.raised(0.3) == pytest.approx((0.95, 0.05, 1.0))
    assert result.raised(0.5) == pytest.approx((1.0, 0.0, 1.5))
    assert mixture([0.5]) is mixture([0.0, 0.0]) is None


MIXTURES = {
    "few large ones": [0.79, 0.5, 2 / 3, 1.0] + [0.0] * 21,
    "both ways": [0.2, 0.4, -0.2, 0.6, 0.2, -0.4, 0.2, 0.8] + [0.0] * 17,
    "grades": [1.0, 2.0, -1.0, 1.0, -2.0, 1.0, 1.0, -1.0] + [0.0] * 22,
    "all differ a little": [0.05, -0.02, 0.07, 0.03, -0.04, 0.06, 0.01, 0.05] * 3,
    "successes": [1.0, 1.0, 1.0, -1.0] + [0.0] * 26,
}


@pytest.mark.parametrize(("name", "pairs"), [*zip(MIXTURES, (1, 3, 1, 3, 1), strict=True)])
def test_the_smallest_difference_claimed_is_found_by_the_comparison(name: str, pairs: int) -> None:
    """Studies with just this difference, each through the comparison's own code."""
    studies, differences = 400, MIXTURES[name]
    mixed, highest = mixture(differences), 5.0 if name == "grades" else 1.0
    assert mixed is not None
    n = len(differences)
    claimed = difference_shown(n, mixed, Demand(LEVEL / pairs), highest=highest)
    assert claimed is not None
    won, lost, factor = mixed.raised(claimed)
    stream = np.random.default_rng(11)

    result = 0
    for _ in range(studies):
        side = stream.choice([1.0, -1.0, 0.0], n, p=[won, lost, 1 - won - lost])
        values = side * factor * stream.choice(mixed.sizes, n)
        runs = tuple(
            (highest / 2 + value / 2, highest / 2 - value / 2) for value in values.tolist()
        )
        figure = "mean_response_quality" if name == "grades" else "mrr"
        (difference,) = paired_differences([PairedValues(figure, "a", "b", runs, None)])
        # After Holm the first of the pairs is significant at this level.
        result += difference.p is not None and difference.p <= LEVEL / pairs

    assert result / studies >= 0.8 - 3 * sqrt(0.8 * 0.2 / studies)


EFFORT = RatingEffort(judged_items=10.0, answers=3.0, raters=3, times=2, pace=6.0)
DIFFERENCES = [0.2, -0.2, 0.6, 0.2, 0.0, 0.4]


def test_the_work_of_questions_is_items_and_answers_times_raters_times_pace() -> None:
    assert EFFORT.verdicts(30) == 600  # 30 x 10 x 2
    assert EFFORT.ratings(30) == 180  # 30 x 3 x 2
    assert EFFORT.hours(30) == pytest.approx(780 * 6 / 3600)
    assert RatingEffort(10.0, 3.0, 3, 2, None).hours(30) is None


def test_a_rated_pair_gives_the_mixture_and_its_own_test() -> None:
    result = plan(
        RatingPlanWish("mrr", 0.2), EFFORT, has=30, pair=("a", "b"), differences=DIFFERENCES
    )
    assert result.mixed == mixture(DIFFERENCES)
    assert result.mixed is not None
    assert result.deviation == result.mixed.deviation
    assert result.needed == questions_to_show(0.2, result.mixed)
    assert result.needed is not None
    assert result.power == power_of_test(result.mixed, result.needed, 0.2, 0.05)
    assert result.shows == difference_shown(30, result.mixed)
    assert {30, result.needed} <= {point.questions for point in result.curve}
    smallest = [point.shows for point in result.curve if point.shows is not None]
    assert smallest == sorted(smallest, reverse=True)


def test_an_entered_deviation_counts_instead_of_the_pair() -> None:
    wish = RatingPlanWish("mrr", 0.15, deviation=0.28)
    result = plan(wish, EFFORT, has=30, pair=("a", "b"), differences=DIFFERENCES)
    # statsmodels: 30 questions, see above.
    assert (result.needed, result.deviation, result.mixed) == (30, 0.28, None)
