"""The studies of one folder: a database each, named after the address below which it is served.

An archived study has an empty file beside it that says so. The folder's own database has the
password of its owner; of a study only counts are read here, never the names of its people.
"""

from __future__ import annotations

import hashlib
import hmac
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from relevansi.config import STUDY, sqlite_url
from relevansi.db import outages, sqlite_files
from relevansi.db.engine import Database
from relevansi.db.outages import Outage
from relevansi.failures import Conflict, Failure, Missing, Refused
from relevansi.i18n import mark
from relevansi.services.backups import backups
from relevansi.services.people import sign_in
from relevansi.services.study import demos, studies
from relevansi.services.study.progress import progress_of_raters

PATIENCE = 0.5
"""Seconds that the list waits for a database which somebody locks."""
ARCHIVED = ".archived"


class UnfitName(Refused):
    message = mark('"%(name)s" cannot be the name of a study')
    remedy = mark("It takes up to 60 of a-z, 0-9 and -, such as pilot-2.")
    status = 422


class UnknownStudy(Missing):
    message = mark("There is no study %(name)s")
    remedy = mark("The first page lists every study of this folder.")


class StudyExists(Conflict):
    message = mark("There is a study %(name)s already")
    remedy = mark("Choose another name.")


class EmptyDatabase(Conflict):
    message = mark("There is no study in %(name)s")
    remedy = mark("Delete the file, and make the study on the first page.")


class Archived(Conflict):
    message = mark("This study is archived")
    remedy = mark("It can be read, and nothing was changed. The folder's owner can open it again.")


class FolderLine(Struct, frozen=True):
    """One study in the list; ``problem`` or ``outage`` is why it cannot be opened.

    ``share`` is the part of the raters' turns that are done, 0 to 1; ``None`` without any.
    ``setup_key`` is that of the link which sets its first password, empty once there is one.
    """

    name: str
    size: int
    is_archived: bool
    title: str = ""
    raters: int = 0
    share: float | None = None
    setup_key: str = ""
    problem: str = ""
    outage: Outage | None = None


def find(folder: Path, name: str) -> Path:
    """Return the database of a study; raises ``UnknownStudy``, also while it is being made."""
    file = folder / f"{name}.sqlite"
    if not STUDY.fullmatch(name) or not file.is_file() or not file.stat().st_size:
        raise UnknownStudy(name)
    return file


def names(folder: Path) -> list[str]:
    """Return the names of the studies in a folder, in order."""
    return sorted(file.stem for file in folder.glob("*.sqlite") if STUDY.fullmatch(file.stem))


def lines(folder: Path, secret: str) -> list[FolderLine]:
    """Return every study with its state; of one that cannot be read the line says why."""
    return [_line(folder, name, secret) for name in names(folder)]


def _line(folder: Path, name: str, secret: str) -> FolderLine:
    file = folder / f"{name}.sqlite"
    parts = (Path(f"{file}{part}") for part in sqlite_files.PARTS)
    size = sum(part.stat().st_size for part in parts if part.is_file())
    line = FolderLine(name, size, is_archived(folder, name))
    problem, outage = "", None
    try:
        with closing(Database(sqlite_url(file), patience=PATIENCE)) as database:
            if database.version() is None:
                raise EmptyDatabase(file.name)
            database.prepare()
            return _read(database, line, study_secret(secret, name))
    except Failure as failure:
        problem = failure.line()
    except outages.OUTAGE_ERRORS as failure:
        outage = outages.outage(failure) or Outage.DAMAGED
    return replace(line, problem=problem, outage=outage)


def _read(database: Database, line: FolderLine, secret: str) -> FolderLine:
    with database.reading() as session:
        study = studies.current(session)
        if study is None:
            raise EmptyDatabase(Path(database.description).name)
        turns = [rater.progress for rater in progress_of_raters(session, study)]
        total = sum(progress.of for progress in turns)
        return replace(
            line,
            title=studies.shown_name(study),
            raters=len(studies.present(session, study)),
            share=sum(progress.finished for progress in turns) / total if total else None,
            setup_key="" if study.password else sign_in.setup_key(study, secret),
        )


def study_secret(secret: str, name: str) -> str:
    """Return the key that signs the cookies of one study: no other study accepts them."""
    if not name:
        return secret
    return hmac.new(secret.encode(), f"study/{name}".encode(), hashlib.sha256).hexdigest()


def is_demo(file: Path) -> bool:
    """Whether a database is a demo's; one that cannot be read is none."""
    try:
        return sqlite_files.marked(file) != 0
    except sqlite3.Error:
        return False


def is_archived(folder: Path, name: str) -> bool:
    return (folder / f"{name}{ARCHIVED}").exists()


def archive(folder: Path, name: str) -> None:
    """Let a study be read only, by every server of the folder, until it is opened again."""
    find(folder, name)
    (folder / f"{name}{ARCHIVED}").touch()


def reopen(folder: Path, name: str) -> None:
    """Let an archived study be changed again."""
    find(folder, name)
    (folder / f"{name}{ARCHIVED}").unlink(missing_ok=True)


def make(folder: Path, name: str, password: str | None, now: datetime) -> None:
    """Make a new study; its owner has the folder's `password`, hashed, if there is one."""
    with _new(folder, name) as database:
        _begin(database, password, now)


def make_of_backup(
    folder: Path, name: str, backup: Path, password: str | None, now: datetime
) -> None:
    """Make a study of a `backup`; raises what ``backups.restore`` does."""
    with _new(folder, name) as database:
        backups.restore(database, backup, now)
        _begin(database, password, now)


def make_demo(
    folder: Path, name: str, password: str | None, now: datetime, *, documents: bool
) -> None:
    """Make a study of the demo of properties, or of `documents`."""
    with _new(folder, name) as database:
        demos.restore(Path(database.description), documents=documents)
        _begin(database, password, now)


def _begin(database: Database, password: str | None, now: datetime) -> None:
    database.prepare()
    with database.writing() as session:
        study = studies.open_or_make(session, now)
        if study.password is None and password is not None:
            sign_in.set_password(session, study, password, now)
        session.commit()


@contextmanager
def _new(folder: Path, name: str) -> Iterator[Database]:
    """Yield the database of a new study, which is deleted again if anything fails."""
    if not STUDY.fullmatch(name):
        raise UnfitName(name)
    file = folder / f"{name}.sqlite"
    try:
        file.touch(mode=0o600, exist_ok=False)  # two who choose one name at once do not get both
    except FileExistsError:
        raise StudyExists(name) from None
    (folder / f"{name}{ARCHIVED}").unlink(missing_ok=True)  # left by an earlier study of that name
    try:
        with closing(Database(sqlite_url(file))) as database:
            yield database
    except BaseException:
        sqlite_files.delete(file)
        raise


def unfit_names(folder: Path) -> list[str]:
    """Return the databases of a folder whose names cannot be addresses: no study opens by them."""
    stems = (file.name for file in folder.glob("*.sqlite") if not file.name.startswith("."))
    earlier = f".{sqlite_files.KEPT}-"
    unfit = [name for name in stems if not STUDY.fullmatch(Path(name).stem)]
    return sorted(name for name in unfit if earlier not in name)
