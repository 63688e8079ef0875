"""People with a machine's help, against ppi-python 0.2.3 (numpy 2.4.6, scipy 1.17.1).

That package needs numba, so its values are a table here: ``ppi_mean_pointestimate(y, f, u)``,
``ppi_mean_ci(y, f, u, alpha=0.05)`` and ``ppi_mean_ci(y, f, u, alpha=0.05, lam=0)``.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from relevansi.metrics.intervals import estimate_interval
from relevansi.metrics.planning.assisted import MeanEstimate, Unassisted, assisted_mean
from relevansi.metrics.planning.sampling import sampled_mean

Values = Sequence[float]

BY_PPI_PYTHON: dict[str, tuple[Values, Values, Values, Values, Values]] = {
    "a machine that helps": (
        [1, 0.8, 0.6, 0.4, 1, 0.2, 0.6, 0],
        [1, 0.8, 0.4, 0.4, 0.8, 0.2, 0.8, 0.2],
        [0.6, 0.8, 1, 0.2, 0.4, 0.4, 1, 0.8, 0, 0.6, 0.2, 1],
        (0.5792623619477912, 0.40374186608149876, 0.7547828578140837),
        (0.3406480070980591, 0.8093519929019408),
    ),
    "differences of two runs": (
        [0.2, -0.4, 0, 0.6, 0.2, 0],
        [0.4, -0.2, 0, 0.4, 0.2, -0.2],
        [0.2, 0.2, 0, -0.4, 0.6, 0.2, 0, -0.2, 0.4, 0.2],
        (0.11062639821029083, -0.07366048929810767, 0.29491328571868936),
        (-0.14004558381776555, 0.3400455838177655),
    ),
    "a machine that says the opposite": (
        [1, 0, 1, 0, 0.5],
        [0, 1, 0, 1, 0.5],
        [1, 0, 1, 1, 0, 0.5, 0],
        (0.5, 0.10800720309198925, 0.8919927969080108),
        (0.10800720309198925, 0.8919927969080108),
    ),
    "one question not sampled": (
        [1, 0, 1, 1],
        [1, 0, 0, 1],
        [1],
        (0.7916666666666666, 0.38951236290881885, 1.1938209704245144),
        (0.3256553497214356, 1.1743446502785644),
    ),
    "people who are of one mind": ([1, 1, 1], [1, 0, 1], [1, 0, 0, 1], (1.0, 1.0, 1.0), (1.0, 1.0)),
}


@pytest.mark.parametrize("case", BY_PPI_PYTHON)
def test_estimates_and_variances_equal_those_of_ppi_python(case: str) -> None:
    """Its intervals are normal ones: the value and 1.96 standard errors to either side."""
    people, machine, unsampled, assisted, alone = BY_PPI_PYTHON[case]

    mean = assisted_mean(people, machine, unsampled)

    assert mean.assisted is not None
    assert mean.alone is not None
    helped = (mean.assisted.value, *_normal(mean.assisted))
    assert helped == pytest.approx(assisted, rel=0, abs=1e-9)
    assert _normal(mean.alone) == pytest.approx(alone, rel=0, abs=1e-9)


def _normal(estimate: MeanEstimate) -> tuple[float, float]:
    reach = 1.959963984540054 * estimate.variance**0.5
    return estimate.value - reach, estimate.value + reach


def test_the_intervals_are_those_of_every_estimate() -> None:
    mean = assisted_mean([1, 0, 1, 0.5], [1, 0, 1, 1], [1, 1, 0, 0])

    assert mean.assisted is not None
    assert mean.alone is not None
    value, variance = mean.assisted.value, mean.assisted.variance
    assert mean.assisted.interval == estimate_interval(value, 4 * variance, 4)
    assert mean.alone.interval == sampled_mean([1, 0, 1, 0.5], 8).interval


def test_people_of_one_mind_still_have_an_interval_and_save_no_share() -> None:
    mean = assisted_mean([0, 0, 0], [0, 0, 0], [0, 0], is_difference=True)

    assert mean.alone is not None
    assert mean.alone.interval == sampled_mean([0, 0, 0], 5, is_difference=True).interval
    assert mean.alone.interval.upper != 0
    assert (mean.share_saved, mean.correlation) == (None, None)


def test_weight_variance_and_share_saved_are_those_of_the_formulas() -> None:
    # y: mean 5/8. f: mean 3/4. cov = (3/32 + 15/32 + 3/32 - 1/32) / 4 = 5/32.
    # All f: five 1 and three 0, variance 8 x 5/8 x 3/8 / 7 = 15/56. l = 5/32 / (2 x 15/56) = 7/24.
    mean = assisted_mean([1, 0, 1, 0.5], [1, 0, 1, 1], [1, 1, 0, 0])

    assert mean.weight == pytest.approx(7 / 24)
    # y - l f: 17/24, 0, 17/24, 5/24, mean 39/96; variance of l f over N: (7/24)^2 / 4.
    values = [17 / 24, 0, 17 / 24, 5 / 24]
    spread = sum((value - 39 / 96) ** 2 for value in values) / 4
    expected = (7 / 24) ** 2 / 4 / 4 + spread / 4
    assert mean.assisted is not None
    assert mean.assisted.value == pytest.approx(39 / 96 + 7 / 48)
    assert mean.assisted.variance == pytest.approx(expected)
    # People alone: ((3/8)^2 + (5/8)^2 + (3/8)^2 + (1/8)^2) / 4 / 4 = 11/256.
    assert mean.share_saved == pytest.approx(1 - expected / (11 / 256))
    # Correlation: 5/32 / sqrt(11/64 x 3/16).
    assert mean.correlation == pytest.approx(5 / 32 / (11 / 64 * 3 / 16) ** 0.5)


@pytest.mark.parametrize(
    ("people", "machine", "unsampled", "why", "alone"),
    [
        ([], [], [1, 0], Unassisted.FEW_SAMPLED, False),
        ([1], [1], [1, 0], Unassisted.FEW_SAMPLED, False),
        ([1, 0], [1, 0], [], Unassisted.NONE_UNSAMPLED, True),
        ([1, 0], [1, 1], [1, 1], Unassisted.MACHINE_CONSTANT, True),
        ([1, 0], [0.1, 0.1], [0.1] * 7, Unassisted.MACHINE_CONSTANT, True),
        ([1, 0], [1, None], [1, 0], Unassisted.MACHINE_OPEN, True),
        ([1, 0], [1, 0], [1, None], Unassisted.MACHINE_OPEN, True),
    ],
)
def test_where_a_machine_cannot_help_there_is_a_reason_and_no_number(
    people: Sequence[float],
    machine: Sequence[float | None],
    unsampled: Sequence[float | None],
    why: Unassisted,
    alone: bool,
) -> None:
    mean = assisted_mean(people, machine, unsampled)

    assert mean.why is why
    assert (mean.assisted, mean.weight, mean.share_saved) == (None, None, None)
    assert (mean.alone is not None) is alone


def test_a_machine_that_says_the_opposite_gets_no_weight() -> None:
    mean = assisted_mean([1, 0, 1, 0, 0.5], [0, 1, 0, 1, 0.5], [1, 0, 1, 1])

    assert (mean.weight, mean.share_saved) == (0, 0)
    assert mean.correlation == pytest.approx(-1)


SHARES = st.integers(0, 20).map(lambda parts: parts / 20)
SAMPLED = st.lists(st.tuples(SHARES, SHARES), min_size=2, max_size=15)
UNSAMPLED = st.lists(SHARES, min_size=1, max_size=15)


@given(SAMPLED, UNSAMPLED)
def test_people_alone_are_their_mean_and_a_machine_without_weight_changes_nothing(
    sampled: list[tuple[float, float]], unsampled: list[float]
) -> None:
    people, machine = zip(*sampled, strict=True)
    mean = assisted_mean(people, machine, unsampled)

    assert mean.alone is not None
    assert mean.alone.value == pytest.approx(sum(people) / len(people))
    if mean.assisted is not None and mean.weight == 0:
        assert mean.assisted.value == pytest.approx(mean.alone.value)


@given(st.lists(SHARES, min_size=2, max_size=15), st.integers(1, 5))
def test_a_machine_that_agrees_is_weighed_by_the_share_of_questions_it_adds(
    people: list[float], times: int
) -> None:
    assume(len(set(people)) > 1)
    mean = assisted_mean(people, people, people * times)

    assert mean.assisted is not None
    assert mean.assisted.value == pytest.approx(sum(people) / len(people))
    # cov / var: divided by n and by n + N - 1, of equal values.
    of = len(people) * (times + 1)
    assert mean.weight == pytest.approx((of - 1) / of * times / (times + 1))
    assert mean.correlation == pytest.approx(1)
    assert mean.share_saved is not None
    assert mean.share_saved > 0


@given(SAMPLED, UNSAMPLED, st.sampled_from([-0.5, 0.25, 1.0]))
def test_a_machine_that_is_off_by_the_same_amount_everywhere_helps_as_much(
    sampled: list[tuple[float, float]], unsampled: list[float], shift: float
) -> None:
    people, machine = zip(*sampled, strict=True)
    mean = assisted_mean(people, machine, unsampled)
    assume(mean.assisted is not None)
    moved = assisted_mean(people, [f + shift for f in machine], [f + shift for f in unsampled])

    assert moved.assisted is not None
    assert mean.assisted is not None
    assert moved.assisted.value == pytest.approx(mean.assisted.value)
    assert moved.assisted.interval.lower == pytest.approx(mean.assisted.interval.lower)
    assert 0 <= (mean.weight or 0) <= 1
