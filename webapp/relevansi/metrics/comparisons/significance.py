"""Whether a paired difference is more than chance: the exact test of signs, and Holm's correction.

One test serves three data: applied to differences it is the randomisation test, to differences of
successes (-1, 0 and 1) McNemar's exact test, to signed ranks Wilcoxon's.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import lcm, sqrt
from typing import TYPE_CHECKING

from msgspec import Struct

from relevansi.metrics.intervals import LEVEL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MAX_SUMS = 1_000_000
"""With more distinct sums than this, p is estimated from random signs."""

MAX_DRAWS = 2**23
"""After so many draws the estimate is final, even with a level within its error."""

_TIE = 1e-9
"""Sums of differences nearer than this are equal: sums of floats depend on their order."""
_LARGEST_DENOMINATOR = 10_000
_DRAWS_AT_ONCE = 2**22
_SEED = 20260301
_ERRORS = 3
"""Standard errors that p lies from a level before it counts as above or below."""


class Randomisation(Struct, frozen=True):
    """A two-sided p-value; ``error`` is its standard error, 0 where it is exact."""

    p: float
    error: float = 0.0


def randomisation_test(differences: Sequence[float], *, pairs: int = 1) -> Randomisation:
    """Return the two-sided p-value of the sum of `differences` under random signs.

    The null hypothesis is that each difference is as likely as its opposite. Differences of 0 are
    dropped; without any p is 1. The others are whole numbers on their common denominator: the
    distribution of their sum over all signs follows by convolution, and p is the share of signs
    whose sum is at least as far from 0. Only where there are more than ``MAX_SUMS`` sums are signs
    drawn: ``p = (hits + 1) / (draws + 1)``, and more of them until p lies further than three
    standard errors from the levels that decide, those of Holm's correction over so many `pairs`.
    References: Smucker, Allan & Carterette (2007), A comparison of statistical significance tests
    for information retrieval evaluation. CIKM, 623-632; Pagano & Tritchler (1983), On obtaining
    permutation distributions in polynomial time. JASA 78, 435-440.

    >>> randomisation_test([0.2, 0.4, 0.6, 0.0])  # 2 of the 8 signs: all +, all -
    Randomisation(p=0.25, error=0.0)
    """
    nonzero = tuple(sorted(difference for difference in differences if abs(difference) > _TIE))
    return _randomisation_test(nonzero, pairs)


@lru_cache(maxsize=1024)  # a page, its pictures and its reports ask for the same
def _randomisation_test(differences: tuple[float, ...], pairs: int) -> Randomisation:
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    numerators = _whole_numbers(differences)
    if numerators is not None:
        return Randomisation(exact_p(numerators))
    # No common denominator: the distinct sums themselves, with the share of signs that give each.
    sizes, observed = np.abs(differences), abs(sum(differences)) - _TIE
    sums = np.zeros(1)
    shares = np.ones(1)
    for size in sizes:
        both_signs = np.round(np.concatenate([sums - size, sums + size]), 12)
        sums, places = np.unique(both_signs, return_inverse=True)
        shares = np.bincount(places, np.concatenate([shares, shares])) / 2
        if len(sums) > MAX_SUMS:
            return _estimate(sizes, observed, pairs)
    return Randomisation(min(1.0, float(shares[np.abs(sums) >= observed].sum())))


def _whole_numbers(differences: Sequence[float]) -> list[int] | None:
    """Return the numerators of the differences on their common denominator.

    ``None`` where they have no small one, or where the numerators have too many sums.
    """
    fractions = [Fraction(number).limit_denominator(_LARGEST_DENOMINATOR) for number in differences]
    pairs = zip(differences, fractions, strict=True)
    if any(abs(number - float(exact)) > 1e-12 for number, exact in pairs):
        return None
    denominator = lcm(*(number.denominator for number in fractions))
    numerators = [int(number * denominator) for number in fractions]
    return numerators if sum(map(abs, numerators)) < MAX_SUMS else None


def exact_p(differences: Sequence[int]) -> float:
    """Return the two-sided p-value of the sum of whole numbers, over all their signs.

    >>> exact_p([1, 1, 1, 1, 1]), exact_p([])
    (0.0625, 1.0)
    """
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    sizes = [abs(difference) for difference in differences]
    # The share of all signs by the sum of the numbers whose sign is +, from 0 to the largest.
    shares = np.zeros(sum(sizes) + 1)
    shares[0] = 1.0
    total = 0
    for size in sorted(sizes):
        halves = shares[: total + 1] / 2
        shares[: total + 1] = halves
        shares[size : size + total + 1] += halves
        total += size
    # A sum s of all has a positive part (total + s) / 2; the tail is that of -|s|.
    positive = (total - abs(sum(differences))) // 2
    tail = float(shares[: positive + 1].sum())
    # Of a sum of 0 the two tails overlap in the middle: all signs are as far from 0.
    return 1.0 if 2 * positive == total else min(1.0, 2 * tail)


def _estimate(sizes: Floats, observed: float, pairs: int) -> Randomisation:
    """Return p from random signs, drawn from one fixed seed: equal data, equal figures."""
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    stream, hits, draws = np.random.default_rng(_SEED), 0, 0
    levels = [LEVEL / number for number in range(1, pairs + 1)]
    rows = max(1, _DRAWS_AT_ONCE // len(sizes))
    while True:
        signs = 2.0 * stream.integers(0, 2, (rows, len(sizes)), dtype=np.int8) - 1
        hits += int((np.abs(signs @ sizes) >= observed).sum())
        draws += rows
        p = (hits + 1) / (draws + 1)
        error = sqrt(p * (1 - p) / draws)
        is_decided = all(abs(p - level) > _ERRORS * error for level in levels)
        if is_decided or draws >= MAX_DRAWS:
            return Randomisation(p, error)


def smallest_p(n: int) -> float:
    """Return the smallest p-value that `n` questions can have, all differing one way.

    >>> smallest_p(5)
    0.0625
    """
    return min(1.0, 2.0 ** (1 - n))


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return the p-values, each made larger so that all may be read together (Holm's step-down).

    The i-th smallest of *m* becomes ``max over j <= i of min(1, (m - j + 1) x p_j)``. A
    missing value stays missing and is not counted in *m*.
    Reference: Holm (1979), A simple sequentially rejective multiple test procedure.
    Scandinavian Journal of Statistics 6, 65-70.

    >>> holm([0.01, 0.04, 0.03])
    (0.03, 0.06, 0.06)
    """
    ordered = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for step, (p, place) in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - step) * p))
        adjusted[place] = highest
    return tuple(adjusted)
