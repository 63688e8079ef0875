"""Leases: a row that is being worked on has one holder, for as long as the holder is heard of.

The number of the attempt names the holder. The next holder of the row gets the next number, so that
a holder which was thought dead and comes back finds that the row is no longer its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from msgspec import Struct
from sqlalchemy import ColumnElement, and_, inspect, update
from sqlalchemy.orm import Session

ASKING = "asking"
"""The state of a row that somebody works on; its table names the others."""
ALIVE = timedelta(seconds=30)
"""A holder of which nothing was heard for so long has died."""
HEARTBEAT = ALIVE / 3
"""How often a holder says that it lives."""


class LeasedRow(Protocol):
    """A row of a table whose work is leased."""

    state: str
    attempt: int
    alive_until: datetime | None


RowT = TypeVar("RowT", bound=LeasedRow)


class Lease(Struct, frozen=True):
    """The right to work on one row: its table and key, and the number of the attempt."""

    table: type[LeasedRow]
    key: tuple[object, ...]
    attempt: int


def are_held(table: type[LeasedRow], now: datetime) -> ColumnElement[bool]:
    """Return the condition that somebody works on a row."""
    columns = inspect(table).columns
    return and_(columns.state == ASKING, columns.alive_until > now)


def is_lost(row: LeasedRow, now: datetime) -> bool:
    """Whether the holder of a row died."""
    return row.state == ASKING and (row.alive_until is None or row.alive_until <= now)


def take(session: Session, row: LeasedRow, now: datetime) -> Lease | None:
    """Return the lease of a stored row, one attempt more; ``None`` while somebody holds it.

    Of two who read the row at once the second waits for the first, and gets nothing, even
    where the first has given it back meanwhile.
    """
    read = row.attempt
    session.refresh(row, with_for_update=True)
    if row.attempt != read or (row.state == ASKING and not is_lost(row, now)):
        return None
    row.state, row.attempt, row.alive_until = ASKING, row.attempt + 1, now + ALIVE
    session.flush()
    return Lease(type(row), tuple(inspect(row).identity), row.attempt)


def renew(session: Session, held: Iterable[Lease], now: datetime) -> None:
    """Note that the holders live; a lease that another one took is not renewed."""
    for lease in held:
        table = inspect(lease.table)
        key = zip(table.primary_key, lease.key, strict=True)
        session.execute(
            update(lease.table)
            .where(*(column == value for column, value in key))
            .where(table.columns.state == ASKING, table.columns.attempt == lease.attempt)
            .values(alive_until=now + ALIVE)
        )


def own(session: Session, table: type[RowT], lease: Lease) -> RowT | None:
    """Return the row of a lease, which stays as it is now until the transaction ends.

    ``None`` where the lease is no longer good.
    """
    row = session.get(table, lease.key, populate_existing=True, with_for_update=True)
    if row is None or (row.state, row.attempt) != (ASKING, lease.attempt):
        return None
    return row


def give_back(row: LeasedRow, state: str) -> None:
    """End the work on a row, which is in `state` from now on."""
    row.state, row.alive_until = str(state), None
