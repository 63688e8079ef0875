"""The results of a benchmark: measurements beside their yardsticks, and targets met or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import quantiles


@dataclass(frozen=True, slots=True)
class Times:
    """How long the repetitions of one thing took, in milliseconds."""

    n: int
    p50: float
    p95: float
    p99: float

    @classmethod
    def of(cls, milliseconds: Sequence[float]) -> Times:
        """Return the percentiles of some times.

        >>> Times.of([1, 2, 3, 4, 5]).p50
        3.0
        >>> Times.of([7])
        Times(n=1, p50=7, p95=7, p99=7)
        """
        if len(milliseconds) == 1:
            (only,) = milliseconds
            return cls(1, only, only, only)
        cuts = quantiles(milliseconds, n=100, method="inclusive")
        return cls(len(milliseconds), cuts[49], cuts[94], cuts[98])


@dataclass(frozen=True, slots=True)
class Measurement:
    """One row of a table: what was measured, and what it is to be seen beside.

    Without ``times`` it is the memory that was measured, and nothing else.
    ``per_second`` is there where requests were answered at once, ``memory`` (MB, at its
    highest) where a whole process was measured. ``ratio`` is ours / yardstick in time unless
    the yardstick says otherwise.
    """

    what: str
    times: Times | None
    per_second: float | None = None
    memory: float | None = None
    yardstick: str = ""
    ratio: float | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """A target, its measurement, and whether it is met; ``None`` if it was not measured."""

    asked: str
    measured: str
    met: bool | None


@dataclass(frozen=True, slots=True)
class Section:
    """One table with its title, how it was measured, and the targets it decides."""

    title: str
    how: str
    rows: Sequence[Measurement]
    targets: Sequence[Target] = field(default_factory=tuple)
