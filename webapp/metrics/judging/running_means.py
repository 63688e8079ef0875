"""Means and percentiles of any number of values, one by one and in any order.

Sums are exact (Shewchuk's partial sums), so the mean is the correctly rounded one and does
not depend on the order in which the values came.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from heapq import merge
from itertools import islice

from msgspec import Struct, field

_BLOCK = 50_000


class Mean(Struct):
    """The mean of the values added; ``None`` is not a value and is left out.

    >>> quality = Mean()
    >>> for value in (1, None, 0.5):
    ...     quality.add(value)
    >>> quality.value, quality.n
    (0.75, 2)
    """

    n: int = 0
    _partials: list[float] = field(default_factory=list)

    def add(self, value: float | None) -> None:
        """Take `value` into the mean."""
        if value is None:
            return
        self.n += 1
        self._partials = _added(self._partials, float(value))

    @property
    def value(self) -> float | None:
        """The mean, ``None`` without values."""
        return math.fsum(self._partials) / self.n if self.n else None


class Percentiles(Struct):
    """Percentiles of the values added, kept as bare numbers (8 bytes each).

    Sorted block by block and merged, so that a million of them never become Python objects.
    """

    _values: array[float] = field(default_factory=lambda: array("d"))

    def add(self, value: float | None) -> None:
        """Take `value` in; ``None`` is not a value."""
        if value is not None:
            self._values.append(float(value))

    @property
    def n(self) -> int:
        """The number of values."""
        return len(self._values)

    def at(self, *shares: float) -> tuple[float | None, ...]:
        """The values below which these shares (0 to 1) lie, linearly interpolated.

        At position share x (n - 1) of the sorted values, as numpy and spreadsheets do;
        ``None`` without values.

        >>> latencies = Percentiles()
        >>> for value in (400, 100, 300, 200):
        ...     latencies.add(value)
        >>> latencies.at(0.5, 0.95)  # positions 1.5 and 2.85
        (250.0, 385.0)
        """
        places = [share * (self.n - 1) for share in shares]
        wanted = {math.floor(place) + step for place in places for step in (0, 1)}
        found: dict[int, float] = self._ordered(wanted) if self.n else {}
        return tuple(_interpolated(found, place) for place in places)

    def _ordered(self, wanted: set[int]) -> dict[int, float]:
        """The values at these positions of the sorted values; beyond the last, the last."""
        for start in range(0, self.n, _BLOCK):
            block = self._values[start : start + _BLOCK]
            self._values[start : start + _BLOCK] = array("d", sorted(block))
        view = memoryview(self._values)
        blocks = (view[start : start + _BLOCK] for start in range(0, self.n, _BLOCK))
        ascending = enumerate(merge(*blocks))
        found = {
            at: float(value) for at, value in islice(ascending, max(wanted) + 1) if at in wanted
        }
        return found | {self.n: found[self.n - 1]} if self.n in wanted else found


def _added(partials: list[float], value: float) -> list[float]:
    """Non-overlapping floats whose exact sum is that of `partials` and `value`."""
    kept = []
    for partial in partials:
        large, small = (value, partial) if abs(value) >= abs(partial) else (partial, value)
        total = large + small
        rest = small - (total - large)
        if rest:
            kept.append(rest)
        value = total
    return [*kept, value]


def _interpolated(found: Mapping[int, float], place: float) -> float | None:
    if not found:
        return None
    below = math.floor(place)
    return found[below] + (found[below + 1] - found[below]) * (place - below)
