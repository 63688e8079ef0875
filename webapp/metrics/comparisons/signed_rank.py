"""Wilcoxon's signed-rank test of paired differences, beside the randomisation test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import erfc, sqrt

from msgspec import Struct

MOST_EXACT = 50
"""With more differences that are not 0 the normal approximation takes over."""


class SignedRank(Struct, frozen=True):
    """The two-sided test over ``n`` differences that are not 0.

    ``positive`` and ``negative`` are the sums of the ranks of differences above and below 0,
    ``zeros`` counts the differences that were left out.
    """

    n: int
    zeros: int
    positive: float
    negative: float
    p: float
    exact: bool


def signed_rank(differences: Iterable[float]) -> SignedRank | None:
    """The signed-rank test of paired `differences`; ``None`` without any.

    Differences of 0 are left out, as Wilcoxon did (Pratt ranks them and leaves them out
    then). The others are ranked by their size, equal sizes by the mean of their ranks. Null
    hypothesis: each sign is a coin's. Exact up to ``MOST_EXACT`` differences, ties included:
    the rank sum under all ``2^n`` signs. Above, the normal approximation with variance
    ``n (n + 1) (2n + 1) / 24 - sum over ties of (t^3 - t) / 48`` and the continuity correction
    of 0.5. Nothing but zeros gives 1.
    Reference: Wilcoxon (1945), Individual comparisons by ranking methods. Biometrics
    Bulletin 1(6), 80-83.

    >>> signed_rank([0.25, 0.5, 0.75, 0.0])  # ranks 1, 2, 3; all + and all - of 8 signs
    SignedRank(n=3, zeros=1, positive=6.0, negative=0.0, p=0.25, exact=True)
    """
    rounded = [round(difference, 9) for difference in differences]
    if not rounded:
        return None
    kept = [difference for difference in rounded if difference]
    sizes = Counter(abs(difference) for difference in kept)
    doubled = _doubled_ranks(sizes)
    ranks = [doubled[abs(difference)] for difference in kept]
    positive = sum(rank for rank, difference in zip(ranks, kept, strict=True) if difference > 0)
    smaller = min(positive, sum(ranks) - positive)
    exact = len(kept) <= MOST_EXACT
    return SignedRank(
        n=len(kept),
        zeros=len(rounded) - len(kept),
        positive=positive / 2,
        negative=(sum(ranks) - positive) / 2,
        p=_exact(ranks, smaller) if exact else _approximate(sizes, smaller / 2),
        exact=exact,
    )


def _doubled_ranks(sizes: Counter[float]) -> dict[float, int]:
    """Twice the mid-rank of each size, which is a whole number."""
    found, below = {}, 0
    for size in sorted(sizes):
        found[size] = 2 * below + sizes[size] + 1
        below += sizes[size]
    return found


def _exact(ranks: Sequence[int], smaller: int) -> float:
    """Twice the share of all signs whose rank sum is at most the smaller of the two."""
    ways = [1] + [0] * smaller
    for rank in ranks:
        for total in range(smaller, rank - 1, -1):
            ways[total] += ways[total - rank]
    share: float = 2 * sum(ways) / 2 ** len(ranks)
    return min(1.0, share)


def _approximate(sizes: Counter[float], smaller: float) -> float:
    n = sizes.total()
    ties = sum(count**3 - count for count in sizes.values())
    deviation = sqrt(n * (n + 1) * (2 * n + 1) / 24 - ties / 48)
    distance = n * (n + 1) / 4 - smaller
    return erfc(max(0.0, distance - 0.5) / deviation / sqrt(2)) if distance else 1.0
