"""A whole database taken to another one, from SQLite to PostgreSQL and back, row by row.

Tables go in the order in which they refer to each other, a chunk at a time; afterwards every
row is read again on both sides and compared in one canonical form. All of it is one
transaction at the target, and the source is only read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from itertools import zip_longest
from typing import Any, NamedTuple

from sqlalchemy import (
    JSON,
    Boolean,
    ColumnElement,
    Float,
    Integer,
    LargeBinary,
    Result,
    String,
    Table,
    collate,
    func,
    insert,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from sqlalchemy.types import TypeEngine

from webapp.db.tables.base import Base, Moment
from webapp.failures import Conflict, Refused
from webapp.i18n import mark

CHUNK = 500
"""Rows that are in memory at once; of a table that holds files, one."""

_PYTHON_TYPES: Sequence[tuple[type[TypeEngine[Any]], tuple[type, ...]]] = (
    (Boolean, (bool,)),
    (Integer, (int,)),
    (Float, (float, int)),
    (LargeBinary, (bytes,)),
    (Moment, (datetime,)),
)
"""The types of the values in a column of each type; JSON and texts are checked apart."""

Told = Callable[[str, int], None]
"""A function that is told the progress: a table's name and how many rows were done."""
CHECK = mark("`relevansi check` looks at the database in use.")


class TargetNotEmpty(Conflict):
    message = mark("The other database is not empty (%(name)s)")
    remedy = mark("A move needs an empty database.")


class UnfitRow(Refused):
    message = mark("The other database does not take a row, so nothing was moved: %(name)s")
    remedy = CHECK


class RowsDiffer(Conflict):
    message = mark("A row came out differently, so nothing was moved: %(name)s")
    remedy = CHECK


class MovedTable(NamedTuple):
    """A table as it is on both sides: how many rows, and the SHA-256 over all of them."""

    name: str
    rows: int
    digest: str


def tables() -> Sequence[Table]:
    """Return every table, those that others refer to first."""
    return Base.metadata.sorted_tables


def counts(session: Session, there: Container[str] | None = None) -> dict[str, int]:
    """Return how many rows each table has; with `there`, only of tables with these names."""
    return {
        table.name: session.scalar(select(func.count()).select_from(table)) or 0
        for table in tables()
        if there is None or table.name in there
    }


def move(
    source: Session, target: Session, told: Told = lambda _table, _rows: None
) -> tuple[MovedTable, ...]:
    """Copy every row of `source` into the empty `target` and return the tables both then hold.

    The caller commits. `told` is called for each row twice: written, then compared. Raises
    ``TargetNotEmpty``, ``UnfitRow`` and ``RowsDiffer``; the target is to be rolled back then.
    """
    if target.get_bind().dialect.name == "postgresql":  # a session that writes to SQLite is alone
        names = ", ".join(table.name for table in tables())
        target.execute(text(f"LOCK TABLE {names} IN EXCLUSIVE MODE"))
    if filled := [name for name, rows in counts(target).items() if rows]:
        raise TargetNotEmpty(", ".join(filled))
    for table in tables():
        _copy(source, target, table, told)
    _count_on(target)
    return tuple(_compare(source, target, table, told) for table in tables())


def canonical(row: Sequence[Any]) -> str:
    """Return a row's values in one form, the same for every database.

    >>> canonical([1, True, None, 0.1, datetime(2026, 3, 1, 9, 0, tzinfo=UTC), {"a": 1}])
    '[1, true, null, 0.1, {"moment": "2026-03-01T09:00:00.000000+00:00"}, {"a": 1}]'

    Moments are in UTC to the microsecond, floats to their last bit, bytes by their SHA-256.
    """
    return json.dumps(list(row), default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return {"moment": value.astimezone(UTC).isoformat(timespec="microseconds")}
    return {"bytes": sha256(value).hexdigest()}


def _copy(source: Session, target: Session, table: Table, told: Told) -> None:
    with _rows(source, table) as found:
        for rows in found.partitions():
            values = [row._asdict() for row in rows]
            for row in values:
                check_fit(table, row)
            try:
                target.execute(insert(table), values)
            except DBAPIError as refused:
                raise UnfitRow(f"{table.name}: {str(refused.orig).splitlines()[0]}") from refused
            told(table.name, len(rows))


def check_fit(table: Table, row: Mapping[str, Any], absent: Container[str] = ()) -> None:
    """Raise ``UnfitRow`` for a value that its column does not hold; SQLite takes any value.

    Columns that are `absent` and have a default are not looked at.
    """
    for column in table.columns:
        if column.name in absent and (column.default is not None or column.server_default):
            continue
        value = row[column.name]
        if value is None:
            fits = bool(column.nullable) or isinstance(column.type, JSON)
        elif isinstance(column.type, JSON):
            fits = True
        elif isinstance(column.type, String):
            fits = isinstance(value, str) and len(value) <= (column.type.length or len(value))
        else:
            types = (types for kind, types in _PYTHON_TYPES if isinstance(column.type, kind))
            fits = type(value) in next(types)
        if not fits:
            raise UnfitRow(f"{table.name}.{column.name}: {value!r:.80}")


def _rows(session: Session, table: Table) -> Result[Any]:
    """Return a table's rows by their key, read in chunks; text keys are ordered by their bytes."""
    is_postgres = session.get_bind().dialect.name == "postgresql"
    key: list[ColumnElement[Any]] = [
        collate(column, "C") if is_postgres and isinstance(column.type, String) else column
        for column in table.primary_key
    ]  # as SQLite orders
    has_files = any(isinstance(column.type, LargeBinary) for column in table.columns)
    at_once = {"yield_per": 1 if has_files else CHUNK}
    return session.execute(select(table).order_by(*key), execution_options=at_once)


def _count_on(target: Session) -> None:
    """Let PostgreSQL number new rows after those that came; SQLite does so by itself."""
    if target.get_bind().dialect.name != "postgresql":
        return
    for table in tables():
        column = table.autoincrement_column
        if column is None:
            continue
        highest = target.scalar(select(func.max(column)))
        target.execute(
            text("SELECT setval(pg_get_serial_sequence(:table, :column), :next, false)"),
            {"table": table.name, "column": column.name, "next": (highest or 0) + 1},
        )


def _compare(source: Session, target: Session, table: Table, told: Told) -> MovedTable:
    digest, count = sha256(), 0
    with _rows(source, table) as read, _rows(target, table) as written:
        for here, there in zip_longest(read, written):
            said = None if here is None else canonical(here)
            if there is None or said is None or said != canonical(there):
                row = (here if there is None else there)._mapping
                key = {column.name: row[column.name] for column in table.primary_key}
                raise RowsDiffer(f"{table.name}: {json.dumps(key)}")
            digest.update(said.encode() + b"\n")
            count += 1
            told(table.name, 1)
    return MovedTable(table.name, count, digest.hexdigest())
