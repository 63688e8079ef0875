"""Rows written in one statement, whether they are there already or not."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from tests.conftest import NOW
from webapp.db.engine import Database, added, tables, upsert
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study


def study(**said: Any) -> dict[str, Any]:
    """The values of a study."""
    return {"id": 1, "name": "Study", "order_secret": "5" * 64, "created_at": NOW} | said


def test_a_row_is_written_over_the_one_with_its_key(database: Database) -> None:
    with database.writing() as session:
        write = upsert(Study, database.engine.dialect.name, ("name", "order_secret", "created_at"))
        for name in ("First", "Second"):
            tables(session).execute(write, study(name=name))
        session.commit()
        kept = session.get_one(Study, 1)

        assert (kept.name, kept.guidelines, kept.created_at) == ("Second", "", NOW)


def test_columns_that_are_kept_stay_as_they_are(database: Database) -> None:
    with database.writing() as session:
        given = ("name", "order_secret", "created_at")
        write = upsert(Study, database.engine.dialect.name, given, kept=("name",))
        for name in ("First", "Second"):
            tables(session).execute(write, study(name=name))

        assert session.scalars(select(Study.name)).all() == ["First"]


def test_a_row_is_added_once_and_another_of_the_same_is_told(database: Database) -> None:
    rater = {"study_id": 1, "name": "Ani", "created_at": NOW}
    with database.writing() as session:
        session.add(Study(**study()))
        write = added(Rater, database.engine.dialect.name, ("study_id", "name"))

        assert [tables(session).execute(write, rater).rowcount for _ in range(2)] == [1, 0]
        assert tables(session).execute(write, rater | {"name": "Budi"}).rowcount == 1
        session.commit()
    with database.reading() as session:
        assert session.scalars(select(Rater.name).order_by(Rater.id)).all() == ["Ani", "Budi"]
