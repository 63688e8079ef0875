"""A second, empty database beside the one of the test."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import text

from relevansi.config import sqlite_url
from relevansi.db.engine import Database

EMPTY = "empty"
"""Its tables are made once; each other database on the server is a copy of it."""


def on_sqlite(folder: Path, name: str = "other") -> Database:
    second_database = Database(sqlite_url(folder / f"{name}.sqlite"))
    second_database.prepare()
    return second_database


def on_postgres(postgres: Database, name: str = "other") -> Database:
    with postgres.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        exists = text("SELECT 1 FROM pg_database WHERE datname = :name")
        if connection.scalar(exists, {"name": EMPTY}) is None:
            connection.execute(text(f"CREATE DATABASE {EMPTY}"))
            empty = Database(address(postgres, EMPTY))
            empty.prepare()
            empty.close()
        connection.execute(text(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {EMPTY}"))
    return Database(address(postgres, name))


def address(postgres: Database, name: str) -> str:
    return postgres.url.set(database=name).render_as_string(hide_password=False)
