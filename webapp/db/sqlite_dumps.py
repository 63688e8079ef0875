"""A SQLite database as one file: taken while others write, checked, and put in place."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

COMPANIONS = ("-wal", "-shm")


class Damaged(Exception):
    """The database fails SQLite's own check, or is none; the message is SQLite's."""


class InUse(Exception):
    """Another process has the database open, so that its file must not be replaced."""


def take(source: Path, file: Path) -> None:
    """Write the database at `source`, as it is at this moment, to the new `file`.

    In one step: writers go on meanwhile, and the copy never begins anew because of them.
    Raises ``Damaged``.
    """
    with _telling_damage(), closing(_read_only(source)) as old, closing(_new(file)) as new:
        old.backup(new, pages=-1)
        new.execute("PRAGMA journal_mode = DELETE")  # one file, without companions
    check(file)


def check(file: Path) -> None:
    """Return if every page, index and reference in `file` is sound; raises ``Damaged``."""
    with _telling_damage(), closing(_read_only(file)) as connection:
        (said,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if said != "ok":
            raise Damaged(said)
        broken = connection.execute("PRAGMA foreign_key_check").fetchone()
        if broken is not None:
            raise Damaged(f"{broken[0]}: row {broken[1]} refers to nothing in {broken[2]}")


def put(file: Path, target: Path, aside: Path | None) -> None:
    """Make `file` the database at `target`; what is there goes to `aside`, if given, first.

    `file` has to lie in the folder of `target`. Raises ``InUse``.
    """
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")  # as every database of ours
    file.chmod(_mode(target))
    if target.exists():
        close(target)
    if aside is not None:
        target.replace(aside)
        for ending in COMPANIONS:  # of a database that is too damaged to be closed
            rest = Path(f"{target}{ending}")
            if rest.exists():
                rest.replace(f"{aside}{ending}")
    file.replace(target)


def close(target: Path) -> None:
    """Fold the companions into the database at `target`; raises ``InUse``.

    SQLite leaves WAL only when nobody else has the file open, be they idle.
    """
    try:
        with closing(sqlite3.connect(target, timeout=1)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError as failure:
        if failure.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise InUse(str(target)) from failure
    except sqlite3.DatabaseError:
        return  # too damaged to be closed, which may be why it is replaced


def _mode(target: Path) -> int:
    return target.stat().st_mode & 0o777 if target.exists() else 0o600


def _read_only(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=10)
    connection.isolation_level = None
    return connection


def _new(file: Path) -> sqlite3.Connection:
    file.touch(mode=0o600)
    return sqlite3.connect(file, isolation_level=None)


@contextmanager
def _telling_damage() -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as failure:
        raise Damaged(str(failure)) from failure
