"""Rows that are inserted or updated, in one statement each."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import Dialect
from sqlalchemy.dialects import postgresql, sqlite

from webapp.db.tables.base import Base

_INSERTS = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}

Insert = sqlite.Insert | postgresql.Insert


def upsert(
    model: type[Base], dialect: Dialect, given: tuple[str, ...] = (), kept: tuple[str, ...] = ()
) -> Insert:
    """Return the statement that inserts a row of `model`, or updates the row with the same key.

    It writes the key and the columns `given`, or all columns where none are given. In an existing
    row the columns `kept` stay as they are: writing an indexed column rewrites its index.
    """
    return _upsert(model, dialect.name, given, kept)


def added(model: type[Base], dialect: Dialect, unique: tuple[str, ...]) -> Insert:
    """Return the statement that inserts a row of `model`, whose ``id`` the database gives.

    It inserts nothing where another row has the same values in the `unique` columns; ``rowcount``
    of its result says whether it did.
    """
    return _added(model, dialect.name, unique)


@cache
def _upsert(
    model: type[Base], dialect: str, given: tuple[str, ...], kept: tuple[str, ...]
) -> Insert:
    table: Any = model.__table__
    keys = [column.name for column in table.primary_key]
    others = given or tuple(column.name for column in table.columns if column.name not in keys)
    statement: Any = _INSERTS[dialect](table).inline()
    changed = {name: statement.excluded[name] for name in others if name not in kept}
    written: Insert = statement.on_conflict_do_update(index_elements=keys, set_=changed)
    return written


@cache
def _added(model: type[Base], dialect: str, unique: tuple[str, ...]) -> Insert:
    table: Any = model.__table__
    statement: Any = _INSERTS[dialect](table).inline()
    written: Insert = statement.on_conflict_do_nothing(index_elements=unique)
    return written.execution_options(preserve_rowcount=True)
