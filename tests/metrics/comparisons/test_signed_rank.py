"""Wilcoxon's signed-rank test equals scipy's, with ties and zeros, exact and approximate."""

from __future__ import annotations

import random
import warnings

import pytest
from scipy import stats  # type: ignore[import-untyped]

from webapp.metrics.comparisons.differences import MOST_EXACT, SignedRank, signed_rank


def drawn(n: int, seed: int, *, steps: int | None = None) -> list[float]:
    """Differences of the kind two runs have; `steps` of them make ties and zeros."""
    draw = random.Random(seed)
    if steps is None:
        return [draw.uniform(-1, 1) + 0.2 for _ in range(n)]
    return [draw.randint(-steps, steps + 1) / steps for _ in range(n)]


def test_ties_and_zeros_are_ranked_as_by_hand() -> None:
    """Sizes 0.2 0.2 0.4: ranks 1.5 1.5 3. W+ = 4.5, W- = 1.5; sums at most 1.5 in 3 of 8 signs."""
    assert signed_rank([0.2, -0.2, 0.4, 0.0, 0.0]) == SignedRank(3, 2, 4.5, 1.5, 0.75, exact=True)


def test_no_differences_give_no_test_and_none_but_zeros_give_1() -> None:
    assert signed_rank([]) is None
    assert signed_rank([0.0, 1e-12]) == SignedRank(0, 2, 0.0, 0.0, 1.0, exact=True)


def test_sums_in_another_order_are_still_ties() -> None:
    tied = signed_rank([0.3, -(0.1 + 0.2)])
    assert tied is not None
    assert (tied.positive, tied.negative) == (1.5, 1.5)


@pytest.mark.parametrize("n", [1, 2, 5, 12, 25, MOST_EXACT])
def test_without_ties_it_is_scipys_exact_test(n: int) -> None:
    for seed in range(5):
        values = drawn(n, seed)
        ours, theirs = signed_rank(values), stats.wilcoxon(values, method="exact")
        assert ours is not None
        assert ours.exact
        assert ours.p == pytest.approx(theirs.pvalue, abs=1e-9)
        assert min(ours.positive, ours.negative) == theirs.statistic


@pytest.mark.parametrize("n", [4, 8, 11])
def test_with_ties_and_zeros_it_is_scipys_test_over_all_signs(n: int) -> None:
    """Scipy's permutation method tries all 2^n signs of the mid-ranks, zeros left out."""
    for seed in range(4):
        values = drawn(n, seed, steps=3)
        kept = [value for value in values if value]
        if not kept:
            continue
        every = stats.PermutationMethod(n_resamples=2**n)
        theirs = stats.wilcoxon(kept, method=every)
        ours = signed_rank(values)
        assert ours is not None
        assert ours.zeros == len(values) - len(kept)
        assert ours.p == pytest.approx(theirs.pvalue, abs=1e-9)


@pytest.mark.parametrize("steps", [None, 4])
def test_of_many_it_is_scipys_approximation_with_both_corrections(steps: int | None) -> None:
    for seed in range(5):
        values = drawn(80, seed, steps=steps)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = stats.wilcoxon(
                values, zero_method="wilcox", correction=True, method="asymptotic"
            )
        ours = signed_rank(values)
        assert ours is not None
        assert not ours.exact
        assert ours.p == pytest.approx(theirs.pvalue, abs=1e-9)
