"""The study of a database, and of one in a folder, as a command finds it there."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from hashlib import sha256
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy.orm import Session

from relevansi.config import sqlite_url
from relevansi.db.engine import Database
from relevansi.db.tables.study import Study
from relevansi.services.study import studies
from tests.conftest import NOW, copied

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def open_study(database: Database) -> Iterator[tuple[Session, Study]]:
    """Open the study of a database, made if it is new, and keep what is done to it."""
    with database.writing() as session:
        yield session, studies.open_or_make(session, NOW)
        session.commit()


@contextmanager
def study_in(instance: Path) -> Iterator[tuple[Session, Study]]:
    database = Database(sqlite_url(instance / "relevansi.sqlite"))
    database.prepare()
    try:
        with open_study(database) as opened:
            yield opened
    finally:
        database.close()


def made_once(make: Callable[Concatenate[Database, P], T]) -> Callable[Concatenate[Database, P], T]:
    """Let the first test make something in its SQLite file; the others copy the file it became.

    Only what is made in the same way from the same file is copied. On PostgreSQL each makes it.
    """
    files: dict[tuple[bytes, str], tuple[Path, T]] = {}

    @wraps(make)
    def once(database: Database, /, *arguments: P.args, **options: P.kwargs) -> T:
        if not database.is_sqlite:
            return make(database, *arguments, **options)
        database.close()  # everything is in the one file now
        file = Path(database.description)
        before = sha256(file.read_bytes())
        key = (before.digest(), repr((arguments, options)))
        if key in files:
            copied(files[key][0], database)
        else:
            result = make(database, *arguments, **options)
            database.close()
            name = sha256(repr((make.__module__, make.__qualname__, key)).encode()).hexdigest()
            files[key] = Path(shutil.copy(file, file.with_name(name))), result
        return files[key][1]

    return once


def folder_made_once(make: Callable[..., T]) -> Callable[..., T]:
    """Let the first test fill its folder, `tmp_path`; the others copy what that became."""
    folders: list[tuple[Path, T]] = []

    @wraps(make)
    def once(tmp_path: Path, **fixtures: object) -> T:
        if folders:
            shutil.copytree(folders[0][0], tmp_path, dirs_exist_ok=True)
        else:
            result = make(tmp_path, **fixtures)
            copy = tmp_path.with_name(f"{tmp_path.name}-{make.__name__}")
            folders.append((Path(shutil.copytree(tmp_path, copy)), result))
        return folders[0][1]

    return once
