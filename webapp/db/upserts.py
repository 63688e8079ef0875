"""Rows that are written whether they are there already or not, in one statement."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from sqlalchemy.dialects import postgresql, sqlite

from webapp.db.drivers import Driver
from webapp.db.models import Base
from webapp.db.prepared import Prepared


def upsert(
    model: type[Base], driver: Driver, given: tuple[str, ...] = (), kept: tuple[str, ...] = ()
) -> Prepared:
    """Return the statement that writes a row of `model`, over the one with its key if need be.

    ``given`` are the columns it is given beside its key, without any all of them; of a row
    that is there those ``kept`` stay as they are: an index of what is written is written anew.
    """
    return _upsert(model, driver.dialect.name, given, kept)


@cache
def _upsert(
    model: type[Base], dialect: str, given: tuple[str, ...], kept: tuple[str, ...]
) -> Prepared:
    table: Any = model.__table__
    keys = [column.name for column in table.primary_key]
    others = given or tuple(column.name for column in table.columns if column.name not in keys)
    changed = [name for name in others if name not in kept]
    return Prepared(partial(_write, table, dialect, keys, changed), columns=[*keys, *others])


def _write(table: Any, dialect: str, keys: list[str], changed: list[str]) -> Any:
    insert = sqlite.insert if dialect == "sqlite" else postgresql.insert
    statement = insert(table).inline()
    return statement.on_conflict_do_update(
        index_elements=keys, set_={name: statement.excluded[name] for name in changed}
    )
