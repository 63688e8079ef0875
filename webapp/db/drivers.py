"""The driver under SQLAlchemy, for the statements that every click waits for.

SQLAlchemy's own connections and sessions know their state and wrap all they are given, which
takes several times as long as SQLite takes for a small statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from sqlalchemy import Connection, Dialect, Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from sqlalchemy.pool import PoolProxiedConnection

from webapp.db.outages import READ_ONLY


@dataclass(frozen=True, slots=True)
class Driver:
    """A connection of the driver; its errors are raised as SQLAlchemy raises them.

    Every statement goes through one ``cursor``, for its rows are read at once. ``cut`` keeps a
    connection from being used again.
    """

    connection: Any
    cursor: Any
    dialect: Dialect
    cut: Callable[[BaseException], object]

    @classmethod
    def under(cls, connection: Connection) -> Self:
        """Return the driver's connection under one of SQLAlchemy's."""
        link = connection.connection.driver_connection
        return cls._on(link, connection.dialect, connection.invalidate)

    @classmethod
    def of(cls, link: PoolProxiedConnection, dialect: Dialect) -> Self:
        """Return the driver's connection behind one that a pool handed out."""
        return cls._on(link.driver_connection, dialect, link.invalidate)

    @classmethod
    def _on(cls, connection: Any, dialect: Dialect, cut: Callable[[BaseException], object]) -> Self:
        return cls(connection, connection.cursor(), dialect, cut)

    def rows(self, sql: str, values: Any = ()) -> Sequence[tuple[Any, ...]]:
        """Return the rows that `sql` asks for."""
        try:
            found: Sequence[tuple[Any, ...]] = self.cursor.execute(sql, values).fetchall()
        except self.dialect.loaded_dbapi.Error as error:
            raise self._refused(sql, values, error) from error
        return found

    def run(self, sql: str, values: Any = ()) -> int:
        """Carry out `sql`, which brings nothing; return how many rows it wrote."""
        try:
            written: int = self.cursor.execute(sql, values).rowcount
        except self.dialect.loaded_dbapi.Error as error:
            raise self._refused(sql, values, error) from error
        return written

    def commit(self) -> None:
        """Commit the transaction."""
        try:
            self.connection.commit()
        except self.dialect.loaded_dbapi.Error as error:
            raise self._refused("COMMIT", (), error) from error

    def _refused(self, sql: str, values: Any, error: Exception) -> BaseException:
        """Return the exception for a driver error.

        A connection that was cut, or whose server is no longer a primary, is not used again.
        """
        is_cut = self.dialect.is_disconnect(error, self.connection, None)  # type: ignore[arg-type]
        if is_cut or getattr(error, "sqlstate", None) == READ_ONLY:
            self.cut(error)
        return _refusal(self.dialect, sql, values, error, is_cut=is_cut)


class Pooled:
    """Drivers out of the pool of an engine, which looks whether the server is still there."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @contextmanager
    def one(self) -> Iterator[Driver]:
        """Yield a driver; uncommitted changes are rolled back."""
        link = _link(self._engine)
        try:
            yield Driver.of(link, self._engine.dialect)
        finally:
            if link.is_valid:
                self._undo(link)
            link.close()

    def _undo(self, link: PoolProxiedConnection) -> None:
        """Roll back before the pool would: the pool logs every server that is gone."""
        try:
            link.rollback()
        except self._engine.dialect.loaded_dbapi.Error as error:
            link.invalidate(error)

    def close(self) -> None:
        """Nothing is kept here."""


class Kept:
    """Drivers that are kept apart from the pool of an engine, as many as were busy at once.

    For SQLite, which cannot go away: a pool takes as long for a connection as SQLite for two
    statements.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._idle: list[Driver] = []

    @contextmanager
    def one(self) -> Iterator[Driver]:
        """Yield a driver; uncommitted changes are rolled back."""
        try:
            driver = self._idle.pop()
        except IndexError:
            link = _link(self._engine)
            driver = Driver.of(link, self._engine.dialect)
            link.detach()
        try:
            yield driver
        finally:
            self._take_back(driver)

    def _take_back(self, driver: Driver) -> None:
        """Keep a driver for the next one, unless it cannot even undo."""
        try:
            driver.connection.rollback()
        except driver.dialect.loaded_dbapi.Error:
            driver.connection.close()
        else:
            self._idle.append(driver)

    def close(self) -> None:
        """Close the connections that are not in use."""
        while self._idle:
            self._idle.pop().connection.close()


def _link(engine: Engine) -> PoolProxiedConnection:
    """Return a connection of the pool; errors are raised as SQLAlchemy raises them."""
    try:
        return engine.raw_connection()
    except engine.dialect.loaded_dbapi.Error as error:
        raise _refusal(engine.dialect, "", (), error) from error


def _refusal(
    dialect: Dialect, sql: str, values: Any, error: Exception, *, is_cut: bool = False
) -> BaseException:
    """Return a driver's error in SQLAlchemy's words."""
    base = dialect.loaded_dbapi.Error
    return DBAPIError.instance(
        sql, values, error, base, connection_invalidated=is_cut, dialect=dialect
    )


Asking = Session | Driver
"""The connection through which a click reads and writes: a session or the click's own driver."""


def driver(asking: Asking) -> Driver:
    """Return the driver behind `asking`, once all that its session holds is written."""
    if isinstance(asking, Driver):
        return asking
    asking.flush()
    return Driver.under(asking.connection())
