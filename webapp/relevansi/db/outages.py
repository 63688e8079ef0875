"""The reasons why a database cannot answer a correct request just now.

The same request a little later may well succeed. A click keeps its id through every try, so it
is stored once, even if the answer to an earlier transaction was lost on its way.
"""

from __future__ import annotations

import errno
import sqlite3
from enum import StrEnum

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionFree

from relevansi.db.migrations import FORMER_TABLES
from relevansi.db.sqlite_files import PRIMARY_CODE, UNREADABLE_TEXT, FileReplaced
from relevansi.db.tables.base import Base


class Outage(StrEnum):
    """Why the database cannot answer now: ``FULL`` is also a failing disk."""

    FULL = "full"
    BUSY = "busy"
    AWAY = "away"
    REPLACED = "replaced"
    DAMAGED = "damaged"


class WriterBusy(Exception):
    """The writers of this process have waited for each other for too long."""


SQLITE = {
    sqlite3.SQLITE_FULL: Outage.FULL,
    sqlite3.SQLITE_IOERR: Outage.FULL,  # a quota or a failing disk
    sqlite3.SQLITE_BUSY: Outage.BUSY,
    sqlite3.SQLITE_LOCKED: Outage.BUSY,
    sqlite3.SQLITE_CANTOPEN: Outage.AWAY,
    sqlite3.SQLITE_READONLY: Outage.AWAY,  # a disk in trouble is mounted so
    sqlite3.SQLITE_CORRUPT: Outage.DAMAGED,
    sqlite3.SQLITE_NOTADB: Outage.DAMAGED,
}
FULL_DISK = {"ENOSPC", "EDQUOT"}
"""The system's error codes for a file that cannot grow; not every system has all of them."""
READ_ONLY = "25006"
"""The error code of a server that is no longer a primary, or not yet."""
POSTGRESQL = {
    "53100": Outage.FULL,  # disk_full
    "58030": Outage.FULL,  # io_error
    "55P03": Outage.BUSY,  # lock_not_available
    "40P01": Outage.BUSY,  # deadlock_detected
    "40001": Outage.BUSY,  # serialization_failure
    READ_ONLY: Outage.AWAY,
    "XX001": Outage.DAMAGED,  # data_corrupted
    "XX002": Outage.DAMAGED,  # index_corrupted
    "08": Outage.AWAY,  # connection exceptions
    "53": Outage.AWAY,  # insufficient resources: too many connections, out of memory
    "57P": Outage.AWAY,  # shutting down, crashed, starting up
}


def outage(error: Exception) -> Outage | None:
    """Return the outage behind `error`; ``None`` for an error in our own code."""
    if isinstance(error, WriterBusy | NoConnectionFree):
        return Outage.BUSY
    if isinstance(error, FileReplaced):
        return Outage.REPLACED
    original = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(original, sqlite3.Error):
        code = getattr(original, "sqlite_errorcode", None)
        unreadable = Outage.DAMAGED if UNREADABLE_TEXT in str(original) else None
        return unreadable if code is None else SQLITE.get(code & PRIMARY_CODE)
    if not isinstance(error, DBAPIError):
        code_name = errno.errorcode.get(error.errno or 0) if isinstance(error, OSError) else None
        return Outage.FULL if code_name in FULL_DISK else None
    state = getattr(error.orig, "sqlstate", None)
    if state is not None:
        outages = (POSTGRESQL.get(state[:length]) for length in (5, 3, 2))
        return next(filter(None, outages), None)
    # Without a state there was no answer: refused, cut off in the middle, or no such host.
    is_cut = error.connection_invalidated or type(error.orig).__name__ == "OperationalError"
    return Outage.AWAY if is_cut else None


OUTAGE_ERRORS: tuple[type[Exception], ...] = (SQLAlchemyError, WriterBusy, FileReplaced)
"""The exceptions that may be an outage."""


VERSION_TABLE = "alembic_version"


def set_aside(connection: Connection, schema: str) -> None:
    """Move our tables, with indexes and counters, into the new `schema`."""
    # Those of an older database too: what stayed behind would be in the way of a later upgrade.
    ours = {*Base.metadata.tables, *FORMER_TABLES, VERSION_TABLE}
    names = sorted(ours.intersection(inspect(connection).get_table_names()))
    connection.execute(text(f'CREATE SCHEMA "{schema}"'))
    for name in names:
        connection.execute(text(f'ALTER TABLE "{name}" SET SCHEMA "{schema}"'))


def drop(connection: Connection, schema: str) -> None:
    connection.execute(text(f'DROP SCHEMA "{schema}" CASCADE'))


def acts_as_superuser(connection: Connection) -> bool:
    """Whether the connection's role may do anything on the server, running programs included."""
    setting: str | None = connection.scalar(text("SELECT current_setting('is_superuser')"))
    return setting == "on"
