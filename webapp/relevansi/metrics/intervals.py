"""The 95% intervals of every figure and difference: one rule, which draws nothing.

A mean over questions has Wilson's interval, a mean of paired differences Tango's. Both ask which
means the questions seen would not contradict, with the variance that each such mean implies; so
an interval is never a point, and stays within the range of the figure. They are made for values
that are 0 or 1. Values between have a smaller variance:

- of a mean m with variance v by the factor ``f = (n v + 1/2) / (n m (1 - m) + 1/2)``: Wilson's
  interval with ``n / f`` questions, the number of zeros and ones that would tell as much;
- of a difference by the typical size ``k = (sum d^2 + 0.1) / (sum |d| + 0.1)`` of those that are
  not 0: Tango's interval of d / k, times k.

The 1/2, which one value at either end of the range would add, and the 0.1 speak for values that
nobody has seen: equal values alone do not show that none differs. Values that are 0 or 1 have
f = k = 1, which is Wilson's and Tango's own. ``docs/coverage.md`` has how often the intervals hold.

References: Wilson (1927), JASA 22, 209-212; Tango (1998), Statistics in Medicine 17, 891-908;
Franco et al. (2019), Journal of Survey Statistics and Methodology 7, 334-364 (Wilson's interval
with an effective number of observations).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import fsum, sqrt
from statistics import NormalDist, fmean

from msgspec import Struct

CONFIDENCE = 0.95
LEVEL = 0.05
"""A test is significant where its p, corrected, is at most this."""

METHOD = "score: Wilson for a figure, Tango for a paired difference"
"""The rule by its name, for files."""

_QUANTILE = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
_UNSEEN = 0.5
_UNSEEN_DIFFERENCE = 0.1
_FEWEST = 2
_HALVINGS = 50


class Interval(Struct, frozen=True):
    """The bounds, ``None`` where fewer than two questions say nothing of others."""

    lower: float | None
    upper: float | None

    def of_sample(self, value: float, share: float) -> Interval:
        """The interval of a sample without replacement, which is a `share` of all there are.

        Its half widths around `value` are times ``sqrt(1 - share)``.

        >>> Interval(0.5, 0.875).of_sample(0.75, 0.75)
        Interval(lower=0.625, upper=0.8125)
        """
        if self.lower is None or self.upper is None:
            return self
        reach = sqrt(1 - share)
        return Interval(value - reach * (value - self.lower), value + reach * (self.upper - value))


NO_INTERVAL = Interval(None, None)


def mean_interval(values: Sequence[float], *, highest: float = 1.0) -> Interval:
    """The interval of the mean of `values`, which lie between 0 and `highest`.

    >>> round(mean_interval([1.0] * 10).lower, 4)  # Wilson: n / (n + 1.96^2)
    0.7225
    """
    n = len(values)
    if n < _FEWEST:
        return NO_INTERVAL
    mean = fmean(values)
    variance = fsum((value - mean) ** 2 for value in values) / n
    return estimate_interval(mean, variance, n, highest=highest)


def estimate_interval(
    mean: float, variance: float, n: int, *, lowest: float = 0.0, highest: float = 1.0
) -> Interval:
    """The interval of an estimate from `n` units whose values have the `variance` (by n).

    An estimate that is no mean of them has the variance of its linearised values.
    """
    if n < _FEWEST:
        return NO_INTERVAL
    width = highest - lowest
    m = min(1.0, max(0.0, (mean - lowest) / width))
    scatter = m * (1 - m)
    factor = (n * variance / width**2 + _UNSEEN) / (n * scatter + _UNSEEN)
    k = _QUANTILE**2 * factor / n
    reach = sqrt(k * scatter + k * k / 4)
    lower, upper = ((m + k / 2 + side * reach) / (1 + k) for side in (-1, 1))
    return Interval(lowest + width * max(0.0, lower), lowest + width * min(1.0, upper))


def difference_interval(differences: Sequence[float], *, highest: float = 1.0) -> Interval:
    """The interval of the mean of paired `differences`, which lie within plus or minus `highest`.

    >>> round(difference_interval([0.0] * 10).upper, 4)  # 1.96^2 / (n + 1.96^2)
    0.2775
    """
    return _difference_interval(tuple(differences), highest)


@lru_cache(maxsize=1024)  # a page, its pictures and its reports ask for the same
def _difference_interval(differences: tuple[float, ...], highest: float) -> Interval:
    if len(differences) < _FEWEST:
        return NO_INTERVAL
    sizes = [abs(difference) / highest for difference in differences]
    typical = fsum([*(size * size for size in sizes), _UNSEEN_DIFFERENCE])
    typical /= fsum([*sizes, _UNSEEN_DIFFERENCE])
    unit = typical * highest
    gained = fsum(difference for difference in differences if difference > 0) / unit
    lost = fsum(-difference for difference in differences if difference < 0) / unit
    upper = _tango_limit(gained, lost, len(differences))
    lower = -_tango_limit(lost, gained, len(differences))
    return Interval(unit * lower, unit * upper)


def _tango_limit(gained: float, lost: float, n: int) -> float:
    """The largest difference that Tango's score does not reject: `gained` less `lost` of `n`."""
    low, high = (gained - lost) / n, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _score(gained, lost, n, middle) <= _QUANTILE:
            low = middle
        else:
            high = middle
    return high


def _score(gained: float, lost: float, n: int, difference: float) -> float:
    """How many standard errors the observed difference lies below `difference` (Tango 1998)."""
    b = -gained - lost + (2 * n - gained + lost) * difference
    c = -lost * difference * (1 - difference)
    losing = (sqrt(max(0.0, b * b - 8 * n * c)) - b) / (4 * n)  # its likeliest share under it
    variance = n * (2 * losing + difference * (1 - difference))
    return (n * difference - gained + lost) / sqrt(variance) if variance > 0 else 0.0
