"""The database keeps committed rows only, and its writers queue."""

from __future__ import annotations

from itertools import count
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import func, insert, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from relevansi.db import patience, soundness
from relevansi.db.caches import LruCache
from relevansi.db.engine import Database
from relevansi.db.rows import added, core, upsert
from relevansi.db.tables.judging import StoredItem
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from tests.conftest import NOW

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
        assert reader.scalar(select(func.count()).select_from(StoredItem)) == 0
        with database.writing() as writer:
            writer.add(StoredItem(identity="slug:a"))
            writer.commit()
        assert reader.scalar(select(func.count()).select_from(StoredItem)) == 0

    with database.reading() as later:
        assert later.scalar(select(func.count()).select_from(StoredItem)) == 1


def test_many_writers_at_once_all_get_through(database: Database) -> None:
    def write(writer: int) -> None:
        for number in range(EACH):
            with database.writing() as session:
                session.add(StoredItem(identity=f"{writer}/{number}"))
                session.commit()

    threads = [Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with database.reading() as session:
        assert session.scalar(select(func.count()).select_from(StoredItem)) == WRITERS * EACH


def test_a_connection_whose_server_went_away_is_replaced(database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite has no server")
    with database.reading() as session:
        ours = session.scalar(text("SELECT pg_backend_pid()"))
    second_database = Database(database.url.render_as_string(hide_password=False))
    with second_database.engine.connect() as connection:
        connection.execute(text("SELECT pg_terminate_backend(:ours, 5000)"), {"ours": ours})
    second_database.close()

    with database.reading() as session:
        assert session.scalar(text("SELECT pg_backend_pid()")) != ours


def test_the_value_cached_longest_ago_goes_first(database: Database) -> None:
    cache = LruCache[str, int](most=2)
    with database.reading() as session:
        cache.store(session, "a", 1)
        cache.store(session, "b", 2)
        cache.store(session, "a", 3)
        cache.store(session, "c", 4)

        assert [cache.get(session, key) for key in "abc"] == [3, None, 4]


def test_a_value_cached_while_writing_is_cached_while_reading(database: Database) -> None:
    cache = LruCache[str, int](most=2)
    with database.writing() as session:
        cache.store(session, "a", 1)
    with database.reading() as session:
        assert cache.get(session, "a") == 1


def test_time_already_waited_shortens_the_wait_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count(0, 4)  # four seconds pass between two looks
    monkeypatch.setattr(patience, "monotonic", lambda: next(clock))
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", 10.0)

    with patience.shared():  # looks at 0: the deadline is at 10
        assert [patience.seconds_left() for _ in range(3)] == [6, 2, 0]  # at 4, 8 and 12


def test_a_time_that_is_over_is_never_the_0_that_means_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", -1.0)

    assert patience.milliseconds_left() == 1


def study(**values: Any) -> dict[str, Any]:
    return {"id": 1, "name": "Study", "order_secret": "5" * 64, "created_at": NOW} | values


def test_a_row_is_written_over_the_one_with_its_key(database: Database) -> None:
    with database.writing() as session:
        write = upsert(Study, database.engine.dialect.name, ("name", "order_secret", "created_at"))
        for name in ("First", "Second"):
            core(session).execute(write, study(name=name))
        session.commit()
        stored = session.get_one(Study, 1)

        assert (stored.name, stored.guidelines, stored.created_at) == ("Second", "", NOW)


def test_a_row_is_added_once_and_a_second_one_counts_as_0(database: Database) -> None:
    rater = {"study_id": 1, "name": "Ani", "created_at": NOW}
    with database.writing() as session:
        session.add(Study(**study()))
        write = added(Rater, database.engine.dialect.name, ("study_id", "name"))

        assert [core(session).execute(write, rater).rowcount for _ in range(2)] == [1, 0]
        assert core(session).execute(write, rater | {"name": "Budi"}).rowcount == 1
        session.commit()
    with database.reading() as session:
        assert session.scalars(select(Rater.name).order_by(Rater.id)).all() == ["Ani", "Budi"]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        ("DROP TABLE signed_out", "signed_out"),
        ("ALTER TABLE studies DROP COLUMN guidelines", "studies.guidelines"),
        ("CREATE VIEW all_studies AS SELECT * FROM studies", "view all_studies"),
        (
            "CREATE TRIGGER forge AFTER INSERT ON studies BEGIN DELETE FROM studies; END",
            "trigger forge",
        ),
    ],
)
def test_the_missing_and_what_runs_is_named(database: Database, damage: str, fault: str) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("PRAGMA foreign_keys = OFF"))
        connection.execute(text(damage))

    assert soundness.faults(database) == [fault]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_value_of_other_type_is_named(database: Database, session: Session, study: Study) -> None:
    session.execute(
        text("UPDATE studies SET created_at = 'yesterday' WHERE id = :id"), {"id": study.id}
    )
    session.commit()

    (fault,) = soundness.faults(database)

    assert fault.startswith("studies: ")
