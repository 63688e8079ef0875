"""A SQLite database as one file: taken while others write, checked, and put in place."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from relevansi.failures import Conflict
from relevansi.i18n import mark

COMPANIONS = ("-wal", "-shm")
PARTS = ("", *COMPANIONS)
"""The file of a database and its companions, which hold the latest commits."""
DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
PRIMARY_CODE = 0xFF
UNREADABLE_TEXT = "Could not decode to UTF-8"
"""The words of Python's error, without a SQLite code, for a text overwritten on the disk."""

WORDS_COMMAND = "INSERT INTO catalogue_words (catalogue_words) VALUES"
"""How the catalogue's index of words is told to fill or empty itself."""

KEPT = "before-restore"
"""The beginning of the name under which an earlier database is kept."""


class DamagedDatabase(Conflict):
    message = mark("The database is damaged (%(name)s)")
    remedy = mark("Restore the latest backup: relevansi restore FILE --replace")


class DatabaseInUse(Conflict):
    message = mark("%(name)s is in use")
    remedy = mark("Stop the server first.")


class DatabaseInUseBy(DatabaseInUse):
    message = mark("%(name)s is in use by Relevansi at %(address)s")


def make_private(file: Path) -> None:
    """Make the file of a database if it is new, and close it to the machine's other users."""
    with suppress(OSError):  # SQLite itself says why a file cannot be made
        file.touch(mode=0o600)
        for part in PARTS:
            path = Path(f"{file}{part}")
            if path.exists() and path.stat().st_mode & 0o077:
                path.chmod(0o600)


def delete(file: Path) -> None:
    for part in PARTS:
        Path(f"{file}{part}").unlink(missing_ok=True)


def marked(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        number: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return number


def set_mark(file: Path, number: int) -> None:
    """Give a database a number of 31 bits, which its copies have too."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"PRAGMA user_version = {number:d}")


def take(source: Path, file: Path) -> None:
    """Write the database at `source`, as it is at this moment, to the new `file`.

    In one step: writers go on meanwhile, and the copy never begins anew because of them.
    """
    with _naming_damage(), closing(_read_only(source)) as old, closing(_new(file)) as new:
        old.backup(new, pages=-1)
        new.execute("PRAGMA journal_mode = DELETE")  # one file, without companions
    check(file)


def leave_out_catalogue(file: Path) -> int:
    """Empty the catalogue in `file`, which gets smaller, and return how many items it had."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        if "catalogue_items" not in _tables(connection):
            return 0
        count: int = connection.execute("DELETE FROM catalogue_items").rowcount
        if count:
            connection.execute(
                "INSERT INTO catalogue_words (catalogue_words) VALUES ('delete-all')"
            )
            connection.execute("VACUUM")
    return count


def check(file: Path) -> None:
    """Return if every page, index and reference in `file` is sound; raises ``DamagedDatabase``."""
    if problems := faults(file, most=1):
        raise DamagedDatabase(problems[0])


def faults(file: Path, *, most: int) -> list[str]:
    """Return at most `most` things that are wrong inside `file`, in SQLite's words."""
    try:
        with _naming_damage(), closing(_read_only(file)) as connection:
            rows = connection.execute(f"PRAGMA integrity_check({most})").fetchall()
            problems = [str(row[0]) for row in rows if row[0] != "ok"]
            broken = connection.execute("PRAGMA foreign_key_check").fetchmany(most)
    except DamagedDatabase as damaged:
        return [damaged.name]
    problems += [
        f"{table}: row {row} refers to nothing in {parent}" for table, row, parent, _ in broken
    ]
    return problems[:most]


def triggers_and_views(file: Path) -> list[str]:
    """Return the kind and name of everything in `file` that runs by itself; we define none."""
    with _naming_damage(), closing(_read_only(file)) as connection:
        rows = connection.execute(
            "SELECT type || ' ' || name FROM sqlite_schema WHERE type IN ('trigger', 'view')"
        )
        return [row[0] for row in rows]


def copy_rows(file: Path, target: Path) -> None:
    """Copy the rows of a `file` of unknown origin into the tables of `target`, made by us.

    Only plain tables that `target` has are read, so nothing that the file defines runs.
    """
    size = file.stat().st_size
    with _naming_damage(), closing(_distrusted(file)) as source, closing(_new(target)) as copy:
        copy.execute("BEGIN")
        for table in _tables(copy):
            columns = _columns(copy, table)
            rows = _stored(source, table, columns, most=size)
            if table == "alembic_version":
                if [*rows] != copy.execute("SELECT version_num FROM alembic_version").fetchall():
                    raise DamagedDatabase(table)
                continue
            places = ", ".join("?" * len(columns))
            insert = f'INSERT INTO "{table}" ({_quoted(columns)}) VALUES ({places})'  # noqa: S608
            copy.executemany(insert, rows)
        if _tables(copy, "virtual"):
            copy.execute(f"{WORDS_COMMAND} ('rebuild')")
        copy.execute("COMMIT")


def replace_database(file: Path, target: Path, earlier: Path | None) -> None:
    """Make `file` the database at `target`; the earlier one stays as `earlier`, if given."""
    # `target` is a whole database at every moment: the earlier one gets its second name first.
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")  # as every database of ours
    file.chmod(0o600)
    if target.exists():
        close(target)
    if earlier is not None:
        try:
            os.link(target, earlier)
        except OSError:  # a file system without links
            shutil.copy2(target, earlier)
    for ending in COMPANIONS:  # of a database too damaged to be closed; they fit no other one
        companion = Path(f"{target}{ending}")
        if companion.exists():
            companion.replace(f"{earlier or file}{ending}")
    file.replace(target)


def close(target: Path) -> None:
    """Fold the companions into the database at `target`; raises ``DatabaseInUse``."""
    # SQLite leaves WAL only when no other connection has the file open, not even an idle one.
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


def _read_only(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=10)
    connection.isolation_level = None
    connection.execute("PRAGMA trusted_schema = OFF")  # the file's definitions may run no function
    return connection


def _distrusted(file: Path) -> sqlite3.Connection:
    # For a file that somebody may have made who means harm.
    connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    for setting in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON"):
        connection.execute(f"PRAGMA {setting}")
    return connection


def _stored(
    source: sqlite3.Connection, table: str, columns: Sequence[str], *, most: int
) -> Iterator[tuple[Any, ...]]:
    # At most so many bytes: rows may share a value, and so be of more bytes than the file.
    is_plain = source.execute(
        "SELECT 1 FROM sqlite_schema"
        " WHERE type = 'table' AND sql LIKE 'CREATE TABLE %' AND name = ?",
        (table,),
    ).fetchone()
    if not is_plain:
        raise DamagedDatabase(table)
    existing = _columns(source, table)
    if missing := [name for name in columns if name not in existing]:
        raise DamagedDatabase(f"{table}.{missing[0]}")
    statement = f'SELECT {_quoted(columns)} FROM "{table}" NOT INDEXED'  # noqa: S608 - our names
    for row in source.execute(statement):
        most -= 1 + sum(len(value) for value in row if isinstance(value, str | bytes))
        if most < 0:
            raise DamagedDatabase(table)
        yield row


def _tables(connection: sqlite3.Connection, kind: str = "table") -> list[str]:
    """Return the tables of a kind: "table" for plain ones, without those that serve an index."""
    statement = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = ?"
    rows = connection.execute(f"{statement} AND name NOT LIKE 'sqlite_%'", (kind,))
    return [name for (name,) in rows.fetchall()]


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


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


Identity = tuple[int, int]


class FileReplaced(Exception):
    """The database file was removed or replaced while it was open; the message is its path."""


class OpenFile:
    """The file at `path` as it was when this process opened it.

    A connection of its own stays open: SQLite deletes and remakes the companions only when the last
    one is closed, so they keep their identity.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._anchor: sqlite3.Connection | None = None
        self._known: dict[str, Identity] = {}

    def _hold(self) -> None:
        with self._lock:
            if self._anchor is not None or not self._path.is_file():
                return
            anchor = sqlite3.connect(self._path, check_same_thread=False)
            with suppress(sqlite3.Error):  # the first use of the file reports its fault
                anchor.execute("SELECT count(*) FROM sqlite_master").fetchone()
            self._anchor = anchor
            self._known = self._identities()

    def check(self) -> None:
        """Raise ``FileReplaced`` unless the path and its companions are still what is open.

        The first time remembers what that is.
        """
        if self._anchor is None:
            self._hold()
        for part, identity in self._known.items():
            if _identity(f"{self._path}{part}") != identity:
                raise FileReplaced(str(self._path))
        if self._anchor is not None and len(self._known) < len(PARTS):
            # Companions appear when the file is switched to WAL.
            with self._lock:
                self._known = self._identities() | self._known

    def release(self) -> None:
        with self._lock:
            anchor, self._anchor, self._known = self._anchor, None, {}
        if anchor is not None:
            anchor.close()

    def _identities(self) -> dict[str, Identity]:
        identities = {part: _identity(f"{self._path}{part}") for part in PARTS}
        return {part: identity for part, identity in identities.items() if identity is not None}


def _identity(path: str) -> Identity | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - asked six times by each click
    except OSError:
        return None
    return status.st_dev, status.st_ino
