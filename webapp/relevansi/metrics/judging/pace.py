"""How long raters take: the seconds before and after each verdict, breaks left out."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

LONGEST_PAUSE = 300.0
"""Seconds; a longer time between two verdicts was a break."""


class GivenVerdict(NamedTuple):
    """A verdict by the key of its item: whose, in which browser, and when by its clock."""

    key: int
    rater: int
    device: str
    at: datetime


def seconds_before(verdicts: Iterable[GivenVerdict]) -> dict[tuple[int, int], float]:
    """The seconds from the rater's verdict before, by rater and item; breaks left out.

    Only verdicts of one rater in one browser are compared, so that clocks need not agree. The
    first one has no time, nor has one after a break. Of an item that was judged several times
    the last verdict counts.

    >>> from datetime import UTC
    >>> at = [datetime(2026, 1, 1, 9, minute, second, tzinfo=UTC) for minute, second in
    ...       ((0, 0), (0, 4), (6, 0), (6, 10))]
    >>> seconds_before([GivenVerdict(key, 7, "a", when) for key, when in enumerate(at)])
    {(7, 1): 4.0, (7, 3): 10.0}
    """
    latest: dict[tuple[int, int], tuple[datetime, float | None]] = {}
    before: GivenVerdict | None = None
    for verdict in sorted(verdicts, key=attrgetter("rater", "device", "at")):
        seconds = None
        if before and (before.rater, before.device) == (verdict.rater, verdict.device):
            gap = (verdict.at - before.at).total_seconds()
            seconds = gap if gap <= LONGEST_PAUSE else None
        last, _ = latest.get((verdict.rater, verdict.key), (verdict.at, None))
        if last <= verdict.at:
            latest[verdict.rater, verdict.key] = verdict.at, seconds
        before = verdict
    return {key: seconds for key, (_, seconds) in latest.items() if seconds is not None}


def seconds_after(verdicts: Iterable[GivenVerdict]) -> dict[tuple[int, int], float]:
    """Return the seconds to the rater's next verdict in the same browser, by rater and item.

    A reason is chosen after its verdict, so the time it takes is in these. The last verdict, and
    one before a break, has none; of several on one item the last counts.

    >>> from datetime import UTC, datetime
    >>> at = [datetime(2026, 1, 1, 9, minute, second, tzinfo=UTC) for minute, second in
    ...       ((0, 0), (0, 4), (6, 0), (6, 10))]
    >>> seconds_after([GivenVerdict(key, 7, "a", when) for key, when in enumerate(at)])
    {(7, 0): 4.0, (7, 2): 10.0}
    """
    gaps: dict[tuple[int, int], float] = {}
    ordered = sorted(verdicts, key=attrgetter("rater", "device", "at"))
    for verdict, following in pairwise(ordered):
        key = verdict.rater, verdict.key
        gaps.pop(key, None)
        gap = (following.at - verdict.at).total_seconds()
        is_same = (verdict.rater, verdict.device) == (following.rater, following.device)
        if is_same and gap <= LONGEST_PAUSE:
            gaps[key] = gap
    return gaps
