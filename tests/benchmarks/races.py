"""Pieces of work in one process, each with its yardstick, and how they are timed."""

from __future__ import annotations

import sys
import timeit
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isclose

from tests.benchmarks.results import Measurement, Times

REPEATS = 5
SHORT, LONG = 0.3, 10
"""Seconds: what is done by the short time is repeated until then; after the long one no more."""


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


def measured(race: Race) -> Iterator[Measurement]:
    """Yield the row of our work and that of the yardstick."""
    ours, theirs = times(race.ours), times(race.theirs)
    yield Measurement(race.work, ours, yardstick=race.yardstick, ratio=ours.p50 / theirs.p50)
    yield Measurement(f"- {race.yardstick}", theirs)


def times(work: Callable[[], object]) -> Times:
    """Return the percentiles of a few runs: `REPEATS`, or as many as there is time for."""
    taken: list[float] = []
    while sum(taken) < (LONG if len(taken) < REPEATS else SHORT):
        taken.append(timeit.timeit(work, number=1))
    return Times.of([seconds * 1000 for seconds in taken])
