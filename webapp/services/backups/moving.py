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
from typing import Any

from msgspec import Struct
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ColumnElement,
    Float,
    Integer,
    LargeBinary,
    Result,
    String,
    Table,
    Text,
    collate,
    exists,
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
    """The database to move into holds rows already; the argument names their tables."""

    message = mark("The other database is not empty (%(name)s)")
    remedy = mark("A move needs an empty database.")


class UnfitRow(Refused):
    """The other engine refuses a row; the argument names the table and why."""

    message = mark("The other database does not take a row, so nothing was moved: %(name)s")
    remedy = CHECK


class RowsDiffer(Conflict):
    """A row that was moved is not the row that was read; the argument names table and row."""

    message = mark("A row came out differently, so nothing was moved: %(name)s")
    remedy = CHECK


class MovedTable(Struct, frozen=True):
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


def filled(session: Session) -> list[str]:
    """Return the names of the tables that hold rows."""
    return [table.name for table in tables() if session.scalar(select(exists(select(table))))]


def move(source: Session, target: Session, told: Told) -> tuple[MovedTable, ...]:
    """Copy every row of `source` into the empty `target` and return the tables both then hold.

    The caller commits. `told` is called for each row twice: written, then compared. Raises
    ``TargetNotEmpty``, ``UnfitRow`` and ``RowsDiffer``; the target is to be rolled back then.
    """
    _keep_others_out(target)
    if names := filled(target):
        raise TargetNotEmpty(", ".join(names))
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
    return json.dumps([_plain(value) for value in row])


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return {"moment": value.astimezone(UTC).isoformat(timespec="microseconds")}
    if isinstance(value, bytes):
        return {"bytes": sha256(value).hexdigest()}
    return value


def _keep_others_out(target: Session) -> None:
    """Lock the target against other writers; on SQLite the writing session does that itself."""
    if target.get_bind().dialect.name == "postgresql":
        names = ", ".join(table.name for table in tables())
        target.execute(text(f"LOCK TABLE {names} IN EXCLUSIVE MODE"))


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
    wanted = select(table).order_by(*(_ordered(session, column) for column in table.primary_key))
    return session.execute(wanted, execution_options={"yield_per": _chunk(table)})


def _ordered(session: Session, column: Column[Any]) -> ColumnElement[Any]:
    is_text = isinstance(column.type, (String, Text))
    if is_text and session.get_bind().dialect.name == "postgresql":
        return collate(column, "C")  # as SQLite orders
    return column


def _chunk(table: Table) -> int:
    return 1 if any(isinstance(column.type, LargeBinary) for column in table.columns) else CHUNK


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
    """Return a table as both sides hold it; raises ``RowsDiffer`` at the first difference."""
    digest, count = sha256(), 0
    with _rows(source, table) as read, _rows(target, table) as written:
        for here, there in zip_longest(read, written):
            said = None if here is None else canonical(here)
            if there is None or said is None or said != canonical(there):
                raise RowsDiffer(f"{table.name}: {_key(table, here if there is None else there)}")
            digest.update(said.encode() + b"\n")
            count += 1
            told(table.name, 1)
    return MovedTable(table.name, count, digest.hexdigest())


def _key(table: Table, row: Any) -> str:
    key = {column.name: row._mapping[column.name] for column in table.primary_key}
    return json.dumps(key)
