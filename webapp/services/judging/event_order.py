"""The order of events about one thing, and the one in force, for any order of arrival.

Order is by device sequence, then by the earlier of client time and server receipt. An
event can be no later than a later event of its own device, so a clock that runs ahead for
a while cannot shadow the clicks of another device.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol, TypeVar


class Placed(Protocol):
    """The device and times of an event, which decide its place in the order."""

    @property
    def device(self) -> str: ...  # noqa: D102
    @property
    def sequence(self) -> int: ...  # noqa: D102
    @property
    def client_time(self) -> datetime | None: ...  # noqa: D102
    @property
    def received_at(self) -> datetime: ...  # noqa: D102


PlacedT = TypeVar("PlacedT", bound=Placed)


def made_at(event: Placed) -> datetime:
    """Return the earlier of the client's time and the receipt."""
    return min(event.client_time or event.received_at, event.received_at)


def in_order(events: Iterable[PlacedT]) -> Sequence[PlacedT]:
    """Return the events from first to last, for any order of `events`."""
    placed: list[tuple[datetime, str, int, PlacedT]] = []
    for event in sorted(events, key=_in_device, reverse=True):
        bound = made_at(event)
        if placed and placed[-1][1] == event.device:
            bound = min(bound, placed[-1][0])
        placed.append((bound, event.device, event.sequence, event))
    placed.reverse()
    return [entry[3] for entry in sorted(placed, key=lambda entry: entry[:3])]


def standing(events: Iterable[PlacedT]) -> PlacedT | None:
    """Return the event in force: the last one in order, ``None`` if there is none."""
    latest: dict[str, PlacedT] = {}
    for event in events:
        known = latest.get(event.device)
        if known is None or _in_device(known) <= _in_device(event):
            latest[event.device] = event
    return max(latest.values(), key=lambda event: (made_at(event), event.device), default=None)


def _in_device(event: Placed) -> tuple[str, int, datetime]:
    return event.device, event.sequence, made_at(event)
