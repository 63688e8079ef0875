"""Rows that are written whether they are there already or not, in one statement."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from sqlalchemy.dialects import postgresql, sqlite

from webapp.db.drivers import Driver
from webapp.db.models import Base
from webapp.db.prepared import Prepared


def upsert(model: type[Base], driver: Driver, changed: tuple[str, ...] = ()) -> Prepared:
    """Return the statement that writes a row of `model`, over the one with its key if need be.

    Of a row that is there only the columns `changed` are written; without any, all of them.
    """
    return _upsert(model, driver.dialect.name, changed)


@cache
def _upsert(model: type[Base], dialect: str, changed: tuple[str, ...]) -> Prepared:
    table: Any = model.__table__
    keys = [column.name for column in table.primary_key]
    others = changed or tuple(column.name for column in table.columns if column.name not in keys)
    return Prepared(partial(_write, table, dialect, keys, others), columns=[*keys, *others])


def _write(table: Any, dialect: str, keys: list[str], changed: tuple[str, ...]) -> Any:
    insert = sqlite.insert if dialect == "sqlite" else postgresql.insert
    statement = insert(table).inline()
    return statement.on_conflict_do_update(
        index_elements=keys, set_={name: statement.excluded[name] for name in changed}
    )
