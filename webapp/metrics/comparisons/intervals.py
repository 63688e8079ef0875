"""How far an estimate would move had other units been drawn: percentile bootstrap intervals.

Reference: Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

MIN_UNITS = 2
"""One unit resampled is always itself, which says nothing about others."""


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How an interval is made; the same settings and units give the same interval.

    `resamples` is how often as many units as there are get drawn with replacement, `seed`
    where the drawing starts, `confidence` the share of resamples between the bounds.
    """

    resamples: int = 2000
    seed: int = 20260301
    confidence: float = 0.95
    method: str = "percentile bootstrap over items"


@dataclass(frozen=True, slots=True)
class Interval:
    """The bounds, ``None`` where there are none, and the resamples that had no estimate.

    Those are left out of the bounds: a resample may, for example, hold one label only.
    """

    lower: float | None
    upper: float | None
    left_out: int


NO_INTERVAL = Interval(None, None, 0)


def resample(units: Counter[Any], bootstrap: Bootstrap) -> tuple[Counter[Any], ...]:
    """As many draws of the units, with replacement, as `bootstrap` says; none of under two.

    `units` counts equal units together. They are drawn in sorted order, so that the order
    in which they came changes nothing.
    """
    population = sorted(units.elements())
    if len(population) < MIN_UNITS:
        return ()
    draw = random.Random(bootstrap.seed)  # noqa: S311 - repeatable, not secret
    size = len(population)
    return tuple(Counter(draw.choices(population, k=size)) for _ in range(bootstrap.resamples))


def interval(
    resamples: Sequence[Counter[Any]],
    estimate: Callable[[Counter[Any]], float | None],
    *,
    confidence: float = 0.95,
) -> Interval:
    """The percentile interval of `estimate` over `resamples`; ``None`` is not an estimate.

    Bounds: the ``(1 - c) / 2`` and ``(1 + c) / 2`` quantiles, *c* the confidence.
    """
    found = sorted(value for value in map(estimate, resamples) if value is not None)
    if not found:
        return Interval(None, None, len(resamples))
    tail = (1 - confidence) / 2
    left_out = len(resamples) - len(found)
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
