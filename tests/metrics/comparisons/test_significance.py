"""Intervals and tests are those of scipy, and every draw is the seed's."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from math import nan

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from webapp.metrics.comparisons import significance
from webapp.metrics.comparisons.differences import MOST_EXACT, SignedRank, sign_test, signed_rank
from webapp.metrics.comparisons.significance import (
    NO_INTERVAL,
    Bootstrap,
    Interval,
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


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([1.0] * 40, 1 / 10_001),  # 1 sign pattern in 2^39: no draw hits it, and p is never 0
        ([], 1.0),
        ([0.0, 0.0, 0.0], 1.0),
        ([0.0] * 40, 1.0),
        ([0.1, 0.2, 0.3], 0.25),  # of the 8 signs, all + and all - reach 0.6; no other does
        ([0.3, -0.1, -0.2], 1.0),  # a sum of 0 but for rounding: every sign pattern counts
    ],
)
def test_a_p_worked_out_by_hand(differences: list[float], p: float) -> None:
    assert one_test(differences).p == p


def test_a_weighted_mean_is_over_the_questions_that_have_a_value() -> None:
    # Every resample that has a value in the first column has mean 0.5 there, and 1 in the other.
    sample: list[list[float | None]] = [[0.5, None, 0.5], [1.0, 1.0, 1.0]]
    found, none = weighted_mean_intervals([0.4, 0.6], [sample, [[1.0], [1.0]]], SETTINGS)

    assert [found.lower, found.upper] == pytest.approx([0.8, 0.8])
    assert found.left_out == pytest.approx(10_000 / 27, rel=0.2)  # thrice the second: (1/3)^3
    assert none == NO_INTERVAL
    assert mean_intervals([[], [0.5]], SETTINGS) == (NO_INTERVAL, NO_INTERVAL)


def test_holm_by_hand() -> None:
    # 3 x 0.01, 2 x 0.03, then 1 x 0.04 raised to the step before.
    assert holm([0.04, 0.01, 0.03]) == (0.06, 0.03, 0.06)
    assert holm([0.5, 0.6]) == (1.0, 1.0)
    assert holm([None, 0.02, None]) == (None, 0.02, None)
    assert holm([]) == ()


@pytest.mark.parametrize("at_once", [30, 250])
def test_many_units_are_drawn_as_the_library_draws_them(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, population = random.Random(20260301), 40 * "a" + 7 * "b" + 53 * "c"
    drawn = [Counter(draw.choices(population, k=100)) for _ in range(150)]

    monkeypatch.setattr(significance, "DRAWS_AT_ONCE", at_once)
    times = significance.resample([40, 7, 53], Bootstrap(resamples=150))

    assert times.tolist() == [[one[kind] for kind in "abc"] for one in drawn]
    assert significance.resample([1], Bootstrap()).shape == (0, 1)  # under two units


def test_each_resample_draws_as_many_places_as_there_are() -> None:
    (rows,) = significance.times_drawn(5, Resampling(resamples=200))
    words = np.random.PCG64(20260301).random_raw(3)
    halves = [half for word in words.tolist() for half in (word & 0xFFFFFFFF, word >> 32)]

    assert rows.shape == (200, 5)
    assert set(rows.sum(axis=1)) == {5}
    places = Counter(half * 5 >> 32 for half in halves[:5])  # 32 bits give one of 5 places
    assert rows[0].tolist() == [places[place] for place in range(5)]


def test_signs_are_all_tried_where_they_are_few_and_drawn_where_they_are_many() -> None:
    (every,) = significance.signs(3, Resampling(resamples=8))
    (drawn,) = significance.signs(3, Resampling(resamples=7))
    bits = int(np.random.PCG64(20260301).random_raw(1)[0])
    first = bits.to_bytes(8, "little")[0]

    assert len({tuple(row) for row in every.tolist()}) == 8
    assert drawn.shape == (7, 3)
    assert drawn[0].tolist() == [1 - 2 * (first >> place & 1) for place in (7, 6, 5)]


@pytest.mark.parametrize("draw", [significance.times_drawn, significance.signs])
def test_chunks_draw_what_one_piece_draws(draw: object, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Resampling(resamples=300)
    whole = np.concatenate(list(draw(20, settings)))  # type: ignore[operator]
    monkeypatch.setattr(significance, "DRAWS_AT_ONCE", 64 * 20)
    pieces = list(draw(20, settings))  # type: ignore[operator]

    assert len(pieces) == 5  # 4 x 64 and 44 rows
    assert np.array_equal(np.concatenate(pieces), whole)


def test_resamples_without_an_estimate_are_left_out_and_counted() -> None:
    found = percentiles(np.array([nan, 3.0, 1.0, 2.0, nan]), Bootstrap(confidence=0.5))

    # Of 1, 2, 3 a quarter lies at position 0.5 and three quarters at 1.5.
    assert found == Interval(1.5, 2.5, left_out=2)
    assert percentiles(np.array([nan] * 3), Bootstrap()) == Interval(None, None, 3)


def differences(n: int, seed: int, *, steps: int | None = None) -> list[float]:
    """Differences of the kind two runs have; `steps` of them make ties and zeros."""
    draw = random.Random(seed)
    if steps is None:
        return [draw.uniform(-1, 1) + 0.2 for _ in range(n)]
    return [draw.randint(-steps, steps + 1) / steps for _ in range(n)]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        # Sizes 0.2 0.2 0.4: ranks 1.5 1.5 3; sums at most 1.5 in 3 of 8 signs.
        ([0.2, -0.2, 0.4, 0.0, 0.0], SignedRank(3, 2, 4.5, 1.5, 0.75, exact=True)),
        ([0.3, -(0.1 + 0.2)], SignedRank(2, 0, 1.5, 1.5, 1.0, exact=True)),
        ([0.0, 1e-12], SignedRank(0, 2, 0.0, 0.0, 1.0, exact=True)),
        ([], None),
    ],
)
def test_signed_ranks_by_hand(given: list[float], found: SignedRank | None) -> None:
    assert signed_rank(given) == found


@pytest.mark.parametrize(
    ("n", "steps"), [(1, None), (12, None), (MOST_EXACT, None), (4, 3), (11, 3)]
)
def test_the_signed_rank_test_is_scipys_exact_one(n: int, steps: int | None) -> None:
    """With ties, scipy tries all 2^n signs of the mid-ranks, zeros left out."""
    for seed in range(5):
        values = differences(n, seed, steps=steps)
        kept = [value for value in values if value]
        ours = signed_rank(values)
        assert ours is not None
        assert ours.zeros == len(values) - len(kept)
        if kept:
            method = stats.PermutationMethod(n_resamples=2**n) if steps else "exact"
            theirs = stats.wilcoxon(kept, method=method)
            assert ours.exact
            assert ours.p == pytest.approx(theirs.pvalue, abs=1e-9)
            assert min(ours.positive, ours.negative) == theirs.statistic or steps


@pytest.mark.parametrize("steps", [None, 4])
def test_of_many_it_is_scipys_approximation_with_both_corrections(steps: int | None) -> None:
    for seed in range(5):
        values = differences(80, seed, steps=steps)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = stats.wilcoxon(
                values, zero_method="wilcox", correction=True, method="asymptotic"
            )
        ours = signed_rank(values)
        assert ours is not None
        assert not ours.exact
        assert ours.p == pytest.approx(theirs.pvalue, abs=1e-9)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 20, 21, 44, 301])
def test_the_sign_test_is_the_exact_binomial_test_of_scipy(n: int) -> None:
    for one in range(n + 1):
        expected = stats.binomtest(one, n).pvalue if n else 1.0
        assert sign_test(one, n - one) == pytest.approx(expected, abs=1e-12)
