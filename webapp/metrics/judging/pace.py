"""The time that verdicts take, from the times of a rater's clicks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

LONGEST_PAUSE = 300.0
"""Seconds; a longer time between two verdicts was a break."""


class GivenVerdict(NamedTuple):
    """A verdict by the key of its item: whose, in which browser, and when by its clock."""

    key: int
    rater: int
    device: str
    at: datetime


def seconds_before(
    given: Iterable[GivenVerdict], *, longest: float = LONGEST_PAUSE
) -> dict[tuple[int, int], float]:
    """Return the seconds from the rater's verdict before, by rater and item; breaks left out.

    Only verdicts of one rater in one browser are compared, so that clocks need not agree. The
    first one has no time, nor has one after more than `longest` seconds. Of an item that was
    judged several times the last verdict counts.

    >>> from datetime import UTC
    >>> at = [datetime(2026, 1, 1, 9, minute, second, tzinfo=UTC) for minute, second in
    ...       ((0, 0), (0, 4), (6, 0), (6, 10))]
    >>> seconds_before([GivenVerdict(key, 7, "a", when) for key, when in enumerate(at)])
    {(7, 1): 4.0, (7, 3): 10.0}
    """
    devices: dict[tuple[int, str], list[GivenVerdict]] = defaultdict(list)
    for one in given:
        devices[one.rater, one.device].append(one)
    found: dict[tuple[int, int], tuple[datetime, float | None]] = {}
    for verdicts in devices.values():
        verdicts.sort(key=lambda one: one.at)
        gaps = [(later.at - earlier.at).total_seconds() for earlier, later in pairwise(verdicts)]
        for one, gap in zip(verdicts, [None, *gaps], strict=True):
            known = gap if gap is not None and gap <= longest else None
            last, _ = found.get((one.rater, one.key), (one.at, None))
            if last <= one.at:
                found[one.rater, one.key] = one.at, known
    return {key: seconds for key, (_, seconds) in found.items() if seconds is not None}
