"""A SQLite database as one file: taken while others write, checked, and put in place."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from webapp.failures import Conflict
from webapp.i18n import mark

COMPANIONS = ("-wal", "-shm")
DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
PRIMARY_CODE = 0xFF
UNREADABLE_TEXT = "Could not decode to UTF-8"
"""The words of Python's error, without a SQLite code, for a text overwritten on the disk."""

KEPT = "before-restore"
"""The beginning of the name under which an earlier database is kept."""


_BLANKS_AND_QUOTES = re.compile(r'[\s"`]+')


class DamagedDatabase(Conflict):
    """The database fails SQLite's own check, or is not a database; the argument is SQLite's."""

    message = mark("The database is damaged (%(name)s)")
    remedy = mark("Restore the latest backup: relevansi restore FILE --replace")


class DatabaseInUse(Conflict):
    """Another process has the database open, so its file must not be replaced."""

    message = mark("%(name)s is in use")
    remedy = mark("Stop the server first.")


class DatabaseInUseBy(DatabaseInUse):
    """The server at ``address`` has the database open."""

    message = mark("%(name)s is in use by Relevansi at %(address)s")


class SchemaObject(NamedTuple):
    """A table, index, view or trigger of a database.

    ``sql`` is the statement that made it without blanks and quotation marks, which versions of
    SQLite write differently.
    """

    kind: str
    name: str
    sql: str


def make_private(file: Path) -> None:
    """Make the file of a database if it is new, and close it to the machine's other users.

    Its journals take their mode from it. A file of another user stays as it is.
    """
    with suppress(OSError):  # SQLite itself says why a file cannot be made
        file.touch(mode=0o600)
        for part in ("", *COMPANIONS):
            path = Path(f"{file}{part}")
            if path.exists() and path.stat().st_mode & 0o077:
                path.chmod(0o600)


def delete(file: Path) -> None:
    """Delete a database with its companions."""
    for part in ("", *COMPANIONS):
        Path(f"{file}{part}").unlink(missing_ok=True)


def marked(file: Path) -> int:
    """Return the number that ``set_mark`` gave a database, 0 if it has none."""
    with closing(sqlite3.connect(file)) as connection:
        found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def set_mark(file: Path, number: int) -> None:
    """Give a database a number of 31 bits, which its copies have too."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"PRAGMA user_version = {number:d}")


def take(source: Path, file: Path) -> None:
    """Write the database at `source`, as it is at this moment, to the new `file`.

    In one step: writers go on meanwhile, and the copy never begins anew because of them.
    Raises ``DamagedDatabase``; a full disk stays SQLite's own error.
    """
    with _naming_damage(), closing(_read_only(source)) as old, closing(_new(file)) as new:
        old.backup(new, pages=-1)
        new.execute("PRAGMA journal_mode = DELETE")  # one file, without companions
    check(file)


def check(file: Path) -> None:
    """Return if every page, index and reference in `file` is sound; raises ``DamagedDatabase``."""
    if found := faults(file, most=1):
        raise DamagedDatabase(found[0])


def faults(file: Path, *, most: int) -> list[str]:
    """Return at most `most` things that are wrong inside `file`, in SQLite's words."""
    try:
        with _naming_damage(), closing(_read_only(file)) as connection:
            rows = connection.execute(f"PRAGMA integrity_check({most})").fetchall()
            found = [str(row[0]) for row in rows if row[0] != "ok"]
            broken = connection.execute("PRAGMA foreign_key_check").fetchmany(most)
    except DamagedDatabase as damaged:
        return [damaged.name]
    found += [f"{table}: row {row} refers to nothing in {other}" for table, row, other, _ in broken]
    return found[:most]


def schema(file: Path) -> set[SchemaObject]:
    """Return everything that `file` defines; raises ``DamagedDatabase``."""
    with _naming_damage(), closing(_read_only(file)) as connection:
        rows = connection.execute("SELECT type, name, sql FROM sqlite_schema").fetchall()
    return {
        SchemaObject(kind, name, _BLANKS_AND_QUOTES.sub("", sql or ""))
        for kind, name, sql in rows
        if not name.startswith("sqlite_stat")  # the counts of ANALYZE
    }


def put(file: Path, target: Path, kept: Path | None) -> None:
    """Make `file` the database at `target`; the earlier database stays as `kept`, if given.

    `file` has to lie in the folder of `target`, which has a whole database at every moment: the
    earlier one gets its second name before the new one takes its place in one step. Raises
    ``DatabaseInUse``.
    """
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")  # as every database of ours
    file.chmod(0o600)
    if target.exists():
        close(target)
    if kept is not None:
        _name_twice(target, kept)
    for ending in COMPANIONS:  # of a database too damaged to be closed; they fit no other one
        companion = Path(f"{target}{ending}")
        if companion.exists():
            companion.replace(f"{kept or file}{ending}")
    file.replace(target)


def close(target: Path) -> None:
    """Fold the companions into the database at `target`; raises ``DatabaseInUse``.

    SQLite leaves WAL only when no other connection has the file open, not even an idle one.
    """
    try:
        with closing(sqlite3.connect(target, timeout=1)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError as failure:
        code = failure.sqlite_errorcode & PRIMARY_CODE
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise DatabaseInUse(str(target)) from failure
    except sqlite3.DatabaseError:
        return  # too damaged to be closed, which may be why it is replaced


def kept_beside(target: Path) -> list[Path]:
    """Return the databases that restores kept beside `target`, the latest last."""
    return sorted(target.parent.glob(f"{target.stem}.{KEPT}-*{target.suffix}"))


def cut_off_beside(target: Path) -> list[Path]:
    """Return the folders of backups and restores of `target` that were not finished."""
    return sorted(path for path in target.parent.glob(f".{target.name}.*") if path.is_dir())


def _name_twice(target: Path, kept: Path) -> None:
    try:
        os.link(target, kept)
    except OSError:  # a file system without links
        shutil.copy2(target, kept)


def _read_only(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=10)
    connection.isolation_level = None
    connection.execute("PRAGMA trusted_schema = OFF")  # the file's definitions may run no function
    return connection


def _new(file: Path) -> sqlite3.Connection:
    file.touch(mode=0o600)
    return sqlite3.connect(file, isolation_level=None)


@contextmanager
def _naming_damage() -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as failure:
        code = getattr(failure, "sqlite_errorcode", None)
        if code is None or code & PRIMARY_CODE not in DAMAGE:
            raise
        raise DamagedDatabase(str(failure)) from failure
