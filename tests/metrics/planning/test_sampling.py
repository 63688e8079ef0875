"""A sample is the beginning of one random order, and its mean has the interval of every figure."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest

from relevansi.metrics.intervals import difference_interval, mean_interval
from relevansi.metrics.planning.sampling import random_order, sampled_mean


def test_the_order_is_the_seeds_whatever_order_the_questions_come_in() -> None:
    order = random_order(range(1, 101), 7)
    assert sorted(order) == [*range(1, 101)]
    assert order == random_order(range(100, 0, -1), 7)
    assert order != random_order(range(1, 101), 8)


def test_every_question_comes_first_about_as_often() -> None:
    first = Counter(random_order(range(10), seed)[0] for seed in range(2000))
    assert min(first.values()) > 140  # 200 each; five standard errors are 67
    assert max(first.values()) < 267


def test_the_order_of_the_questions_changes_no_digit_of_the_mean() -> None:
    # Added one after the other 1/3, 2/3, 0.1 and 0.6 give 1.7 or 1.7000000000000002.
    orders = permutations((1 / 3, 2 / 3, 0.1, 0.6))
    assert len({sampled_mean(values, 9).value for values in orders}) == 1


def test_the_half_widths_are_times_the_root_of_the_share_not_drawn() -> None:
    values = [1.0, 1.0, 0.5, 1.0]
    result, plain = sampled_mean(values, 8), mean_interval(values)
    assert plain.lower is not None
    assert result.value == 0.875
    assert result.interval.lower == pytest.approx(0.875 - 0.5**0.5 * (0.875 - plain.lower))


def test_a_mean_is_of_the_questions_with_a_value() -> None:
    result = sampled_mean([0.25, None, 0.75, None], 40)
    assert (result.value, result.values, result.drawn, result.of) == (0.5, 2, 4, 40)
    nothing = sampled_mean([None, None], 6)
    assert (nothing.value, nothing.interval.lower, nothing.values) == (None, None, 0)
    assert sampled_mean([0.5], 3).interval.lower is None


def test_all_questions_drawn_are_a_point_and_equal_values_of_some_are_none() -> None:
    everything = sampled_mean([0.0, 0.5, 1.0], 3).interval
    assert (everything.lower, everything.upper) == (0.5, 0.5)

    interval = sampled_mean([0.0] * 5, 50, is_difference=True).interval
    plain = difference_interval([0.0] * 5)
    assert interval.upper == pytest.approx((1 - 5 / 50) ** 0.5 * (plain.upper or 0))
    assert interval.lower == -(interval.upper or 0)
