"""How far an estimate would move had other units been drawn: percentile bootstrap intervals.

Reference: Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, isnan

from msgspec import Struct


class Interval(Struct, frozen=True):
    """The bounds, ``None`` where there are none, and the resamples that had no estimate.

    Those are left out of the bounds: a resample may, for example, hold one label only.
    """

    lower: float | None
    upper: float | None
    left_out: int


NO_INTERVAL = Interval(None, None, 0)


def interval(estimates: Sequence[float], *, confidence: float = 0.95) -> Interval:
    """The percentile interval of the estimates, one for each resample; NaN is not an estimate.

    Bounds: the ``(1 - c) / 2`` and ``(1 + c) / 2`` quantiles, *c* the confidence.
    """
    found = sorted(value for value in estimates if not isnan(value))
    if not found:
        return Interval(None, None, len(estimates))
    tail = (1 - confidence) / 2
    left_out = len(estimates) - len(found)
    return Interval(quantile(found, tail), quantile(found, 1 - tail), left_out)


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which `share` of the sorted values lie, between two by straight line.

    With *n* values it is at position ``share x (n - 1)``, counted from 0 (the method
    that numpy calls "linear"). `share` is 0 to 1; no values raise ``IndexError``.

    >>> quantile([1.0, 2.0, 4.0], 0.75)
    3.0
    """
    position = share * (len(ordered) - 1)
    below, above = ordered[floor(position)], ordered[ceil(position)]
    return below + (above - below) * (position - floor(position))
