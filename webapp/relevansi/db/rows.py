"""Rows written past the ORM: many at once, or only where none has their key."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

from sqlalchemy import Connection, Insert, text
from sqlalchemy.orm import Session

from relevansi.db.tables.base import Base


def core(session: Session) -> Connection:
    """Return the connection behind `session`, once all that it holds is written."""
    session.flush()
    return session.connection()


def insert_rows(
    connection: Connection,
    model: type[Base],
    columns: str,
    rows: Sequence[tuple[object, ...]],
    *,
    values: str = "",
    unless_taken: bool = False,
) -> None:
    """Insert rows of `columns`, named with commas between, as the driver takes them.

    JSON comes as text. `values` has a ? for each value of a row, perhaps within a query.
    `unless_taken`: rows whose unique columns are taken are left out. It is for the hundred thousand
    rows of an import, where SQLAlchemy's work on each takes most of the time.
    """
    mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    marks = (values or ", ".join("?" for _ in columns.split(","))).replace("?", mark)
    table = model.__tablename__
    insert = f"INSERT INTO {table} ({columns}) VALUES ({marks})"  # noqa: S608
    if unless_taken:
        insert += " ON CONFLICT DO NOTHING"
    if rows:
        connection.exec_driver_sql(insert, [*rows])


def next_ids(connection: Connection, model: type[Base], count: int) -> Sequence[int]:
    """The ids of the next rows of a table, so that none has to be read back.

    SQLite would give one above the largest too, and has no other writer meanwhile. It gives the id
    of a removed last row again: remove rows first, then ask.
    """
    table = model.__tablename__
    if connection.dialect.name == "sqlite":
        largest = connection.scalar(text(f"SELECT coalesce(max(id), 0) FROM {table}"))  # noqa: S608
        return range(largest + 1, largest + 1 + count)
    drawn = "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)"
    return connection.exec_driver_sql(drawn, (table, count)).scalars().all()


def _insert(model: type[Base], dialect: str) -> Any:
    """Return the dialect's own INSERT, the only one that may say what becomes of a taken key."""
    # Where the database is SQLite, PostgreSQL's dialect would cost each command's start 5 per cent.
    return import_module(f"sqlalchemy.dialects.{dialect}").insert(model.__table__).inline()


@cache
def upsert(
    model: type[Base], dialect: str, columns: tuple[str, ...] = (), unchanged: tuple[str, ...] = ()
) -> Insert:
    """Return the statement that inserts a row of `model`, or updates the row with the same key."""
    # Writing an indexed column, even with the same value, rewrites its index: hence `unchanged`.
    table: Any = model.__table__
    keys = [column.name for column in table.primary_key]
    others = columns or tuple(column.name for column in table.columns if column.name not in keys)
    statement = _insert(model, dialect)
    changed = {name: statement.excluded[name] for name in others if name not in unchanged}
    written: Insert = statement.on_conflict_do_update(index_elements=keys, set_=changed)
    return written


@cache
def added(model: type[Base], dialect: str, unique: tuple[str, ...]) -> Insert:
    """Return the statement that inserts a row of `model` unless its `unique` columns are taken."""
    written: Insert = _insert(model, dialect).on_conflict_do_nothing(index_elements=unique)
    return written.execution_options(preserve_rowcount=True)
