from __future__ import annotations

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from webapp.metrics.comparisons.significance import (
    NO_INTERVAL,
    Randomisation,
    Resampling,
    holm,
    mean_intervals,
    percentiles,
    randomisation_tests,
    weighted_mean_intervals,
)

SETTINGS = Resampling()


def one_test(differences: list[float]) -> Randomisation:
    (found,) = randomisation_tests([differences], SETTINGS)
    return found


def sample(size: int, seed: int, shift: float = 0.05) -> list[float]:
    """Return differences as they come about: many ties, steps of a fifth."""
    drawn = np.random.default_rng(seed)
    return [
        float(x) for x in (drawn.integers(-5, 6, size) / 5 * drawn.integers(0, 2, size)) + shift
    ]


@pytest.mark.parametrize("seed", range(4))
def test_the_exact_test_is_scipys(seed: int) -> None:
    differences = sample(11, seed)
    theirs = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=np.inf
    )

    ours = one_test(differences)

    assert ours.exact
    assert ours.p == pytest.approx(theirs.pvalue, abs=1e-12)


@pytest.mark.parametrize("size", [30, 200])
def test_the_drawn_test_is_scipys_within_chance(size: int) -> None:
    differences = sample(size, seed=size)
    theirs = stats.permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",
        n_resamples=40_000,
        rng=np.random.default_rng(1),
    ).pvalue

    ours = one_test(differences)

    # Five standard errors of the two estimates together.
    error = 5 * (theirs * (1 - theirs) * (1 / 10_000 + 1 / 40_000)) ** 0.5
    assert not ours.exact
    assert ours.p == pytest.approx(theirs, abs=error)


def test_a_sample_s_p_is_the_same_beside_others_of_its_size_and_of_another() -> None:
    one, other, small = sample(30, 1), sample(30, 2), sample(9, 3)

    together = randomisation_tests([one, small, other], SETTINGS)

    assert together == (one_test(one), one_test(small), one_test(other))


def test_a_drawn_p_is_never_zero() -> None:
    # All of 40 differences on one side: 1 sign pattern in 2^39, so no draw hits it.
    assert one_test([1.0] * 40).p == 1 / 10_001


@pytest.mark.parametrize("differences", [[], [0.0], [0.0, 0.0, 0.0], [0.0] * 40])
def test_no_difference_speaks_against_nothing(differences: list[float]) -> None:
    assert one_test(differences).p == 1.0


def test_sums_that_differ_by_rounding_alone_are_equal() -> None:
    # 0.1 + 0.2 and 0.3: of the 8 signs, all + and all - reach 0.6; so does no other.
    assert one_test([0.1, 0.2, 0.3]).p == 0.25
    # +0.3 -0.1 -0.2 = 0 is as near to 0 as the observed sum: every sign pattern counts.
    assert one_test([0.3, -0.1, -0.2]).p == 1.0


@pytest.mark.parametrize("size", [8, 30, 200])
def test_the_interval_is_scipys_within_chance(size: int) -> None:
    values = [float(x) for x in np.random.default_rng(size).normal(0.1, 0.3, size)]
    theirs = stats.bootstrap(
        (values,),
        np.mean,
        method="percentile",
        n_resamples=40_000,
        rng=np.random.default_rng(1),
    ).confidence_interval

    (ours,) = mean_intervals([values], SETTINGS)

    # A 2.5 % quantile of 10,000 draws has a standard error of about 0.027 standard deviations.
    tolerance = 5 * 0.03 * float(np.std(values)) / size**0.5
    assert ours.lower == pytest.approx(theirs.low, abs=tolerance)
    assert ours.upper == pytest.approx(theirs.high, abs=tolerance)
    assert ours.left_out == 0


def test_the_same_seed_gives_the_same_interval_and_another_one_another() -> None:
    values = [float(x) for x in np.random.default_rng(2).normal(size=30)]

    once, again = mean_intervals([values, values], SETTINGS)

    assert once == again == mean_intervals([values], SETTINGS)[0]
    assert once != mean_intervals([values], Resampling(seed=1))[0]


def test_many_questions_are_drawn_in_parts_and_still_all() -> None:
    values = sample(20_000, seed=3)

    (found,) = mean_intervals([values], Resampling(resamples=200))

    error = float(np.std(values)) / 20_000**0.5
    assert found.lower == pytest.approx(np.mean(values) - 1.96 * error, abs=error)
    assert found.upper == pytest.approx(np.mean(values) + 1.96 * error, abs=error)


def test_one_value_or_none_has_no_interval() -> None:
    assert [(i.lower, i.upper) for i in mean_intervals([[], [0.5]], SETTINGS)] == [(None, None)] * 2


def test_a_weighted_mean_is_over_the_questions_that_have_a_value() -> None:
    # Every resample that has a value in the first column has mean 0.5 there, and 1 in the other.
    sample: list[list[float | None]] = [[0.5, None, 0.5], [1.0, 1.0, 1.0]]
    found, none = weighted_mean_intervals([0.4, 0.6], [sample, [[1.0], [1.0]]], SETTINGS)

    assert [found.lower, found.upper] == pytest.approx([0.8, 0.8])
    assert found.left_out == pytest.approx(10_000 / 27, rel=0.2)  # thrice the second: (1/3)^3
    assert none == NO_INTERVAL


def test_percentiles_are_numpys_and_leave_out_what_is_no_number() -> None:
    found = percentiles(np.array([*range(41), np.nan]), SETTINGS)

    assert [found.lower, found.upper] == pytest.approx([1.0, 39.0])  # 0.025 x 40, 0.975 x 40
    assert found.left_out == 1


def test_holm_by_hand() -> None:
    # 3 x 0.01, 2 x 0.03, then 1 x 0.04 raised to the step before.
    assert holm([0.04, 0.01, 0.03]) == (0.06, 0.03, 0.06)
    assert holm([0.5, 0.6]) == (1.0, 1.0)
    assert holm([None, 0.02, None]) == (None, 0.02, None)
    assert holm([]) == ()
