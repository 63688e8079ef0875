"""The study of a database, and of one in a folder, as a command finds it there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.orm import Session

from relevansi.config import sqlite_url
from relevansi.db.engine import Database
from relevansi.db.tables.study import Study
from relevansi.services.study import studies
from tests.conftest import NOW


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
