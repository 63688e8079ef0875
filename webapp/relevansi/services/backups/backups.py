"""Backups of the database, made while it is in use, and restored.

A backup is a zip of two members: a description (``backup.json``), and all rows as a SQLite
database, from either engine. It is written to a file beside its place, synced to disk and then
renamed, so that a backup is complete or not there at all.

A restore takes rows and nothing else out of the file: they are written into tables made here, of
the backup's version, which are then upgraded to this one. Triggers, views or other tables that the
file defines are not taken over.
"""

from __future__ import annotations

import secrets
import shutil
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, get_args

import msgspec
from msgspec import DecodeError, Meta, Struct
from sqlalchemy import (
    select,
)
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import InstrumentedAttribute, Session

from relevansi.config import errors_naming, sqlite_url, sync
from relevansi.db import outages, sqlite_files
from relevansi.db.engine import Database, known_versions
from relevansi.db.migrations import HEAD
from relevansi.db.outages import Outage, outage
from relevansi.db.tables.judging import Adjudication, Judgment, QueryRating, StoredSummary
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Study
from relevansi.failures import Conflict, Missing, Refused
from relevansi.i18n import mark
from relevansi.records import CannotTell, EmptyOutcome, QueryState, Scale
from relevansi.services.backups import moves
from relevansi.services.backups.moves import RowsDiffer, UnfitRow, counts, move
from relevansi.services.judging import stored_summaries

OTHER_BACKUP = mark("Restore another backup.")


class NoDatabaseYet(Missing):
    message = mark("There is no database yet: %(name)s")
    remedy = mark("Begin a study first, or set RELEVANSI_DATABASE_URL to the one there is.")


class BackupExists(Conflict):
    message = mark("%(name)s is there already")
    remedy = mark("--replace overwrites it.")


class NotABackup(Refused):
    message = mark("%(name)s is not a backup of Relevansi, or not the whole of one")
    remedy = OTHER_BACKUP


class DamagedBackup(Refused):
    message = mark("The backup is damaged, nothing was restored: %(name)s")
    remedy = OTHER_BACKUP


class NewerBackup(Refused):
    message = mark("The backup was made by a newer Relevansi (%(name)s)")
    remedy = mark("Install that one first.")


class RestoresAsSuperuser(Refused):
    message = mark("The role of %(name)s is a superuser of its server")
    remedy = mark("Restore as a role that owns only this database, or add --as-superuser.")


class DatabaseNotEmpty(Conflict):
    message = mark("%(name)s holds data")
    remedy = mark("--replace puts the backup in its place and keeps it beside.")


PIECE = 2**20


@contextmanager
def folder_beside(file: Path) -> Iterator[Path]:
    """Yield a new private folder beside `file`, which is deleted afterwards."""
    # On the same disk, since a file can be renamed only within one.
    with errors_naming(file):
        folder = Path(tempfile.mkdtemp(prefix=f".{file.name}.", dir=file.absolute().parent))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


KIND = "relevansi backup"
ABOUT = "backup.json"
CONTENT = "database.sqlite"
EMPTY_SCHEMA = "before-restore"
"""The schema in which PostgreSQL's empty tables are set aside before they are dropped."""

MAX_ABOUT = 2**20  # bytes
MAX_RATIO = 100
"""How many times its packed size a backup may unpack to; a zip bomb unpacks to more."""

ALWAYS_UNPACKED = 64 * 2**20
"""Bytes that a backup may unpack to whatever its packed size."""

_VERDICTS = {None, *Scale(top=4).verdicts, *map(str, EmptyOutcome)}
_STATES = set(map(str, QueryState))
VALUES: Mapping[InstrumentedAttribute[Any], set[Any]] = {
    Judgment.verdict: _VERDICTS,
    Adjudication.verdict: _VERDICTS,
    Query.state: _STATES,
    StoredSummary.state: _STATES,
    Study.cannot_tell: set(get_args(CannotTell)),
    QueryRating.quality: {None, *range(6)},
}
"""The values from which figures can be computed, where a column's type allows others too."""

UNREADABLE = (zipfile.BadZipFile, KeyError, EOFError, zlib.error, RuntimeError)
"""The errors of ``zipfile`` for a file that is not a zip, or is cut off or changed."""


Count = Annotated[int, Meta(ge=0)]


class About(Struct, frozen=True):
    """The description in a backup: its maker, database version, size in bytes, rows by table."""

    kind: str
    product: str
    engine: str
    schema_version: str
    created_at: Annotated[datetime, Meta(tz=True)]
    size: Count
    counts: Mapping[str, Count]


def back_up(
    database: Database,
    file: Path,
    now: datetime,
    *,
    replace: bool = False,
    with_catalogue: bool = False,
) -> About:
    """Write the state of the database at one moment to `file`; return the backup's description.

    The catalogue, of which the owner has the files, is in it only `with_catalogue`. Raises
    ``BackupExists`` unless `replace`, ``NoDatabaseYet`` and ``sqlite_files.DamagedDatabase``.
    """
    if file.exists() and not replace:
        raise BackupExists(str(file))
    if database.is_missing():
        raise NoDatabaseYet(database.description)
    with folder_beside(file) as folder:
        content = folder / CONTENT
        schema_version, counts = _write_content(database, content, with_catalogue=with_catalogue)
        about = About(
            kind=KIND,
            product=version("relevansi"),
            engine=database.url.get_backend_name(),
            schema_version=schema_version,
            created_at=now,
            size=content.stat().st_size,
            counts=counts,
        )
        packed = folder / "backup.zip"
        # Made private before it holds anything: a backup has names and password hashes.
        packed.touch(mode=0o600)
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(ABOUT, msgspec.json.format(msgspec.json.encode(about)))
            archive.write(content, content.name)
        sync(packed)
        # Again, since another backup may have been written there meanwhile.
        if file.exists() and not replace:
            raise BackupExists(str(file))
        packed.replace(file)
        sync(file)
    return about


def read(file: Path) -> About:
    """Return the description in a backup; raises ``NotABackup`` and ``NewerBackup``."""
    try:
        with zipfile.ZipFile(file) as archive, archive.open(ABOUT) as member:
            about = msgspec.json.decode(member.read(MAX_ABOUT), type=About)
            has_content = CONTENT in archive.namelist()
    except (*UNREADABLE, DecodeError, UnicodeDecodeError) as wrong:
        raise NotABackup(str(file)) from wrong
    if about.kind != KIND or not has_content:
        raise NotABackup(str(file))
    if about.schema_version not in known_versions():
        raise NewerBackup(about.product)
    return about


def restore(
    database: Database,
    file: Path,
    now: datetime,
    *,
    replace: bool = False,
    as_superuser: bool = False,
) -> tuple[About, str | None]:
    """Put a backup in the place of the database, which is empty or, with `replace`, set aside.

    Returns the backup's description, and where the earlier database is, if there was one. The
    tables are of this version afterwards, even if the backup is of an older one. Everything is
    checked before anything is changed. Raises ``NotABackup``, ``NewerBackup``, ``DamagedBackup``,
    ``DatabaseNotEmpty``, ``sqlite_files.DatabaseInUse`` and, unless `as_superuser`,
    ``RestoresAsSuperuser``.
    """
    about = read(file)
    if not (database.is_sqlite or as_superuser):
        with database.engine.connect() as connection:
            if outages.acts_as_superuser(connection):
                raise RestoresAsSuperuser(database.description)
    name_of_earlier = None
    if _has_rows(database):
        if not replace:
            raise DatabaseNotEmpty(database.description)
        name_of_earlier = f"{sqlite_files.KEPT}-{now:%Y%m%dT%H%M%S}-{secrets.token_hex(2)}"
    beside = Path(database.description) if database.is_sqlite else file
    with folder_beside(beside) as folder:
        unchecked, content = folder / "unknown.sqlite", folder / CONTENT
        _unpack(file, about, unchecked)
        _copy_checked(unchecked, content, about)
        put_in_place = _put_sqlite if database.is_sqlite else _put_postgres
        return about, put_in_place(database, content, name_of_earlier)


def _write_content(
    database: Database, content: Path, *, with_catalogue: bool
) -> tuple[str, dict[str, int]]:
    """Write the database's rows as a SQLite file; return its database version, and its counts."""
    if database.is_sqlite:
        sqlite_files.take(Path(database.description), content)
    elif database.version() is not None:
        content.touch(mode=0o600)
        with _open(content) as copy:
            copy.prepare()
            with database.reading() as source, copy.writing() as target:
                move(source, target)
                target.commit()
        sqlite_files.close(content)
    if not with_catalogue:
        sqlite_files.leave_out_catalogue(content)
    with _open(content) as copy:
        schema_version, counts = copy.version(), _counts(copy)
    if schema_version is None:
        raise NoDatabaseYet(database.description)
    return schema_version, counts


def _open(content: Path) -> closing[Database]:
    return closing(Database(sqlite_url(content)))


def _counts(database: Database) -> dict[str, int]:
    with database.reading() as session:
        return counts(session)


def _has_rows(database: Database) -> bool:
    """Whether a restore would replace data; a file that cannot be read counts as data."""
    if database.is_missing():
        return False
    try:
        return any(_counts(database).values())
    except DatabaseError:
        if not database.is_sqlite:
            raise
        return Path(database.description).stat().st_size > 0
    finally:
        database.close()


def _copy_checked(unchecked: Path, content: Path, about: About) -> None:
    """Make the database `content` of this version with the rows of `unchecked`, which is deleted.

    Raises ``DamagedBackup``.
    """
    try:
        with _open(content) as copy:
            copy.upgrade(about.schema_version)
        sqlite_files.copy_rows(unchecked, content)
        unchecked.unlink()
        sqlite_files.check(content)
        with _open(content) as copy:
            with copy.reading() as session:
                # Before the upgrade, which renames tables and drops some.
                copied = counts(session, about.counts)
            for name, n_rows in about.counts.items():
                if copied.get(name, 0) != n_rows:
                    raise DamagedBackup(f"{name}: {copied.get(name)} of {n_rows} rows")
            copy.upgrade()
            with copy.reading() as session:
                _check_values(session)
            if about.schema_version != HEAD:
                stored_summaries.recompute(copy)
        sqlite_files.close(content)
    except (sqlite_files.DamagedDatabase, UnfitRow, ValueError, TypeError) as damaged:
        raise DamagedBackup(*damaged.args) from damaged
    except (sqlite3.Error, DatabaseError) as failure:
        # A full or failing disk says nothing of the backup.
        if outage(failure) not in {None, Outage.DAMAGED}:
            raise
        raise DamagedBackup(str(getattr(failure, "orig", failure))) from failure


def _check_values(session: Session) -> None:
    """Check that every column has values of its type from which figures can be computed.

    Raises ``UnfitRow`` and ``DamagedBackup``.
    """
    for table in moves.tables():
        with moves.rows_in_order(session, table) as rows:
            for row in rows:
                moves.check_fit(table, row._asdict())
    for column, allowed in VALUES.items():
        for value in session.scalars(select(column).distinct()):
            if value not in allowed:
                raise DamagedBackup(f"{column}: {value!r:.80}")


def _put_sqlite(database: Database, content: Path, name_of_earlier: str | None) -> str | None:
    """Put `content` in the place of the database file; return where the earlier file is."""
    target = Path(database.description)
    earlier = None
    if name_of_earlier is not None:
        earlier = target.with_name(f"{target.stem}.{name_of_earlier}{target.suffix}")
    database.close()
    sqlite_files.replace_database(content, target, earlier)
    sync(target)
    return None if earlier is None else str(earlier)


def _put_postgres(database: Database, content: Path, name_of_earlier: str | None) -> str | None:
    """Set our tables aside in a schema, make them anew and fill them, all in one transaction.

    Returns the schema; ``None`` where the earlier tables were empty, which are dropped.
    """
    schema = name_of_earlier or EMPTY_SCHEMA
    with database.engine.begin() as connection:
        outages.set_aside(connection, schema)
        database.make_tables(connection)
        with Session(connection, join_transaction_mode="create_savepoint") as session:
            try:
                with _open(content) as copy, copy.reading() as source:
                    move(source, session)
            except (UnfitRow, RowsDiffer, ValueError, TypeError) as wrong:
                raise DamagedBackup(*wrong.args) from wrong
            session.commit()
        if name_of_earlier is None:
            outages.drop(connection, schema)
    return name_of_earlier


def _unpack(file: Path, about: About, content: Path) -> None:
    """Write the database in a backup to `content`; raises ``DamagedBackup`` for another size.

    It stops at the size that the description states, or at ``MAX_RATIO``.
    """
    most = min(about.size, max(ALWAYS_UNPACKED, MAX_RATIO * file.stat().st_size))
    content.touch(mode=0o600)
    size = 0
    try:
        with (
            zipfile.ZipFile(file) as archive,
            archive.open(CONTENT) as member,
            content.open("wb") as output,
        ):
            while piece := member.read(PIECE):
                size += len(piece)
                if size > most:
                    break
                output.write(piece)
    except UNREADABLE as damaged:
        raise DamagedBackup(str(file)) from damaged
    if size != about.size:
        raise DamagedBackup(str(file))
