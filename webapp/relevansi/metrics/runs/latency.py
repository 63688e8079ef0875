"""How long a chatbot took to answer: percentiles of the durations that a file states."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import TypeGuard

from msgspec import Struct

from relevansi.metrics.numbers import Numbers


class Latency(Struct, frozen=True):
    """Milliseconds over the `n` answers whose duration is known."""

    p50: float
    p95: float
    mean: float
    n: int


def latency(values_stated: Iterable[object]) -> Latency | None:
    """Median, 95th percentile (linear interpolation) and mean of the durations in `values_stated`.

    A value that is not a number from 0 up is not a duration and is left out; without any
    duration ``None`` is returned. One duration is every percentile.

    >>> latency([1000, None, 3000, "slow"])
    Latency(p50=2000.0, p95=2900.0, mean=2000.0, n=2)
    """
    durations = Numbers()
    for value in values_stated:
        if _is_duration(value):
            durations.add(value)
    (p50, p95), mean = durations.at(0.5, 0.95), durations.mean
    if p50 is None or p95 is None or mean is None:
        return None
    return Latency(p50, p95, mean, durations.n)


def _is_duration(value: object) -> TypeGuard[float]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isfinite(value) and value >= 0
