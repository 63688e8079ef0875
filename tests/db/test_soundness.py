"""A database that lost something, or has something of others, is named as such."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from webapp.db import engine
from webapp.db.engine import Database
from webapp.db.tables.study import Study


def test_a_database_as_it_was_made_has_no_faults(database: Database) -> None:
    assert engine.faults(database) == []


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
def test_what_is_missing_and_what_runs_by_itself_is_named(
    database: Database, damage: str, fault: str
) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("PRAGMA foreign_keys = OFF"))
        connection.execute(text(damage))

    assert engine.faults(database) == [fault]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_value_that_is_none_of_its_column_is_named_with_its_table(
    database: Database, session: Session, study: Study
) -> None:
    session.execute(
        text("UPDATE studies SET created_at = 'yesterday' WHERE id = :id"), {"id": study.id}
    )
    session.commit()

    (fault,) = engine.faults(database)

    assert fault.startswith("studies: ")
