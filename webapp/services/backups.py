"""The whole database as one file, taken while it is in use, and put back.

A backup is a zip of two members: what is in it (``backup.json``), and the database as its
engine hands it out. It goes to a file beside the wanted one, is synced to disk, and then takes
its name, so that a backup is there whole or not at all.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, NonNegativeInt, ValidationError
from sqlalchemy import Connection, func, inspect, select, table

from webapp.config import sqlite_url
from webapp.db import postgres_dumps, sqlite_dumps
from webapp.db.engine import Database, known_versions
from webapp.db.models import Base

KIND = "relevansi backup"
ABOUT = "backup.json"
CONTENT = {"sqlite": "database.sqlite", "postgresql": "database.pgdump"}
LEVEL = {"database.sqlite": 6, "database.pgdump": 0}
"""pg_dump compresses by itself."""
EMPTY_SCHEMA = "before-restore"
"""Where PostgreSQL's tables without rows wait until they can go."""
MOST_ABOUT = 2**20
PIECE = 2**20
UNREADABLE = (zipfile.BadZipFile, KeyError, EOFError, zlib.error, RuntimeError)
"""What a zip says when it is none, or cut off, or changed."""


class NothingToBackUp(Exception):
    """There is no database yet, or one without tables; the message says where."""


class BackupExists(Exception):
    """A file of this name is there already; the message is its name."""


class NotABackup(Exception):
    """The file is no backup of ours; the message is its name."""


class DamagedBackup(Exception):
    """The file is a backup, but not whole or not as it was written; the message says what."""


class NewerBackup(Exception):
    """The backup is of a newer version of the tables; the message is the product's version."""


class OtherEngine(Exception):
    """The backup is of the other kind of database; the message is its kind."""


class DatabaseNotEmpty(Exception):
    """The database to restore into holds rows; the message says where it is."""


class About(BaseModel):
    """What a backup says of itself."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: str
    product: str
    engine: str
    schema_version: str
    created_at: AwareDatetime
    sha256: str
    size: NonNegativeInt
    counts: Mapping[str, NonNegativeInt]


@dataclass(frozen=True, slots=True)
class Restored:
    """What was put back; ``kept`` is where the earlier database is, if there was one."""

    about: About
    kept: str | None


def back_up(database: Database, file: Path, now: datetime, *, replace: bool = False) -> About:
    """Write everything in the database, as it is at one moment, to `file`.

    Raises ``BackupExists`` unless `replace`, ``NothingToBackUp``, ``sqlite_dumps.Damaged``,
    ``postgres_dumps.NoSuchProgram`` and ``ProgramFailed``.
    """
    if file.exists() and not replace:
        raise BackupExists(str(file))
    engine = database.url.get_backend_name()
    if database.is_missing():
        raise NothingToBackUp(database.description)
    with _folder_beside(file) as folder:
        content = folder / CONTENT[engine]
        schema_version, counts = _taken(database, content)
        about = About(
            kind=KIND,
            product=version("relevansi"),
            engine=engine,
            schema_version=schema_version,
            created_at=now,
            sha256=_hash(content),
            size=content.stat().st_size,
            counts=counts,
        )
        _name(_packed(folder, about, content), file, replace=replace)
    return about


def read(file: Path) -> About:
    """Return what a backup says of itself; raises ``NotABackup`` and ``NewerBackup``."""
    try:
        with zipfile.ZipFile(file) as archive, archive.open(ABOUT) as member:
            about = About.model_validate_json(member.read(MOST_ABOUT))
    except (*UNREADABLE, ValidationError) as wrong:
        raise NotABackup(str(file)) from wrong
    if about.kind != KIND or about.engine not in CONTENT:
        raise NotABackup(str(file))
    if about.schema_version not in known_versions():
        raise NewerBackup(about.product)
    return about


def restore(database: Database, file: Path, now: datetime, *, replace: bool = False) -> Restored:
    """Put a backup in the place of the database, which is empty or, with `replace`, kept aside.

    Everything is checked before anything is touched. Raises ``NotABackup``, ``NewerBackup``,
    ``DamagedBackup``, ``OtherEngine``, ``DatabaseNotEmpty``, ``sqlite_dumps.InUse``,
    ``postgres_dumps.NoSuchProgram`` and ``ProgramFailed``.
    """
    about = read(file)
    if about.engine != database.url.get_backend_name():
        raise OtherEngine(about.engine)
    is_kept = _has_rows(database)
    if is_kept and not replace:
        raise DatabaseNotEmpty(database.description)
    name = f"before-restore-{now:%Y%m%dT%H%M%S}-{secrets.token_hex(2)}"
    beside = Path(database.description) if database.is_sqlite else file
    with _folder_beside(beside) as folder:
        content = folder / CONTENT[about.engine]
        _unpack(file, about, content)
        put = _put_sqlite if database.is_sqlite else _put_postgres
        aside = put(database, content, about, name if is_kept else None)
    return Restored(about, aside)


def _taken(database: Database, content: Path) -> tuple[str, dict[str, int]]:
    """Write the database to `content`; return its version and how many rows each table has."""
    if database.is_sqlite:
        sqlite_dumps.take(Path(database.description), content)
        with _opened(content) as copy, copy.engine.connect() as connection:
            return _version(database, copy), _counts(connection)
    schema_version = _version(database, database)
    with database.reading() as session:
        connection = session.connection()
        postgres_dumps.take(database.url, content, connection)
        content.chmod(0o600)
        return schema_version, _counts(connection)


def _version(database: Database, taken: Database) -> str:
    found = taken.version()
    if found is None:
        raise NothingToBackUp(database.description)
    return found


@contextmanager
def _opened(content: Path) -> Iterator[Database]:
    copy = Database(sqlite_url(content))
    try:
        yield copy
    finally:
        copy.close()


def _counts_in(content: Path) -> dict[str, int]:
    with _opened(content) as copy, copy.engine.connect() as connection:
        return _counts(connection)


def _counts(connection: Connection) -> dict[str, int]:
    """Return how many rows each of our tables has, whichever of them there are."""
    there = set(inspect(connection).get_table_names())
    return {
        name: connection.scalar(select(func.count()).select_from(table(name))) or 0
        for name in Base.metadata.tables
        if name in there
    }


def _has_rows(database: Database) -> bool:
    """Whether anything would be lost; what cannot be read as a database counts as something."""
    if database.is_missing():
        return False
    if database.is_sqlite:
        try:
            return any(_counts_in(Path(database.description)).values())
        except Exception:  # noqa: BLE001 - whatever it is, it is not ours to overwrite
            return Path(database.description).stat().st_size > 0
        finally:
            database.close()
    with database.reading() as session:
        return any(_counts(session.connection()).values())


def _put_sqlite(database: Database, content: Path, about: About, name: str | None) -> str | None:
    try:
        sqlite_dumps.check(content)
    except sqlite_dumps.Damaged as damaged:
        raise DamagedBackup(str(damaged)) from damaged
    _agree(about, _counts_in(content))
    target = Path(database.description)
    aside = None if name is None else target.with_name(f"{target.stem}.{name}{target.suffix}")
    database.close()
    sqlite_dumps.put(content, target, aside)
    _sync(target)
    return None if aside is None else str(aside)


def _put_postgres(database: Database, content: Path, about: About, name: str | None) -> str | None:
    """Set our tables aside, restore, compare; if that fails, everything is as it was."""
    postgres_dumps.check(content)
    schema = name or EMPTY_SCHEMA
    with database.engine.begin() as connection:
        postgres_dumps.set_aside(connection, schema)
    try:
        postgres_dumps.put(database.url, content)
        with database.engine.connect() as connection:
            _agree(about, _counts(connection))
    except BaseException:
        with database.engine.begin() as connection:
            postgres_dumps.take_back(connection, schema)
        raise
    if name is None:
        with database.engine.begin() as connection:
            postgres_dumps.drop(connection, schema)
    return name


def _agree(about: About, counts: Mapping[str, int]) -> None:
    for name, stated in about.counts.items():
        if counts.get(name) != stated:
            raise DamagedBackup(f"{name}: {counts.get(name)} of {stated} rows")


def _packed(folder: Path, about: About, content: Path) -> Path:
    packed = folder / "backup.zip"
    packed.touch(mode=0o600)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(ABOUT, about.model_dump_json(indent=2))
        archive.write(content, content.name, compresslevel=LEVEL[content.name])
    return packed


def _unpack(file: Path, about: About, content: Path) -> None:
    """Write the database in a backup to `content`; raises ``DamagedBackup``."""
    content.touch(mode=0o600)
    digest, size = sha256(), 0
    try:
        with (
            zipfile.ZipFile(file) as archive,
            archive.open(CONTENT[about.engine]) as member,
            content.open("wb") as output,
        ):
            for piece in _pieces(member):
                size += len(piece)
                if size > about.size:
                    break
                digest.update(piece)
                output.write(piece)
    except UNREADABLE as damaged:
        raise DamagedBackup(str(file)) from damaged
    if (digest.hexdigest(), size) != (about.sha256, about.size):
        raise DamagedBackup(str(file))


def _hash(content: Path) -> str:
    digest = sha256()
    with content.open("rb") as opened:
        for piece in _pieces(opened):
            digest.update(piece)
    return digest.hexdigest()


def _pieces(opened: Any) -> Iterator[bytes]:
    while piece := opened.read(PIECE):
        yield piece


def _name(packed: Path, file: Path, *, replace: bool) -> None:
    """Give a finished backup its name, for good."""
    _sync(packed)
    if replace:
        packed.replace(file)
    else:
        try:
            os.link(packed, file)  # unlike a rename it never overwrites
        except FileExistsError as exists:
            raise BackupExists(str(file)) from exists
        except OSError:  # a file system without links
            packed.replace(file)
    _sync(file)


def _sync(file: Path) -> None:
    """Bring a file and its name to the disk."""
    with file.open("rb+") as opened:
        os.fsync(opened.fileno())
    with suppress(OSError):  # Windows cannot open a folder, and need not
        folder = os.open(file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def _folder_beside(file: Path) -> Iterator[Path]:
    """Yield a new private folder on the disk of `file`, which is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=f".{file.name}.", dir=file.absolute().parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
