"""Rows that are written whether they are there already or not, in one statement each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlalchemy.dialects import postgresql, sqlite

from webapp.db.drivers import Driver
from webapp.db.prepared import Prepared
from webapp.db.tables.base import Base


def upsert(
    model: type[Base], driver: Driver, given: tuple[str, ...] = (), kept: tuple[str, ...] = ()
) -> Prepared:
    """Return the statement that writes a row of `model`, over the one with its key if need be.

    Beside the key only the columns ``given`` are written; all columns if empty. In an existing row
    the columns ``kept`` stay as they are: writing an indexed column rewrites its index.
    """
    return _upsert(model, driver.dialect.name, given, kept)


def added(model: type[Base], driver: Driver, unique: tuple[str, ...]) -> Prepared:
    """Return the statement that adds a row of `model`, whose ``id`` the database gives.

    It writes none where another row has the same in the `unique` columns.
    """
    return _added(model, driver.dialect.name, unique)


@cache
def _upsert(
    model: type[Base], dialect: str, given: tuple[str, ...], kept: tuple[str, ...]
) -> Prepared:
    table: Any = model.__table__
    keys = [column.name for column in table.primary_key]
    others = given or tuple(column.name for column in table.columns if column.name not in keys)
    changed = [name for name in others if name not in kept]

    def write() -> Any:
        statement = _INSERTS[dialect](table).inline()
        return statement.on_conflict_do_update(
            index_elements=keys, set_={name: statement.excluded[name] for name in changed}
        )

    return Prepared(write, columns=[*keys, *others])


@cache
def _added(model: type[Base], dialect: str, unique: tuple[str, ...]) -> Prepared:
    table: Any = model.__table__

    def write() -> Any:
        statement = _INSERTS[dialect](table).inline()
        return statement.on_conflict_do_nothing(index_elements=unique)

    return Prepared(write, columns=[column.name for column in table.columns if column.name != "id"])


_INSERTS: Mapping[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
