"""Moves of all rows from one database into another, and the check that a row fits its table.

Rows are copied table by table, in the order in which tables refer to each other, a chunk at a time;
afterwards every row is read again on both sides and compared. All of it is one transaction of the
target, and the source is only read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Any

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
    inspect,
    select,
    text,
)
from sqlalchemy import table as named_table
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from sqlalchemy.types import TypeEngine

from relevansi.db.tables.base import Base, Moment
from relevansi.failures import Conflict, Refused
from relevansi.i18n import mark
from relevansi.services.catalogue import catalogue

CHUNK = 500
"""How many rows are in memory at once; of a table that holds files, one."""

_PYTHON_TYPES: Sequence[tuple[type[TypeEngine[Any]], tuple[type, ...]]] = (
    (Boolean, (bool,)),
    (Integer, (int,)),
    (Float, (float, int)),
    (LargeBinary, (bytes,)),
    (Moment, (datetime,)),
)
"""The Python types of the values of each column type; JSON and texts are checked apart."""

TellRows = Callable[[str, int], None]
"""A callback of progress: a table's name, and how many more rows were done."""

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


def tables() -> Sequence[Table]:
    """Return every table, those that others refer to first."""
    return Base.metadata.sorted_tables


def counts(session: Session, names: Collection[str] = ()) -> dict[str, int]:
    """Return the number of rows of each existing table of `names`, else of all our tables."""
    existing = inspect(session.connection()).get_table_names()
    names = [name for name in names or [ours.name for ours in tables()] if name in existing]
    count = select(func.count())
    return {name: session.scalar(count.select_from(named_table(name))) or 0 for name in names}


def move(
    source: Session, target: Session, tell_rows: TellRows = lambda _table, _rows: None
) -> dict[str, int]:
    """Copy every row of `source` into the empty `target`; return how many each table then has.

    The caller commits. `tell_rows` is told of each row twice: written, then compared. Raises
    ``TargetNotEmpty``, ``UnfitRow`` and ``RowsDiffer``, after which the caller rolls back.
    """
    # Nobody else may write meanwhile; on SQLite a session that writes is alone anyway.
    if target.get_bind().dialect.name == "postgresql":
        names = ", ".join(table.name for table in tables())
        target.execute(text(f"LOCK TABLE {names} IN EXCLUSIVE MODE"))
    filled = [name for name, n_rows in counts(target).items() if n_rows]
    if filled:
        raise TargetNotEmpty(", ".join(filled))
    for table in tables():
        _copy(source, target, table, tell_rows)
    catalogue.index_all(target)
    _continue_numbering(target)
    return {table.name: _compare(source, target, table, tell_rows) for table in tables()}


def _copy(source: Session, target: Session, table: Table, tell_rows: TellRows) -> None:
    with rows_in_order(source, table) as result:
        for rows in result.partitions():
            values = [row._asdict() for row in rows]
            for row in values:
                check_fit(table, row)
            try:
                target.execute(insert(table), values)
            except DBAPIError as refused:
                raise UnfitRow(f"{table.name}: {str(refused.orig).splitlines()[0]}") from refused
            tell_rows(table.name, len(rows))


def check_fit(table: Table, row: Mapping[str, Any], absent: Container[str] = ()) -> None:
    """Raise ``UnfitRow`` for a value that does not fit its column; SQLite itself takes any value.

    Columns that are `absent` and have a default are not checked.
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
            # By its exact type: to isinstance True is an int.
            types = [types for kind, types in _PYTHON_TYPES if isinstance(column.type, kind)]
            fits = type(value) in types[0]
        if not fits:
            raise UnfitRow(f"{table.name}.{column.name}: {value!r:.80}")


def rows_in_order(session: Session, table: Table) -> Result[Any]:
    """Return a table's rows in the order of their keys, the same on both engines, in chunks."""
    is_postgres = session.get_bind().dialect.name == "postgresql"
    # SQLite orders texts by their bytes, PostgreSQL by a language unless told otherwise.
    key: list[ColumnElement[Any]] = [
        collate(column, "C") if is_postgres and isinstance(column.type, String) else column
        for column in table.primary_key
    ]
    has_files = any(isinstance(column.type, LargeBinary) for column in table.columns)
    in_chunks = {"yield_per": 1 if has_files else CHUNK}
    return session.execute(select(table).order_by(*key), execution_options=in_chunks)


def _continue_numbering(target: Session) -> None:
    """Let PostgreSQL number new rows after the copied ones; SQLite does so by itself."""
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


def _compare(source: Session, target: Session, table: Table, tell_rows: TellRows) -> int:
    """Return how many rows both sides have; raises ``RowsDiffer`` for the first that differs."""
    count = 0
    with rows_in_order(source, table) as source_rows, rows_in_order(target, table) as target_rows:
        for row, copied in zip_longest(source_rows, target_rows):
            if row != copied:
                differing = (row if copied is None else copied)._mapping
                key = {column.name: differing[column.name] for column in table.primary_key}
                raise RowsDiffer(f"{table.name}: {json.dumps(key)}")
            count += 1
            tell_rows(table.name, 1)
    return count
