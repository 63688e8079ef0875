"""A database moves to the other engine with every row, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Delete, Update, delete, select, update

from relevansi.db.engine import Database
from relevansi.db.tables.base import Base
from relevansi.db.tables.judging import StoredItem
from relevansi.db.tables.study import Study
from relevansi.services.backups import moves
from relevansi.services.backups.moves import RowsDiffer, TargetNotEmpty, UnfitRow
from tests.conftest import NOW
from tests.services.backups.full_database import ROWS, fill, fill_catalogue, judged, matches, pack
from tests.services.other_database import on_postgres, on_sqlite


@pytest.fixture(name="target")
def _second_database(
    database: Database, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Database]:
    target = (
        on_postgres(request.getfixturevalue("postgres"))
        if database.is_sqlite
        else on_sqlite(tmp_path)
    )
    yield target
    target.close()


def moved(source: Database, target: Database) -> dict[str, int]:
    with source.reading() as old, target.writing() as new:
        result = moves.move(old, new)
        new.commit()
    return result


def test_every_row_of_every_table_arrives_with_every_type_and_new_ones_are_numbered_on(
    database: Database, target: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moves, "CHUNK", ROWS - 1)
    with database.writing() as session:
        fill(session)
        session.commit()

    result = moved(database, target)

    assert result == dict.fromkeys(Base.metadata.tables, ROWS)
    for table in moves.tables():
        with database.reading() as old, target.reading() as new:
            rows = select(table).order_by(*table.primary_key)
            assert new.execute(rows).all() == old.execute(rows).all()
    with target.writing() as session:
        added = StoredItem(identity="slug:new")
        session.add(added)
        session.flush()
        assert added.id == 10 * ROWS + 1


def test_a_study_that_was_moved_gives_the_same_proof_pack_and_can_be_moved_back(
    database: Database, target: Database, tmp_path: Path
) -> None:
    judged(database)
    back = on_sqlite(tmp_path, "back")

    assert moved(database, target) == moved(target, back)
    assert pack(database) == pack(target)
    back.close()


def test_a_database_with_rows_is_no_target(database: Database, target: Database) -> None:
    with target.writing() as session:
        session.add(StoredItem(identity="slug:there"))
        session.commit()

    with pytest.raises(TargetNotEmpty, match="items"):
        moved(database, target)


@pytest.mark.parametrize(
    "spoil", [update(Study).values(created_at=NOW + timedelta(microseconds=1)), delete(Study)]
)
def test_a_row_that_changed_on_the_way_is_named_and_nothing_stays(
    database: Database, target: Database, monkeypatch: pytest.MonkeyPatch, spoil: Update | Delete
) -> None:
    with database.writing() as session:
        session.add(Study(name="one", created_at=NOW))
        session.commit()
    monkeypatch.setattr(moves, "_continue_numbering", lambda target: target.execute(spoil))

    with pytest.raises(RowsDiffer, match=r'studies: {"id": 1}'):
        moved(database, target)
    with target.reading() as session:
        assert not any(moves.counts(session).values())


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_what_the_other_engine_cannot_hold_is_told(database: Database, target: Database) -> None:
    """PostgreSQL has no text that SQLite refuses."""
    with database.writing() as session:
        session.add(StoredItem(identity="slug:\0"))
        session.commit()

    with pytest.raises(UnfitRow, match=r"items: .*NUL"):
        moved(database, target)


def test_a_moved_catalogue_is_searched_where_it_arrives(
    database: Database, target: Database
) -> None:
    fill_catalogue(database)

    moved(database, target)

    assert (matches(target, "dress"), matches(target, "hat")) == (1, 0)
