"""The drivers that clicks use: whose they are, what becomes of them, what they leave behind."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, OperationalError

from tests.db.test_prepared import NEW_STUDY, study
from webapp.config import sqlite_url
from webapp.db.drivers import Driver
from webapp.db.engine import Database
from webapp.db.outages import Outage, outage

NOBODY = "postgresql+psycopg://nobody@127.0.0.1:1/nothing"
ALL = "SELECT id FROM studies ORDER BY id"


def write(driver: Driver) -> None:
    """Write one row."""
    NEW_STUDY.run(driver, study(1))


def test_those_who_are_busy_at_once_have_a_connection_each(database: Database) -> None:
    with database.asking() as one, database.asking() as other:
        assert one.connection is not other.connection


def test_what_is_not_committed_is_undone_before_the_next_uses_the_connection(
    database: Database,
) -> None:
    with database.judging() as driver:
        write(driver)
    with database.judging() as driver:
        assert [*driver.rows(ALL)] == []
        write(driver)
        driver.commit()
    with database.asking() as driver:
        assert [*driver.rows(ALL)] == [(1,)]


def test_a_failure_frees_the_connection_and_the_writers(database: Database) -> None:
    def fail() -> None:
        with database.judging() as driver:
            write(driver)
            write(driver)

    for _ in range(3):
        with pytest.raises(IntegrityError):
            fail()
    with database.writing() as session:
        assert session.scalars(text(ALL)).all() == []


def test_sqlite_keeps_its_connections_for_the_next_click_and_closes_them_in_the_end(
    tmp_path: Path,
) -> None:
    database = Database(sqlite_url(tmp_path / "a.sqlite"))
    database.prepare()
    with database.asking() as driver:
        asking = driver.connection
        with database.judging() as other:
            judging = other.connection
    with database.judging() as driver:
        assert driver.connection is judging
        with database.asking() as other:
            assert other.connection is asking

    database.close()

    for closed in (asking, judging):
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            closed.execute(ALL)
    with database.asking() as driver:  # it opens anew where it is used again
        assert [*driver.rows(ALL)] == []
    database.close()


def test_a_connection_that_is_cut_after_its_answer_is_given_up_in_silence(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite has no server")
    with database.asking() as driver:
        driver.rows(ALL)
        with database.engine.connect() as other:
            cut = text("SELECT pg_terminate_backend(:pid)")
            other.execute(cut, {"pid": driver.connection.info.backend_pid})

    assert caplog.records == []
    with database.asking() as driver:
        assert [*driver.rows(ALL)] == []


def test_a_server_that_nobody_reaches_is_away() -> None:
    with pytest.raises(OperationalError) as refused, Database(NOBODY).asking():
        pass
    assert outage(refused.value) is Outage.AWAY
