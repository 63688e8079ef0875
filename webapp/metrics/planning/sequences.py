"""Confidence sequences for a mean over questions drawn at random without replacement.

An interval of a sequence holds after every question, however often one looks, so a study may stop
the moment it shows enough. The questions come in one random order of all *N*, without strata.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log
from typing import TYPE_CHECKING

from msgspec import Struct

from webapp.metrics.comparisons.significance import NO_INTERVAL, Interval
from webapp.metrics.planning.value_range import ValueRange

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PARTS = 1000
"""The range of the mean is looked at in so many parts; bounds are rounded outwards to them."""
TRUNCATION = 0.5
"""The largest share of the capital that is staked on one question."""


class StoppingRule(Struct, frozen=True):
    """When a sample has shown enough: the interval leaves 0, or is at most `width` wide."""

    width: float | None = None

    def outcome(self, interval: Interval) -> str | None:
        """Return "differs" or "narrow" where the interval ends the sampling."""
        if interval.lower is None or interval.upper is None:
            return None
        if interval.lower > 0 or interval.upper < 0:
            return "differs"
        if self.width is not None and interval.upper - interval.lower <= self.width + 1e-12:
            return "narrow"
        return None


def confidence_sequence(
    values: Sequence[float | None],
    population: int,
    *,
    bounds: ValueRange | None = None,
    confidence: float = 0.95,
) -> tuple[Interval, ...]:
    """Return the interval of the mean over all `population` questions after each of `values`.

    Values are in the order of drawing. ``None`` is a question that has no value (no precision, as
    its list is rightly empty); the mean is over the questions that have one, in the population
    too. The method is hedged capital betting: a mean *m* (with the values scaled to 0..1) stays in
    the interval as long as neither of two capitals that bet against it has reached
    ``2 / (1 - confidence)``. These are ``prod_i (1 +- lambda_i (z_i - c_i))`` with
    ``z_i = x_i - m`` (0 without a value), ``c_i = -sum_{j<i} z_j / (N - i + 1)``, which is what
    z_i is on average if *m* is right, and lambda_i from the values before. Means that the
    questions not drawn can no longer reach leave the interval too, so all *N* give a point.
    Before the first value there is no interval.
    Reference: Waudby-Smith & Ramdas (2020), Confidence sequences for sampling without replacement.
    NeurIPS 33; (2024), Estimating means of bounded random variables by betting. JRSS B 86, 1-27.

    >>> confidence_sequence([1.0, 0.0], 2)[-1]
    Interval(lower=0.5, upper=0.5, left_out=0)
    """
    import numpy as np

    bounds = bounds or ValueRange()
    known = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    scaled = (known - bounds.low) / (bounds.high - bounds.low)
    grid = np.linspace(0, 1, PARTS + 1)
    limit = log(2 / (1 - confidence))
    kept = np.ones(PARTS + 1, dtype=bool)
    found: list[Interval] = []
    total, count, nearest = 0.0, 0, 0
    capitals = log_capitals(scaled[None], population, grid[None], confidence=confidence)
    for step, (value, logs) in enumerate(zip(scaled, capitals, strict=True), 1):
        if (kept & (logs[0] < limit)).any():
            kept &= logs[0] < limit
            nearest = int(np.argmin(np.where(kept, logs[0], np.inf)))
        if not np.isnan(value):
            total, count = total + value, count + 1
        if not count:
            found.append(NO_INTERVAL)
            continue
        places = np.flatnonzero(kept) if kept.any() else np.array([nearest])
        left = population - step
        lower = max(grid[max(places[0] - 1, 0)], total / (count + left))
        upper = min(grid[min(places[-1] + 1, PARTS)], (total + left) / (count + left))
        width = bounds.high - bounds.low
        low, high = (bounds.low + width * float(end) for end in sorted((lower, upper)))
        found.append(Interval(low, high, 0))
    return tuple(found)


def log_capitals(
    values: Floats, population: int, means: Floats, *, confidence: float = 0.95
) -> Iterator[Floats]:
    """Yield after each column of `values` the logarithm of the larger capital against each mean.

    `values` (in 0..1, NaN without one) has a row for each sample, `means` a row for each sample
    or one for all. A mean that cannot be right any more has an infinite capital.
    """
    import numpy as np

    rows, size = values.shape
    stakes = _stakes(values, confidence)
    total, count = np.zeros((rows, 1)), np.zeros((rows, 1))
    rising = np.zeros((rows, means.shape[1]))
    falling = rising.copy()
    for i in range(size):
        left = population - i
        centre = means - (total - means * count) / left  # what the next value is on average
        possible = (centre >= -1e-12) & (centre <= 1 + 1e-12)
        x = values[:, i : i + 1]
        present = ~np.isnan(x)
        deviation = np.where(present, x, means) - centre
        up = np.minimum(stakes[:, i : i + 1], TRUNCATION / np.maximum(centre, 1e-12))
        down = np.minimum(stakes[:, i : i + 1], TRUNCATION / np.maximum(1 - centre, 1e-12))
        rising += np.where(possible, np.log1p(np.where(possible, up * deviation, 0)), np.inf)
        falling += np.where(possible, np.log1p(np.where(possible, -down * deviation, 0)), np.inf)
        total = total + np.where(present, x, 0)
        count = count + present
        yield np.maximum(rising, falling)


def _stakes(values: Floats, confidence: float) -> Floats:
    """Return lambda for each value, from the values before it: the predictable plug-in.

    ``sqrt(2 log(2 / alpha) / (s^2 t log(1 + t)))``, with the running variance s^2, which begins
    as if one value of mean 1/2 and variance 1/4 had been seen. A question without a value changes
    neither mean nor variance.
    """
    import numpy as np

    present = ~np.isnan(values)
    known = np.where(present, values, 0.0)
    seen = np.cumsum(present, axis=1)
    mean = (0.5 + np.cumsum(known, axis=1)) / (seen + 1)
    squares = np.where(present, (known - mean) ** 2, 0.0)
    variance = (0.25 + np.cumsum(squares, axis=1)) / (seen + 1)
    before = np.concatenate([np.full((len(values), 1), 0.25), variance[:, :-1]], axis=1)
    t = np.arange(1, values.shape[1] + 1)
    stakes: Floats = np.sqrt(2 * log(2 / (1 - confidence)) / (before * t * np.log(1 + t)))
    return stakes
