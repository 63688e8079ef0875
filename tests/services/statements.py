"""The SQL statements that a piece of code sends to the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import event

from relevansi.db.engine import Database


@contextmanager
def statements_of(database: Database) -> Iterator[list[str]]:
    statements: list[str] = []

    def note(_conn: object, _cursor: object, statement: str, *_arguments: object) -> None:
        statements.append(statement)

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(database.engine, "before_cursor_execute", note)
