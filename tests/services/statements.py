"""What a piece of code asks of the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, event

from webapp.db import prepared
from webapp.db.engine import Database


@contextmanager
def counted(database: Database) -> Iterator[list[str]]:
    """Yield a list that collects every statement sent while the block runs.

    SQLAlchemy tells of its own; those that go to the driver directly are noted on their way.
    """
    statements: list[str] = []
    carry_out = prepared.carry_out

    def note(_conn: object, _cursor: object, statement: str, *_rest: object) -> None:
        statements.append(statement)

    def noted(connection: Connection, sql: str, values: Any = ()) -> Any:
        statements.append(sql)
        return carry_out(connection, sql, values)

    event.listen(database.engine, "before_cursor_execute", note)
    prepared.carry_out = noted
    try:
        yield statements
    finally:
        prepared.carry_out = carry_out
        event.remove(database.engine, "before_cursor_execute", note)
