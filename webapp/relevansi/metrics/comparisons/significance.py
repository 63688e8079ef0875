"""Whether a paired difference is more than chance: the exact test of signs, and Holm's correction.

One test serves: of differences it is the randomisation test, of successes (differences of -1, 0
and 1) McNemar's, of signed ranks Wilcoxon's.
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

MOST_SUMS = 1_000_000
"""With more different sums than these p is drawn."""
MOST_DRAWS = 2**23
"""A p that is still too near to its level then stays with the error that it has."""

_TIE = 1e-9
"""Two sums of differences nearer than this are equal: floats add up in different orders."""
_LARGEST_DENOMINATOR = 10_000
_DRAWS_AT_ONCE = 2**22
_SEED = 20260301
_ERRORS = 3


class Randomisation(Struct, frozen=True):
    """A two-sided p-value; ``error`` is its standard error, 0 where it is exact."""

    p: float
    error: float = 0.0


def randomisation_test(differences: Sequence[float], *, pairs: int = 1) -> Randomisation:
    """How often chance alone gives a sum as far from 0, were the sign of each difference a coin's.

    Differences of 0 say nothing and are dropped; of none p is 1. The others are whole numbers on
    their common denominator: the distribution of their sum over all signs follows by convolution,
    and p is the share of signs whose sum is at least as far from 0. Only where there are more than
    ``MOST_SUMS`` sums are signs drawn: ``p = (hits + 1) / (draws + 1)``, and more of them until p
    lies further than three standard errors from the levels that decide, those of Holm's correction
    over so many `pairs`.
    References: Smucker, Allan & Carterette (2007), A comparison of statistical significance tests
    for information retrieval evaluation. CIKM, 623-632; Pagano & Tritchler (1983), On obtaining
    permutation distributions in polynomial time. JASA 78, 435-440.

    >>> randomisation_test([0.2, 0.4, 0.6, 0.0])  # 2 of the 8 signs: all +, all -
    Randomisation(p=0.25, error=0.0)
    """
    rounded = tuple(sorted(difference for difference in differences if abs(difference) > _TIE))
    return _randomisation_test(rounded, pairs)


@lru_cache(maxsize=1024)  # a page, its pictures and its reports ask for the same
def _randomisation_test(differences: tuple[float, ...], pairs: int) -> Randomisation:
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    if (numerators := _whole_numbers(differences)) is not None:
        return Randomisation(exact_p(numerators))
    sizes, observed = np.abs(differences), abs(sum(differences)) - _TIE
    sums = np.zeros(1)
    shares = np.ones(1)
    for size in sizes:
        both = np.round(np.concatenate([sums - size, sums + size]), 12)
        sums, of = np.unique(both, return_inverse=True)
        shares = np.bincount(of, np.concatenate([shares, shares])) / 2
        if len(sums) > MOST_SUMS:
            return _drawn(sizes, observed, pairs)
    return Randomisation(min(1.0, float(shares[np.abs(sums) >= observed].sum())))


def _whole_numbers(differences: Sequence[float]) -> list[int] | None:
    """The differences on their common denominator; ``None`` where their sums are too many."""
    fractions = [Fraction(number).limit_denominator(_LARGEST_DENOMINATOR) for number in differences]
    pairs = zip(differences, fractions, strict=True)
    if any(abs(number - float(exact)) > 1e-12 for number, exact in pairs):
        return None
    denominator = lcm(*(number.denominator for number in fractions))
    numerators = [int(number * denominator) for number in fractions]
    return numerators if sum(map(abs, numerators)) < MOST_SUMS else None


def exact_p(differences: Sequence[int]) -> float:
    """The two-sided p-value of whole numbers, by the distribution of their sum over all signs.

    >>> exact_p([1, 1, 1, 1, 1]), exact_p([])
    (0.0625, 1.0)
    """
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    sizes = [abs(difference) for difference in differences]
    shares = np.zeros(sum(sizes) + 1)  # of the sums of those whose sign is +
    shares[0] = 1.0
    highest = 0
    for size in sorted(sizes):
        added = shares[: highest + 1] / 2
        shares[: highest + 1] = added
        shares[size : size + highest + 1] += added
        highest += size
    beyond = (highest - abs(sum(differences))) // 2  # the smaller of its two sums
    tail = float(shares[: beyond + 1].sum())
    return 1.0 if 2 * beyond == highest else min(1.0, 2 * tail)


def _drawn(sizes: Floats, observed: float, pairs: int) -> Randomisation:
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
        if draws >= MOST_DRAWS or all(abs(p - level) > _ERRORS * error for level in levels):
            return Randomisation(p, error)


def smallest_p(n: int) -> float:
    """The smallest p-value that `n` questions can have, all differing one way.

    >>> smallest_p(5)
    0.0625
    """
    return min(1.0, 2.0 ** (1 - n))


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """The p-values, each made larger so that all may be read together (Holm's step-down).

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
