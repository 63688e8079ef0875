"""Many numbers in little memory: their mean and their percentiles."""

from __future__ import annotations

from array import array
from math import fsum

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
