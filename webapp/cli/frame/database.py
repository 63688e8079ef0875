"""The configured database, opened for a command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from webapp.config import Settings
from webapp.db.engine import Database
from webapp.db.tables.study import Study
from webapp.services.study import studies


def now() -> datetime:
    """Return the present moment."""
    return datetime.now(UTC)


@contextmanager
def opened() -> Iterator[Database]:
    """Yield the configured database, made if it is new; close it afterwards."""
    database = Database(Settings.from_environment().database_url)
    try:
        database.prepare()
        yield database
    finally:
        database.close()


@contextmanager
def reading() -> Iterator[tuple[Session, Study]]:
    """Yield a session for reading and the open study, which is made in a new database."""
    with opened() as database:
        with database.writing() as session:
            studies.open_or_make(session, now())
            session.commit()
        with database.reading() as session:
            study = studies.current(session)
            assert study is not None
            yield session, study
