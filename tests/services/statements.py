"""What a piece of code asks of the database."""

from __future__ import annotations

from collections.abc import Iterator
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
    run = Driver.run

    def note(_conn: object, _cursor: object, statement: str, *_rest: object) -> None:
        statements.append(statement)

    def noted(driver: Driver, sql: str, values: Any = ()) -> Any:
        statements.append(sql)
        return run(driver, sql, values)

    event.listen(database.engine, "before_cursor_execute", note)
    setattr(Driver, "run", noted)  # noqa: B010
    try:
        yield statements
    finally:
        setattr(Driver, "run", run)  # noqa: B010
        event.remove(database.engine, "before_cursor_execute", note)
