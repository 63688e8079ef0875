"""The confidence sequence holds at every look; its capitals are those of the method."""

from __future__ import annotations

from itertools import pairwise
from math import exp, inf, log, sqrt

import numpy as np
import pytest

from webapp.metrics.comparisons.significance import NO_INTERVAL, Interval
from webapp.metrics.planning.sequences import (
    StoppingRule,
    confidence_sequence,
    log_capitals,
)
from webapp.metrics.planning.value_range import ValueRange

VALUES = [0.6, 0.2, 1.0, 0.4, 0.8, 0.6, 0.2, 0.4, 0.0, 0.8]
# confseq (betting.betting_mart at commit 0275a66, N=20, with lambda_predmix_eb at alpha / 2): the
# capital against each mean after 1, 5 and 10 of VALUES, in which theta = 1/2 is contained.
CAPITALS = {
    0.1: [1.75, inf, inf],
    0.3: [0.75, 4.076504027161922, 19.469298126216763],
    0.5: [0.55, 0.689477162241202, 0.32767078925974186],
    0.75: [0.65, 1.2884725400457664, 39.554006070549256],
    0.9: [1.2500000000000002, 19.76366730633804, inf],
}


@pytest.mark.parametrize("mean", CAPITALS)
def test_the_capitals_are_those_of_confseq(mean: float) -> None:
    steps = list(log_capitals(np.array([VALUES]), 20, np.array([[mean]])))
    found = [exp(float(steps[i][0, 0])) / 2 for i in (0, 4, 9)]
    assert found == pytest.approx(CAPITALS[mean], rel=1e-9)


def test_the_first_stake_and_capital_are_those_worked_out_by_hand() -> None:
    # lambda = sqrt(2 log 40 / (1/4 x 1 x log 2)), more than 1/2 / m: 1/2 / 0.25 = 2 is staked.
    assert sqrt(2 * log(40) / (0.25 * log(2))) > 2
    (step,) = log_capitals(np.array([[1.0]]), 4, np.array([[0.25]]))
    assert exp(step[0, 0]) == pytest.approx(1 + 2 * (1.0 - 0.25))


def test_a_mean_that_can_no_longer_be_reached_is_out() -> None:
    # After 1, 1 of 4 the mean is at least 1/2.
    steps = list(log_capitals(np.array([[1.0, 1.0, 0.0]]), 4, np.array([[0.4, 0.5]])))
    assert steps[-1][0, 0] == inf
    assert steps[-1][0, 1] < inf


def test_all_questions_give_the_mean_itself() -> None:
    found = confidence_sequence(VALUES, len(VALUES))
    assert found[-1].lower == pytest.approx(0.5)
    assert found[-1].upper == pytest.approx(0.5)


def test_the_interval_never_widens_and_holds_the_mean_of_what_is_left() -> None:
    found = confidence_sequence(VALUES, 20)
    for before, after in pairwise(found):
        assert before.lower is not None
        assert after.lower is not None
        assert before.upper is not None
        assert after.upper is not None
        assert after.lower >= before.lower - 1e-12
        assert after.upper <= before.upper + 1e-12


def test_a_question_without_a_value_is_in_no_mean() -> None:
    found = confidence_sequence([None, 0.5, None, 0.5], 4)
    assert found[0] == NO_INTERVAL
    assert (found[-1].lower, found[-1].upper) == (0.5, 0.5)


def test_differences_are_scaled_from_their_own_range() -> None:
    shares = confidence_sequence(VALUES, 20)
    apart = confidence_sequence([2 * v - 1 for v in VALUES], 20, bounds=ValueRange(-1, 1))
    for one, other in zip(shares, apart, strict=True):
        assert one.lower is not None
        assert one.upper is not None
        assert (other.lower, other.upper) == pytest.approx((2 * one.lower - 1, 2 * one.upper - 1))


def test_the_mean_is_in_the_interval_at_every_look_in_most_samples() -> None:
    """400 random orders of 40 values of which 10 have none: all looks right in 95 % or more."""
    rng = np.random.default_rng(3)
    values = rng.choice([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], 40)
    values[rng.permutation(40)[:10]] = np.nan
    mean = float(np.nanmean(values))
    orders = np.array([rng.permutation(values) for _ in range(400)])
    steps = log_capitals(orders, 40, np.array([[mean]]))
    worst = np.max(np.concatenate([step[:, 0][None] for step in steps]), axis=0)
    assert (worst < log(40)).mean() >= 0.95 - 3 * sqrt(0.95 * 0.05 / 400)


def test_a_sample_stops_when_its_interval_leaves_zero_or_is_narrow() -> None:
    rule = StoppingRule(width=0.2)
    assert rule.outcome(Interval(0.01, 0.5, 0)) == "differs"
    assert rule.outcome(Interval(-0.5, -0.01, 0)) == "differs"
    assert rule.outcome(Interval(-0.1, 0.1, 0)) == "narrow"
    assert rule.outcome(Interval(-0.2, 0.1, 0)) is None
    assert rule.outcome(NO_INTERVAL) is None
    assert StoppingRule().outcome(Interval(-0.001, 0.001, 0)) is None
