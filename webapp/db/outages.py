"""Why a database cannot do what it was asked just now, though nothing is wrong with the question.

The same again a little later may well succeed, and a click keeps its id through every try: so
whatever became of a transaction whose end nobody heard, it is stored once.
"""

from __future__ import annotations

import sqlite3
from enum import StrEnum

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionFree


class Outage(StrEnum):
    """What is the matter: the disk is full or failing, others hold the locks, nobody answers."""

    FULL = "full"
    BUSY = "busy"
    AWAY = "away"


class WriterBusy(Exception):
    """The writers of this process have waited for each other for too long."""


SQLITE = {
    sqlite3.SQLITE_FULL: Outage.FULL,
    sqlite3.SQLITE_IOERR: Outage.FULL,  # what a quota or a failing disk says
    sqlite3.SQLITE_BUSY: Outage.BUSY,
    sqlite3.SQLITE_LOCKED: Outage.BUSY,
    sqlite3.SQLITE_CANTOPEN: Outage.AWAY,
    sqlite3.SQLITE_READONLY: Outage.AWAY,  # a disk in trouble is mounted so
}
READ_ONLY = "25006"
"""What a server says that is a primary no more, or not yet."""
POSTGRESQL = {
    "53100": Outage.FULL,  # disk_full
    "58030": Outage.FULL,  # io_error
    "55P03": Outage.BUSY,  # lock_not_available
    "40P01": Outage.BUSY,  # deadlock_detected
    "40001": Outage.BUSY,  # serialization_failure
    READ_ONLY: Outage.AWAY,
    "08": Outage.AWAY,  # connection exceptions
    "53": Outage.AWAY,  # insufficient resources: too many connections, out of memory
    "57P": Outage.AWAY,  # shutting down, crashed, starting up
}
_PRIMARY_CODE = 0xFF


def outage(error: Exception) -> Outage | None:
    """Return what keeps the database from answering; ``None`` where the fault is ours."""
    if isinstance(error, WriterBusy | NoConnectionFree):
        return Outage.BUSY
    if not isinstance(error, DBAPIError):
        return None
    code = getattr(error.orig, "sqlite_errorcode", None)
    if code is not None:
        return SQLITE.get(code & _PRIMARY_CODE)
    state = getattr(error.orig, "sqlstate", None)
    if state is not None:
        known = (POSTGRESQL.get(state[:length]) for length in (5, 3, 2))
        return next(filter(None, known), None)
    # Without a state nobody answered: refused, cut off in the middle, or resolved to nobody.
    is_cut = error.connection_invalidated or type(error.orig).__name__ == "OperationalError"
    return Outage.AWAY if is_cut and not isinstance(error.orig, sqlite3.Error) else None


KINDS: tuple[type[Exception], ...] = (SQLAlchemyError, WriterBusy)
"""What may be an outage."""
