"""A database with rows in every table, and one with a rated study."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    insert,
)
from sqlalchemy.orm import Session

from relevansi.db.engine import Database
from relevansi.db.tables.base import Base, Moment
from relevansi.kinds.document import Document
from relevansi.services.backups.backups import VALUES
from relevansi.services.catalogue import catalogue, search
from relevansi.services.proof_packs import packs
from relevansi.services.runs.reports import Rule
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.judging.rated_studies import rated_study
from tests.stored_studies import open_study

ROWS = 3
ALLOWED = {column.property.columns[0]: sorted(values - {None}) for column, values in VALUES.items()}
MOMENT = datetime(2026, 3, 1, 23, 59, 59, 123456, tzinfo=UTC)


def judged(database: Database) -> None:
    with database.writing() as session:
        rated_study(session, studies.open_or_make(session, NOW))
        session.commit()


def pack(database: Database) -> bytes:
    with open_study(database) as (session, study):
        return packs.pack(session, study, None, Rule("majority")).data


def fill_catalogue(database: Database) -> None:
    with open_study(database) as (session, _):
        entry = catalogue.entry(Document(doc_id="d1", text="Long red dress"))
        catalogue.write(session, [entry], is_imported=True)


def matches(database: Database, words: str) -> int:
    """How many items of the catalogue a search finds."""
    with open_study(database) as (session, study):
        return search.search(session, study, words).count


def fill(session: Session) -> None:
    for table in Base.metadata.sorted_tables:
        rows = [_row(table, number) for number in range(1, ROWS + 1)]
        session.execute(insert(table), rows)


def _row(table: Table, number: int) -> dict[str, Any]:
    return {column.name: _value(column, number) for column in table.columns}


BY_TYPE: dict[Any, Callable[[int], Any]] = {
    Moment: lambda number: MOMENT + timedelta(days=number),
    JSON: lambda number: {"b": [1, None, 0.1, True], "a": {"é\u2028": 'x"\\'}, "n": number},
    LargeBinary: lambda number: bytes(range(256)) * (4_000 * number),
    Boolean: lambda number: number == 1,
    BigInteger: lambda number: 2**62 + number,
    Float: lambda number: 0.1 + number / 3,
    Integer: lambda number: number,
}


def _value(column: Column[Any], number: int) -> Any:
    if column.nullable and number == 2:
        return None
    kind = column.type
    if column in ALLOWED:
        return ALLOWED[column][number % len(ALLOWED[column])]
    if column.foreign_keys or column.primary_key:
        return number * 10 if isinstance(kind, Integer) else f"é{number}"
    if isinstance(kind, String):
        return _text(kind, number)
    return next(value for of_type, value in BY_TYPE.items() if isinstance(kind, of_type))(number)


def _text(kind: String, number: int) -> str:
    long = "Rp 1,67 M\r\n\t' \" % \\ 😀 = " if isinstance(kind, Text) else ""
    return f"{long}{number}"[: kind.length]
