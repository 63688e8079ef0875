"""The SQL statements that a piece of code sends to the database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from webapp.db.drivers import Driver
from webapp.db.engine import Database


@contextmanager
def counted(database: Database) -> Iterator[list[str]]:
    """Yield a list that collects every statement sent while the block runs.

    SQLAlchemy tells of its own; those that go to the driver directly are noted on their way.
    """
    statements: list[str] = []
    known = {name: getattr(Driver, name) for name in ("rows", "run")}

    def note(_conn: object, _cursor: object, statement: str, *_rest: object) -> None:
        statements.append(statement)

    def noted(way: Callable[..., Any]) -> Callable[..., Any]:
        def note_and_go(driver: Driver, sql: str, values: Any = ()) -> Any:
            statements.append(sql)
            return way(driver, sql, values)

        return note_and_go

    event.listen(database.engine, "before_cursor_execute", note)
    for name, way in known.items():
        setattr(Driver, name, noted(way))
    try:
        yield statements
    finally:
        for name, way in known.items():
            setattr(Driver, name, way)
        event.remove(database.engine, "before_cursor_execute", note)
