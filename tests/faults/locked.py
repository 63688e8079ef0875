"""Another program keeps the database locked for longer than a writer waits.

Clicks are refused in plain words, with the time to come back; repeated, each is stored once.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import psycopg

from relevansi.db.patience import PATIENCE_SECONDS
from tests.faults.load import Load, awaited
from tests.faults.postgres import Postgres, running
from tests.faults.report import Row

FAULT = "The database is locked by another program"
KEPT_SECONDS = PATIENCE_SECONDS + 2
CLICKS_BETWEEN = 40
LOCK_TABLES = "LOCK TABLE events, judgments IN EXCLUSIVE MODE"

Locking = Callable[[], AbstractContextManager[object]]


def lock_sqlite(folder: Path, times: int) -> Row:
    """Return what came of a SQLite file that another process writes to."""
    load = Load(folder)
    return _lock(load, lambda: locked_by_another(load.sqlite_file), times)


def lock_postgres(folder: Path, times: int) -> Row:
    """Return what came of tables that another connection keeps locked."""
    with running(folder / "cluster") as postgres:
        return _lock(Load(folder, postgres.url), lambda: _locking(postgres), times)


def _lock(load: Load, locked: Locking, times: int) -> Row:
    load.server.start()
    with load.clicking():
        for _ in range(times):
            load.await_clicks(CLICKS_BETWEEN)
            before = load.refused()
            with locked():
                time.sleep(KEPT_SECONDS)
                if not awaited(lambda before=before: load.refused() > before, 10):  # type: ignore[misc]
                    load.damage.append("nobody was refused while it was locked")
        load.await_clicks(CLICKS_BETWEEN)
    load.finish()
    load.check_refusals(503, words="is not saved yet")
    action = (
        f"{times} times for {KEPT_SECONDS:.0f} s and more, "
        f"{load.refused()} clicks refused and repeated"
    )
    return load.row(FAULT, action)


@contextmanager
def locked_by_another(database: Path) -> Iterator[None]:
    """Hold the write lock of a SQLite file meanwhile."""
    with closing(sqlite3.connect(database, timeout=30, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")


@contextmanager
def _locking(postgres: Postgres) -> Iterator[None]:
    """Keep others from writing to the tables of the clicks meanwhile."""
    with psycopg.connect(postgres.conninfo) as connection:
        connection.execute(LOCK_TABLES)
        yield
        connection.rollback()
