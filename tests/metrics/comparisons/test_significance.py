"""The exact test of signs equals enumeration and scipy, and no p depends on a seed."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
import scipy  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from relevansi.metrics.comparisons import significance
from relevansi.metrics.comparisons.differences import SignedRank, signed_rank
from relevansi.metrics.comparisons.significance import exact_p, holm, randomisation_test, smallest_p

FRACTIONS = st.sampled_from([0.0, 0.0, 0.2, -0.2, 1 / 3, -1 / 2, 3 / 7 - 2 / 5, 1.0, -1.0, 0.79])
"""As precisions and reciprocal ranks differ: many zeros, small denominators."""


def enumerated(differences: list[float]) -> float:
    """Return the share of all signs whose sum is at least as far from 0."""
    observed = abs(sum(differences)) - 1e-9
    signs = [*product((1, -1), repeat=len(differences))]
    sums = (sum(map(float.__mul__, map(float, sign), differences)) for sign in signs)
    return sum(abs(sign) >= observed for sign in sums) / len(signs)


@given(st.lists(FRACTIONS | st.floats(-1, 1).map(lambda x: round(x, 6)), max_size=9))
def test_every_p_is_that_of_all_signs(differences: list[float]) -> None:
    result = randomisation_test(differences)

    assert result.p == pytest.approx(enumerated(differences), abs=1e-12)
    assert result.error == 0


@pytest.mark.parametrize("seed", range(4))
def test_the_test_is_scipys(seed: int) -> None:
    drawn = np.random.default_rng(seed)
    differences = [float(x) for x in drawn.integers(-5, 6, 11) / 5 + drawn.normal(0.1, 0.01, 11)]
    theirs = scipy.stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=np.inf
    )

    assert randomisation_test(differences).p == pytest.approx(theirs.pvalue, abs=1e-12)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([1.0] * 40, 2**-39),  # all + and all - of 2^40
        ([], 1.0),
        ([0.0, 0.0, 0.0], 1.0),
        ([0.1, 0.2, 0.3], 0.25),  # of the 8 signs, all + and all - reach 0.6; no other does
        ([0.3, -0.1, -0.2], 1.0),  # a sum of 0 but for rounding: every sign pattern counts
        ([0.0] * 21 + [0.8, 0.5, 2 / 3, 1.0], 0.125),  # four that differ, all one way
        ([0.0] * 20 + [1 / 3, 0.5, 2 / 3, 0.75, 0.8, 0.9, 1.0], 2 / 2**7),
    ],
)
def test_a_p_worked_out_by_hand(differences: list[float], p: float) -> None:
    assert randomisation_test(differences).p == p


def test_two_hundred_precisions_are_exact_too() -> None:
    draw = random.Random(5)
    differences = [draw.choice([0, 0.2, 0.4, -0.2, 1 / 3, -0.25, 0.6]) for _ in range(200)]
    result = randomisation_test(differences)

    # The normal approximation is good to a tenth here.
    distance = sum(differences) / sum(difference**2 for difference in differences) ** 0.5
    assert result.error == 0
    assert result.p == pytest.approx(2 * scipy.stats.norm.sf(abs(distance)), rel=0.1)


def test_a_p_is_drawn_only_where_the_sums_are_too_many_and_then_until_it_decides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    differences = [float(x) for x in np.random.default_rng(3).normal(0.18, 0.5, 16)]
    exact = randomisation_test(differences)
    significance._randomisation_test.cache_clear()
    monkeypatch.setattr(significance, "MAX_SUMS", 1000)
    monkeypatch.setattr(significance, "_DRAWS_AT_ONCE", 16 * 1000)
    drawn = randomisation_test(differences, pairs=3)
    significance._randomisation_test.cache_clear()

    assert exact.error == 0 < drawn.error
    assert drawn.p == pytest.approx(exact.p, abs=4 * drawn.error)
    for level in (0.05, 0.025, 0.05 / 3):
        assert abs(drawn.p - level) > 3 * drawn.error


def test_holm_by_hand() -> None:
    # 3 x 0.01, 2 x 0.03, then 1 x 0.04 raised to the step before.
    assert holm([0.04, 0.01, 0.03]) == (0.06, 0.03, 0.06)
    assert holm([0.5, 0.6]) == (1.0, 1.0)
    assert holm([None, 0.02, None]) == (None, 0.02, None)
    assert holm([]) == ()


@pytest.mark.parametrize("n", [0, 1, 2, 5, 20, 21, 101])
def test_of_equal_sizes_it_is_the_exact_binomial_test_of_scipy(n: int) -> None:
    """Successes: McNemar's test, and the sign test of contradictions."""
    for successes in range(n + 1):
        expected = scipy.stats.binomtest(successes, n).pvalue if n else 1.0
        assert exact_p([1] * successes + [-1] * (n - successes)) == pytest.approx(
            expected, abs=1e-12
        )
    assert smallest_p(n) == pytest.approx(exact_p([1] * n))


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        # Sizes 0.2 0.2 0.4: ranks 1.5 1.5 3; sums at most 1.5 in 3 of 8 signs.
        ([0.2, -0.2, 0.4, 0.0, 0.0], SignedRank(3, 2, 4.5, 1.5, 0.75)),
        ([0.3, -(0.1 + 0.2)], SignedRank(2, 0, 1.5, 1.5, 1.0)),
        ([0.0, 1e-12], SignedRank(0, 2, 0.0, 0.0, 1.0)),
        ([], None),
    ],
)
def test_signed_ranks_by_hand(differences: list[float], expected: SignedRank | None) -> None:
    assert signed_rank(differences) == expected


@pytest.mark.parametrize(("n", "steps"), [(1, None), (12, None), (60, None), (4, 3), (9, 3)])
def test_the_signed_rank_test_is_scipys_exact_one(n: int, steps: int | None) -> None:
    """With ties, scipy tries all 2^n signs of the mid-ranks, zeros left out."""
    for seed in range(3):
        draw = random.Random(seed)
        values = [draw.uniform(-1, 1) + 0.2 for _ in range(n)]
        if steps:
            values = [draw.randint(-steps, steps + 1) / steps for _ in range(n)]
        nonzero = [value for value in values if value]
        ours = signed_rank(values)
        assert ours is not None
        assert ours.zeros == len(values) - len(nonzero)
        if nonzero:
            method = scipy.stats.PermutationMethod(n_resamples=2**n) if steps else "exact"
            theirs = scipy.stats.wilcoxon(nonzero, method=method)
            assert ours.exact
            assert ours.p == pytest.approx(theirs.pvalue, abs=1e-9)
            assert min(ours.positive, ours.negative) == theirs.statistic or steps
