"""Our tables of PostgreSQL move into another schema whole, and go with it."""

from __future__ import annotations

import pytest
from sqlalchemy import inspect, text

from relevansi.db import outages
from relevansi.db.engine import Database
from relevansi.db.migrations import OLDEST
from relevansi.db.tables.base import Base

OURS = {*Base.metadata.tables, outages.VERSION_TABLE}

pytestmark = pytest.mark.parametrize("database", ["postgresql"], indirect=True)


def test_our_tables_are_set_aside_and_others_stay(database: Database) -> None:
    with database.engine.connect() as connection:
        connection.execute(text("CREATE TABLE somebody_elses (id integer)"))
        outages.set_aside(connection, "aside")

        assert set(inspect(connection).get_table_names("aside")) == OURS
        assert inspect(connection).get_table_names() == ["somebody_elses"]
        connection.rollback()


def test_tables_of_the_oldest_version_are_set_aside_too(database: Database) -> None:
    with database.engine.connect() as connection:
        outages.set_aside(connection, "newest")
        database.make_tables(connection, OLDEST)
        outages.set_aside(connection, "oldest")

        assert inspect(connection).get_table_names() == []
        connection.rollback()


def test_a_schema_goes_with_all_its_tables(database: Database) -> None:
    with database.engine.connect() as connection:
        outages.set_aside(connection, "aside")
        outages.drop(connection, "aside")

        assert "aside" not in inspect(connection).get_schema_names()
        connection.rollback()


def test_a_role_of_its_own_is_no_superuser(database: Database) -> None:
    with database.engine.connect() as connection:
        assert outages.acts_as_superuser(connection)  # the server is ours
        connection.execute(text("CREATE ROLE plain"))
        connection.execute(text("SET ROLE plain"))
        assert not outages.acts_as_superuser(connection)
        connection.rollback()
