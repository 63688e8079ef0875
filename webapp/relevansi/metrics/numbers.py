"""Many numbers in little memory, with mean and percentiles, and the latency of answers by them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from math import fsum, isfinite
from typing import TypeGuard

from msgspec import Struct, field


class Numbers(Struct):
    """The numbers added, in 8 bytes each; ``None`` is no number and is left out.

    >>> latencies = Numbers()
    >>> for value in (400, None, 100, 300, 200):
    ...     latencies.add(value)
    >>> latencies.n, latencies.mean
    (4, 250.0)
    >>> latencies.at(0.5, 0.95)  # positions 1.5 and 2.85
    (250.0, 385.0)
    """

    _values: array[float] = field(default_factory=lambda: array("d"))

    def add(self, value: float | None) -> None:
        if value is not None:
            self._values.append(value)

    @property
    def n(self) -> int:
        return len(self._values)

    @property
    def mean(self) -> float | None:
        return fsum(self._values) / self.n if self.n else None

    def at(self, *shares: float) -> tuple[float | None, ...]:
        """The percentiles at these shares (0 to 1), linearly interpolated as spreadsheets do.

        At position share x (n - 1) of the sorted numbers (type 7 of Hyndman & Fan 1996); ``None``
        without numbers.
        """
        if not self.n:
            return (None,) * len(shares)
        ordered = sorted(self._values)
        percentiles = []
        for share in shares:
            place = share * (self.n - 1)
            below = ordered[int(place)]
            above = ordered[min(int(place) + 1, self.n - 1)]
            percentiles.append(below + (above - below) * (place % 1))
        return tuple(percentiles)


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
