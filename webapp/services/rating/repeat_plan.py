"""The plan of a rater's repeats: how many questions are asked again, which ones, and when.

It follows from the study's secret and the rater's share before the first repeat is given.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence

from msgspec import Struct

from webapp.db.tables.people import Rater
from webapp.services.rating import orders
from webapp.services.rating.orders import Purpose
from webapp.services.rating.pool import Unit

TASKS_BETWEEN = 2
"""How many other questions lie between a question and its repetition, at the least."""


class Planned(Struct, frozen=True):
    """A unit to be asked again, once the rater has got through ``after`` units."""

    unit: Unit
    after: int


def count(units: int, percent: int) -> int:
    """Return how many of `units` units are asked again: `percent` of them, rounded.

    The last two never are: too little would lie between.

    >>> count(30, 5), count(9, 5), count(10, 5), count(2, 100), count(6, 100)
    (2, 0, 1, 0, 4)
    """
    return max(0, min((2 * units * percent + 100) // 200, units - TASKS_BETWEEN))


def planned(
    rater: Rater, in_order: Sequence[Unit], units: Container[Unit], again: Collection[Unit]
) -> tuple[Planned, ...]:
    """Return the repeats that the rater is still to be given, the earliest first.

    `in_order` is the rater's share in the order of work, of which `again` are given once more
    already. Only `units` of the study are drawn. While the share stays as it is, giving a repeat
    takes it from this plan and changes no other.
    """
    last = len(in_order)
    left = count(last, rater.study.repeat_percent) - len(again)
    if left < 1:
        return ()
    earliest = {unit: place for place, unit in enumerate(in_order, start=1 + TASKS_BETWEEN)}
    candidates = [
        unit for unit in in_order[: last - TASKS_BETWEEN] if unit in units and unit not in again
    ]
    secret, rater_id = rater.study.order_secret, rater.id
    drawn = sorted(
        (orders.draw(secret, Purpose.AGAIN, rater_id, *unit), unit) for unit in candidates
    )[:left]
    plan = [
        Planned(unit, first + int.from_bytes(number) % (last - first + 1))
        for number, unit in drawn
        for first in [earliest[unit]]
    ]
    return tuple(sorted(plan, key=lambda one: one.after))
