"""Why items of compared runs are not relevant: how often each reason was given, and its cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import NamedTuple

from msgspec import Struct

MIN_TIMED = 5
"""With fewer timed verdicts no median is shown."""


class ReasonCounts(Struct, frozen=True):
    """How often each reason was given for what a run lists; ``without`` counts verdicts with none.

    Each rater's verdict "not relevant" on an item that the run lists counts once, however often
    the item is listed. ``by_category`` has the reasons by the category of the question.
    """

    run: str
    name: str
    counts: Mapping[str, int]
    without: int
    by_category: Mapping[str, Mapping[str, int]]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


class Contradiction(NamedTuple):
    """A reason that the gold constraints contradict: all that it could be about are met."""

    run: str
    name: str
    position: int
    title: str
    reason: str
    raters: int


class TimeSpent(NamedTuple):
    """The median seconds from verdicts to the next verdict, ``None`` for fewer than five."""

    median: float | None
    n: int


class ReasonComparison(Struct, frozen=True):
    """The reasons of compared runs, in the study's order; ``raters`` counts those who gave any.

    ``contradictions`` is ``None`` without gold questions.
    """

    reasons: tuple[str, ...]
    contenders: tuple[ReasonCounts, ...]
    raters: int
    seconds_with: TimeSpent
    seconds_without: TimeSpent
    contradictions: tuple[Contradiction, ...] | None = None

    @property
    def categories(self) -> tuple[str, ...]:
        listed = (category for each in self.contenders for category in each.by_category)
        return tuple(dict.fromkeys(listed))


def time_spent(seconds: Iterable[float]) -> TimeSpent:
    """Return the median of some times in seconds, ``None`` for fewer than ``MIN_TIMED``.

    >>> time_spent([4, 6, 5, 9, 5]), time_spent([1, 2])
    (TimeSpent(median=5, n=5), TimeSpent(median=None, n=2))
    """
    times = [*seconds]
    return TimeSpent(median(times) if len(times) >= MIN_TIMED else None, len(times))
