"""A database moves to the other engine and back, every row of every table the same."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete, inspect, select, update

from tests.conftest import NOW
from tests.services.backups.full_database import ROWS, fill
from tests.services.judging.rated_studies import rated_study
from tests.services.other_database import on_sqlite
from webapp.db.engine import Database
from webapp.db.tables.base import Base
from webapp.db.tables.judging import Event, Property
from webapp.db.tables.study import Study
from webapp.services.backups import moving
from webapp.services.backups.moving import MovedTable, RowsDiffer, TargetNotEmpty, UnfitRow
from webapp.services.study import studies


def moved(source: Database, target: Database) -> tuple[MovedTable, ...]:
    with source.reading() as old, target.writing() as new:
        found = moving.move(old, new, lambda _name, _rows: None)
        new.commit()
    return found


def test_every_table_of_the_database_is_moved(database: Database) -> None:
    there = set(inspect(database.engine).get_table_names()) - {"alembic_version"}

    assert {table.name for table in moving.tables()} == there == set(Base.metadata.tables)


def test_every_row_of_every_table_arrives_with_every_type(
    database: Database, other: Database
) -> None:
    with database.writing() as session:
        fill(session)
        session.commit()

    found = moved(database, other)

    assert {table.name: table.rows for table in found} == dict.fromkeys(Base.metadata.tables, ROWS)
    assert len({table.digest for table in found}) > len(found) - 3  # some have equal columns
    for table in moving.tables():
        with database.reading() as old, other.reading() as new:
            key = list(table.primary_key)
            assert (
                new.execute(select(table).order_by(*key)).all()
                == old.execute(select(table).order_by(*key)).all()
            )


def test_there_and_back_gives_the_same_digests(
    database: Database, other: Database, tmp_path: Path
) -> None:
    with database.writing() as session:
        rated_study(session, studies.open_or_make(session, NOW))
        session.commit()
    back = on_sqlite(tmp_path, "back")

    assert moved(database, other) == moved(other, back)
    back.close()


def test_new_rows_are_numbered_after_those_that_came(database: Database, other: Database) -> None:
    with database.writing() as session:
        fill(session)
        session.commit()
    moved(database, other)

    with other.writing() as session:
        new = Property(identity="slug:new")
        session.add(new)
        session.commit()
        assert new.id == 10 * ROWS + 1


def test_more_rows_than_a_chunk_arrive(
    database: Database, other: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving, "CHUNK", 7)
    with database.writing() as session:
        session.add_all(Property(identity=f"slug:{number}") for number in range(50))
        session.commit()

    found = {table.name: table.rows for table in moved(database, other)}

    assert found["properties"] == 50


def test_a_database_with_rows_is_no_target(database: Database, other: Database) -> None:
    with other.writing() as session:
        session.add(Property(identity="slug:there"))
        session.commit()

    with pytest.raises(TargetNotEmpty, match="properties"):
        moved(database, other)


def test_a_row_that_changed_on_the_way_is_named_and_nothing_stays(
    database: Database, other: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.writing() as session:
        session.add(Study(name="one", created_at=NOW))
        session.commit()
    count_on = moving._count_on

    def spoil(target: object) -> None:
        count_on(target)  # type: ignore[arg-type]
        target.execute(  # type: ignore[attr-defined]
            update(Study).values(created_at=NOW + timedelta(microseconds=1))
        )

    monkeypatch.setattr(moving, "_count_on", spoil)

    with pytest.raises(RowsDiffer, match=r'studies: {"id": 1}'):
        moved(database, other)
    with other.reading() as session:
        assert moving.filled(session) == []


def test_a_row_that_went_missing_is_named(
    database: Database, other: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.writing() as session:
        session.add(Property(identity="slug:a"))
        session.commit()

    def lose(target: object) -> None:
        target.execute(delete(Property))  # type: ignore[attr-defined]

    monkeypatch.setattr(moving, "_count_on", lose)

    with pytest.raises(RowsDiffer, match="properties"):
        moved(database, other)


def test_what_the_other_engine_cannot_hold_is_told(database: Database, other: Database) -> None:
    if not database.is_sqlite:
        pytest.skip("PostgreSQL has no text that SQLite refuses")
    with database.writing() as session:
        session.add(Property(identity="slug:\0"))
        session.commit()

    with pytest.raises(UnfitRow, match=r"properties: .*NUL"):
        moved(database, other)


def test_the_source_is_left_as_it_is(database: Database, other: Database) -> None:
    with database.writing() as session:
        fill(session)
        session.commit()
    with database.reading() as session:
        before = moving.counts(session)
        events = session.execute(select(Event.__table__)).all()
    moved(database, other)

    with database.reading() as session:
        assert moving.counts(session) == before
        assert session.execute(select(Event.__table__)).all() == events
