from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from msgspec.structs import asdict

from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.planning import sampling
from webapp.metrics.planning.sampling import (
    SampleDraw,
    Stratum,
    ValueRange,
    allocation,
    collapsed,
    random_order,
    sampled_mean,
)


def test_an_order_has_every_question_once_and_repeats_whatever_order_they_came_in() -> None:
    order = random_order(range(1, 101), 7)
    assert sorted(order) == list(range(1, 101))
    assert order == random_order(range(100, 0, -1), 7)
    assert order != random_order(range(1, 101), 8)


def test_every_question_is_drawn_about_equally_often() -> None:
    first = Counter(random_order(range(10), seed)[0] for seed in range(2000))
    # 200 each; the standard deviation is sqrt(2000 x 0.1 x 0.9) = 13.4.
    assert all(abs(first[question] - 200) < 4 * 13.4 for question in range(10))


def test_the_shares_are_those_of_largest_remainders() -> None:
    assert allocation({"a": 5, "b": 3, "c": 2}, 4) == {"a": 2, "b": 1, "c": 1}  # 2.0, 1.2, 0.8
    assert allocation({"a": 5, "b": 3, "c": 2}, 3) == {"a": 1, "b": 1, "c": 1}  # 1.5, 0.9, 0.6
    assert allocation({"a": 1, "b": 1, "c": 1}, 2) == {"a": 1, "b": 1, "c": 0}  # by name
    assert allocation({"a": 2, "b": 1}, 9) == {"a": 2, "b": 1}
    assert allocation({}, 3) == {}


def test_a_mean_weighs_strata_by_their_size() -> None:
    # 6 x 0.5 + 2 x 1.0 over 8.
    found = sampled_mean([Stratum(6, (0.25, 0.75)), Stratum(2, (1.0, 1.0))])
    assert found.value == pytest.approx(0.625)
    assert (found.values, found.drawn, found.of) == (4, 4, 8)


def test_the_order_of_the_questions_changes_no_digit_of_the_mean() -> None:
    # Added one after the other 1/3, 2/3, 0.1 and 0.6 give 1.7 or 1.7000000000000002.
    orders = permutations((1 / 3, 2 / 3, 0.1, 0.6))
    assert len({sampled_mean([Stratum(9, values)]).value for values in orders}) == 1


@pytest.mark.parametrize(
    ("strata", "value", "reason", "interval"),
    [
        # a: 2 of 4 have a value, so 3 of its 6; b: both, 2. (3 x 0.5 + 2 x 1) / 5.
        ([Stratum(6, (0.25, None, 0.75, None)), Stratum(2, (1.0, 1.0))], 0.7, None, True),
        ([Stratum(6, (None, None))], None, "no_value", False),
        ([Stratum(3, (0.0, 0.5, 1.0))], 0.5, None, True),
        ([Stratum(3, (0.5,))], 0.5, "too_few", False),
    ],
)
def test_a_mean_is_of_the_questions_with_a_value(
    strata: list[Stratum], value: float | None, reason: str | None, interval: bool
) -> None:
    found = sampled_mean(strata)
    assert found.value == pytest.approx(value)
    assert found.reason == reason
    assert (found.interval.lower is not None) is interval
    if found.drawn == found.of:
        assert (found.interval.lower, found.interval.upper) == (value, value)


def test_strata_with_few_questions_drawn_count_together() -> None:
    strata = [Stratum(6, (0.1, 0.2)), Stratum(2, (0.3,)), Stratum(1, ()), Stratum(2, (1,))]
    assert collapsed(strata, fewest=2) == (Stratum(6, (0.1, 0.2)), Stratum(5, (0.3, 1)))
    assert collapsed(strata) == (Stratum(11, (0.3, 1, 0.1, 0.2)),)
    lonely = [Stratum(6, (0.1, 0.2)), Stratum(2, (0.3,))]
    assert collapsed(lonely, fewest=2) == (Stratum(8, (0.3, 0.1, 0.2)),)
    assert collapsed([Stratum(4, (0.1, 0.2, 0.3)), Stratum(2, ())], fewest=1) == (
        Stratum(6, (0.1, 0.2, 0.3)),
    )


def test_the_interval_is_that_of_student_with_two_further_questions() -> None:
    """Values 1, 1, 0.5, 1 of 8 questions, and 0 and 1 beside them."""
    found = sampled_mean([Stratum(8, (1.0, 1.0, 0.5, 1.0))], Resampling(resamples=20_000))
    # Mean of the six 0.75, squares 4 x 0.25^2 + 0.25^2 + 0.75^2 = 0.875, of the mean 0.875 / 30.
    reach = 2.570582 * ((1 - 4 / 8) * 0.875 / 30) ** 0.5  # t quantile 0.975 with 5 degrees: 2.5706
    # From 0.875 the middle moves by sqrt(1/2 x 4/5) of 0.75 - 0.875.
    middle = 0.875 + (0.5 * 4 / 5) ** 0.5 * (0.75 - 0.875)
    assert found.interval.lower == pytest.approx(middle - reach, abs=0.005)
    assert found.interval.upper == 1.0  # cut


def test_equal_values_still_have_an_interval_within_the_range_of_the_figure() -> None:
    """Five questions without a difference do not show that none of fifty differs."""
    found = sampled_mean([Stratum(50, (0.0,) * 5)], bounds=ValueRange(-1, 1)).interval
    # Squares 2, of the mean 2 / (7 x 6); t quantile 0.975 with 6 degrees of freedom: 2.4469.
    reach = 2.446912 * (0.9 * 2 / 42) ** 0.5
    assert found.lower == pytest.approx(-reach, rel=0.03)
    assert found.upper == pytest.approx(reach, rel=0.03)


def test_the_interval_of_strata_has_the_spread_within_them() -> None:
    """Two strata that do not overlap: what lies between them is not uncertain."""
    generator = np.random.default_rng(5)
    low, high = (tuple(generator.normal(at, 0.05, 200).tolist()) for at in (0.2, 0.8))
    found = sampled_mean([Stratum(4000, low), Stratum(4000, high)]).interval
    together = sampled_mean([Stratum(8000, low + high)]).interval
    # In each 0.05^2, and for the further questions 1/402 of 0.2^2 + 0.8^2; 1.966: Student's t.
    spread = (0.95 * (0.0025 + 2 * 0.34 / 402) / 400) ** 0.5
    assert found.lower is not None
    assert found.upper is not None
    assert found.upper - found.lower == pytest.approx(2 * 1.966 * spread, rel=0.1)
    assert together.lower is not None
    assert found.lower > together.lower + 0.02


CATEGORIES = {n: "b" if n % 3 == 0 else "a" for n in range(1, 13)}


def numbers(*made: SampleDraw, seed: int = 7) -> list[int]:
    return list(sampling.drawn_again(CATEGORIES, made, seed))


def test_without_strata_a_sample_is_the_beginning_of_one_random_order() -> None:
    order = random_order(tuple(CATEGORIES), 7)

    assert numbers(SampleDraw(5)) == list(order[:5])
    assert numbers(SampleDraw(2), SampleDraw(1), SampleDraw(2)) == list(order[:5])
    assert numbers(SampleDraw(99)) == list(order)


def test_each_category_has_its_share_and_one_can_have_more() -> None:
    # Of 12 questions 8 are of "a": 3 have 2 and 1; two more of "b", then 2 more in proportion.
    shares = [SampleDraw(3, stratified=True)]
    assert Counter(CATEGORIES[one] for one in numbers(*shares)) == {"a": 2, "b": 1}
    shares.append(SampleDraw(2, stratified=True, category="b"))
    assert Counter(CATEGORIES[one] for one in numbers(*shares)) == {"a": 2, "b": 3}
    assert numbers(*shares)[:3] == numbers(*shares[:1])
    shares.append(SampleDraw(2, stratified=True))
    # 7 in proportion are 4.67 and 2.33, so 5 and 2: "b" keeps its 3.
    assert Counter(CATEGORIES[one] for one in numbers(*shares)) == {"a": 5, "b": 3}


def test_draws_are_read_as_they_were_written() -> None:
    made = (SampleDraw(3, stratified=True), SampleDraw(2, category="b"))

    assert sampling.from_settings({"draws": [asdict(one) for one in made]}) == made
    assert sampling.from_settings({"size": 4}) == (SampleDraw(4),)
    assert sampling.from_settings({"size": 4, "stratified": True}) == (
        SampleDraw(4, stratified=True),
    )


@pytest.mark.parametrize(
    "wrong",
    [3, "draws", [3], [{}], [{"n": -1}], [{"n": True}], [{"n": "3"}], [{"n": 3, "stratified": 1}],
     [{"n": 3, "category": 4}], [{"n": 1}] * (sampling.MOST_DRAWS + 1)],
)  # fmt: skip
def test_other_values_are_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="draws"):
        sampling.from_settings({"draws": wrong})
