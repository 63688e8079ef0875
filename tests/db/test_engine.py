"""The database keeps committed rows only, and its writers queue."""

from __future__ import annotations

from threading import Thread

import pytest
from sqlalchemy import func, insert, select, text
from sqlalchemy.exc import IntegrityError

from tests.conftest import NOW
from webapp.db.engine import Database
from webapp.db.tables.judging import Property
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study

WRITERS, EACH = 6, 8


def test_sqlite_syncs_every_commit_and_holds_foreign_keys(database: Database) -> None:
    if not database.is_sqlite:
        pytest.skip("settings of SQLite")
    with database.reading() as session:
        settings = {
            name: session.scalar(text(f"PRAGMA {name}"))
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }

    assert settings == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 10_000,
    }


def test_a_row_without_its_parent_is_refused(database: Database) -> None:
    with database.writing() as session:
        session.add(Rater(study_id=99, name="nobody's", created_at=NOW))
        with pytest.raises(IntegrityError):
            session.commit()


def test_what_is_not_committed_is_gone(database: Database) -> None:
    with database.writing() as session:
        session.add(Study(name="lost", created_at=NOW))
        session.flush()

    with database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Study)) == 0


def test_a_failure_frees_the_connection_and_the_writers(database: Database) -> None:
    values = {"id": 1, "name": "A", "order_secret": "5" * 64, "created_at": NOW}

    def fail() -> None:
        with database.writing() as session:
            for _ in range(2):
                session.execute(insert(Study).values(**values))

    for _ in range(3):
        with pytest.raises(IntegrityError):
            fail()
    with database.writing() as session:
        assert session.scalars(select(Study.id)).all() == []


def test_a_reader_sees_one_state_of_the_database_throughout(database: Database) -> None:
    with database.reading() as reader:
        assert reader.scalar(select(func.count()).select_from(Property)) == 0
        with database.writing() as writer:
            writer.add(Property(identity="slug:a"))
            writer.commit()
        assert reader.scalar(select(func.count()).select_from(Property)) == 0

    with database.reading() as later:
        assert later.scalar(select(func.count()).select_from(Property)) == 1


def test_times_come_back_aware_and_equal(database: Database) -> None:
    with database.writing() as session:
        session.add(Study(name="one", created_at=NOW))
        session.commit()

    with database.reading() as session:
        assert session.scalars(select(Study.created_at)).one() == NOW


def test_many_writers_at_once_all_get_through(database: Database) -> None:
    def write(writer: int) -> None:
        for number in range(EACH):
            with database.writing() as session:
                session.add(Property(identity=f"{writer}/{number}"))
                session.commit()

    threads = [Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Property)) == WRITERS * EACH


def test_a_connection_whose_server_went_away_is_replaced(database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite has no server")
    with database.reading() as session:
        ours = session.scalar(text("SELECT pg_backend_pid()"))
    other = Database(database.url.render_as_string(hide_password=False))
    with other.engine.connect() as connection:
        connection.execute(text("SELECT pg_terminate_backend(:ours, 5000)"), {"ours": ours})
    other.close()

    with database.reading() as session:
        assert session.scalar(text("SELECT pg_backend_pid()")) != ours
