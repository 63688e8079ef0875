"""What every benchmark is made of: a piece of work, its yardstick, and how they are timed."""

from __future__ import annotations

import sys
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from math import isclose

REPEATS = 5
SECONDS = 10
"""After so long no further repeat is begun."""


@dataclass(frozen=True, slots=True)
class Race:
    """One piece of work of ours and what it is timed against."""

    work: str
    ours: Callable[[], object]
    yardstick: str
    theirs: Callable[[], object]


def expect(ours: tuple[float, ...], theirs: tuple[float, ...]) -> None:
    """End the benchmark when the figures differ by more than rounding."""
    if not all(isclose(a, b, abs_tol=1e-9) for a, b in zip(ours, theirs, strict=True)):
        sys.exit(f"benchmarks: {ours} is not {theirs}")


def milliseconds(work: Callable[[], object]) -> float:
    """The fastest of a few runs, the least disturbed one: `REPEATS`, or as many as time allows."""
    taken: list[float] = []
    while len(taken) < REPEATS and sum(taken) < SECONDS:
        taken.append(timeit.timeit(work, number=1))
    return min(taken) * 1000
