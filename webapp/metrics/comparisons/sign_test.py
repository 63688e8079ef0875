"""Whether two counts lean to one side more than a fair coin would."""

from __future__ import annotations

from math import comb


def sign_test(one: int, other: int) -> float:
    """The exact two-sided p-value of `one` against `other` (the sign test).

    Null hypothesis: each case favours either side with probability 1/2. ``p = min(1, 2 x (sum
    of C(n, i) for i from 0 to k) / 2^n)``: *n* the cases, *k* the smaller count. Ties
    are not cases and are left out beforehand. Without cases the result is 1.
    Reference: Conover (1999), Practical Nonparametric Statistics, section 3.4.

    >>> sign_test(0, 5)  # 2 x 1/32
    0.0625
    """
    if min(one, other) < 0:
        raise ValueError("counts are 0 or more")
    n = one + other
    tail = sum(comb(n, i) for i in range(min(one, other) + 1))
    ways: int = 2**n
    return min(1.0, 2 * tail / ways)
