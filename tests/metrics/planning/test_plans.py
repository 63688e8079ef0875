"""A plan: what is known of two runs, or entered, becomes questions, verdicts and hours."""

from __future__ import annotations

import pytest

from webapp.metrics.planning.plans import RatingEffort, RatingPlanWish, plan
from webapp.metrics.planning.power import questions_needed, smallest_difference

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
    # statsmodels: 30 questions, see test_power.
    assert (found.needed, found.deviation, found.spread) == (30, 0.28, None)
    assert (found.simulated, found.needed_upper, found.curve[0].upper) == (None, None, None)


def test_without_a_pair_and_a_deviation_nothing_is_planned() -> None:
    found = plan(RatingPlanWish("mrr", 0.15), EFFORT, has=30)
    assert (found.deviation, found.needed, found.shows, found.curve) == (None, None, None, ())
