"""The distributions that a plan needs: Student's t, the non-central t and chi-square.

The regularised incomplete beta and gamma functions give all of them. Values agree with scipy to
1e-10; the product itself needs no scipy.
Reference: Press et al. (2007), Numerical Recipes, 3rd edition, sections 6.2 and 6.4.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import erfc, exp, isclose, lgamma, log, log1p, sqrt

_MOST_STEPS = 10_000
_TINY = 1e-300
_PRECISION = 1e-16
_WIDE = 9.0
"""Poisson weights beyond so many standard deviations (and 40 counts) add less than 1e-16."""


def normal_cdf(z: float) -> float:
    """P(Z <= z) of the standard normal distribution.

    >>> normal_cdf(0)
    0.5
    """
    return 0.5 * erfc(-z / sqrt(2))


def incomplete_beta(a: float, b: float, x: float) -> float:
    """I_x(a, b), the regularised incomplete beta function, by its continued fraction (Lentz)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    front = exp(_beta_front(a, b, x)) / a
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, _MOST_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        step = 1.0
        for term in (even, odd):
            d = 1 / _not_zero(1 + term * d)
            c = _not_zero(1 + term / c)
            step = c * d
            found *= step
        if abs(step - 1) < _PRECISION * 10:
            break
    return front * found


def incomplete_gamma(a: float, x: float) -> float:
    """P(a, x), the regularised lower incomplete gamma function: a series, or a fraction."""
    if x <= 0:
        return 0.0
    front = exp(a * log(x) - x - lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        for n in range(1, _MOST_STEPS):
            term *= x / (a + n)
            total += term
            if term < total * _PRECISION:
                break
        return front * total
    b = x + 1 - a
    c, d = 1 / _TINY, 1 / b
    found = d
    for n in range(1, _MOST_STEPS):
        term = -n * (n - a)
        b += 2
        d = 1 / _not_zero(term * d + b)
        c = _not_zero(b + term / c)
        found *= c * d
        if abs(c * d - 1) < _PRECISION * 10:
            break
    return 1 - front * found


def t_cdf(t: float, df: float) -> float:
    """P(T <= t) of Student's t with `df` degrees of freedom.

    >>> t_cdf(0, 5)
    0.5
    """
    tail = 0.5 * incomplete_beta(df / 2, 0.5, df / (df + t * t))
    return 1 - tail if t > 0 else tail


@cache
def t_quantile(p: float, df: float) -> float:
    """Return the t below which Student's t lies with probability `p`, 0 < p < 1.

    >>> round(t_quantile(0.975, 29), 6)
    2.04523
    """
    if p < 0.5:
        return -t_quantile(1 - p, df)
    tail = 1 - p  # precise far out, where the distribution function itself is all but 1
    high = 2.0
    while 0.5 * incomplete_beta(df / 2, 0.5, df / (df + high * high)) > tail:
        high *= 2
    return root(lambda t: tail - 0.5 * incomplete_beta(df / 2, 0.5, df / (df + t * t)), 0, high)


def chi_square_cdf(x: float, df: float) -> float:
    """P(X <= x) of the chi-square distribution with `df` degrees of freedom."""
    return incomplete_gamma(df / 2, x / 2)


@cache
def chi_square_quantile(p: float, df: float) -> float:
    """Return the x below which chi-square lies with probability `p`, 0 < p < 1.

    >>> round(chi_square_quantile(0.2, 29), 6)
    22.475052
    """
    high = df + 1.0
    while chi_square_cdf(high, df) < p:
        high *= 2
    return root(lambda x: chi_square_cdf(x, df) - p, 0, high)


def noncentral_t_cdf(t: float, df: float, shift: float) -> float:
    """P(T <= t) of the non-central t with `df` degrees of freedom and non-centrality `shift`.

    For t >= 0 it is ``Phi(-shift) + 1/2 sum_j [p_j I_x(j + 1/2, df/2) + q_j I_x(j + 1, df/2)]``,
    ``x = t^2 / (df + t^2)``, with Poisson weights ``p_j`` of mean ``shift^2 / 2`` and ``q_j`` the
    same half a step further. For t < 0 both signs are turned.
    Reference: Lenth (1989), Algorithm AS 243. Applied Statistics 38, 185-189.

    >>> round(noncentral_t_cdf(2.0, 10, 0.0), 9) == round(t_cdf(2.0, 10), 9)
    True
    """
    if t < 0:
        return 1 - noncentral_t_cdf(-t, df, -shift)
    x = t * t / (df + t * t)
    if x == 0 or shift == 0:
        return normal_cdf(-shift) if x == 0 else t_cdf(t, df)
    mean = shift * shift / 2
    reach = _WIDE * sqrt(mean) + 40
    first, last = max(0, int(mean - reach)), int(mean + reach)
    sign = 1 if shift > 0 else -1
    total = _weighed_betas(0.5, mean, first, last, x, df)
    total += sign * _weighed_betas(1.0, mean, first, last, x, df)
    return min(1.0, max(0.0, normal_cdf(-shift) + total / 2))


def _weighed_betas(start: float, mean: float, first: int, last: int, x: float, df: float) -> float:
    """Sum of weight_j x I_x(j + start, df/2) over j; downwards, where each step adds."""
    b, total = df / 2, 0.0
    found = incomplete_beta(last + start, b, x)
    a = last + start - 1  # I_x(a, b) = I_x(a + 1, b) + x^a (1 - x)^b / (a B(a, b))
    step = exp(_beta_front(a, b, x)) / a
    for j in range(last, first - 1, -1):
        if j < last:
            found += step
            step *= a / (x * (a + b - 1)) if j > first else 0
            a -= 1
        total += exp(-mean + (j + start - 0.5) * log(mean) - lgamma(j + start + 0.5)) * found
    return total


def _beta_front(a: float, b: float, x: float) -> float:
    """The logarithm of x^a (1 - x)^b / B(a, b)."""
    return a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a rising function is 0 between `low` and `high`, to the last digits.

    False position with the Illinois rule; every third step halves, so that it always ends.
    """
    at_low, at_high = function(low), function(high)
    if at_low >= 0:
        return low
    for step in range(200):
        if at_high == at_low or isclose(low, high, rel_tol=1e-15, abs_tol=1e-300):
            break
        middle = (low + high) / 2
        if step % 3:
            middle = (low * at_high - high * at_low) / (at_high - at_low)
        if not low < middle < high:
            break
        value = function(middle)
        if value == 0:
            return middle
        if value < 0:
            low, at_low, at_high = middle, value, at_high / 2 if step % 3 else at_high
        else:
            high, at_high, at_low = middle, value, at_low / 2 if step % 3 else at_low
    return (low + high) / 2
