"""The base of every table, and how times are stored."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, ClassVar

from sqlalchemy import (
    JSON,
    Column,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    MetaData,
    TypeDecorator,
    text,
)
from sqlalchemy.orm import DeclarativeBase, InstrumentedAttribute, MappedColumn, mapped_column

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Moment(TypeDecorator[datetime]):
    """An aware time, kept in UTC on every database (SQLite has no time zones)."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Return `value` in UTC; a naive time is a programming error (ValueError)."""
        return None if value is None else _in_utc(value)

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any] | None:
        """Return the function from an aware time to the stored one; SQLite stores a text."""
        return _as_text if dialect.name == "sqlite" else super().bind_processor(dialect)

    def result_processor(
        self, dialect: Dialect, coltype: object
    ) -> Callable[[Any], datetime | None] | None:
        """Return the function from a stored time to an aware one in UTC; SQLite stores a text."""
        return _of_text if dialect.name == "sqlite" else super().result_processor(dialect, coltype)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Return the stored time as an aware one in UTC."""
        return None if value is None else value.astimezone(UTC)


def _in_utc(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise ValueError("a stored time needs a time zone")
    return value.astimezone(UTC)


def _as_text(value: datetime | None) -> str | None:
    if value is None:
        return None
    return _in_utc(value).isoformat(" ", "microseconds").removesuffix("+00:00")


def _of_text(stored: str | None) -> datetime | None:
    return None if stored is None else datetime.fromisoformat(f"{stored}+00:00")


class Base(DeclarativeBase):
    """Every table; constraint names are the same on SQLite and PostgreSQL."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: Moment,
        dict[str, Any]: JSON,
        list[dict[str, Any]]: JSON,
    }


def reference(column: str, ondelete: str | None = None, **options: Any) -> MappedColumn[Any]:
    """Return a column that refers to `column` of another table."""
    return mapped_column(ForeignKey(column, ondelete=ondelete), **options)


def index_of(first: str, *others: str) -> Index:
    """Return an index of the rows whose column `first` refers to something."""
    hangs = text(f"{first} IS NOT NULL")
    return Index(None, first, *others, sqlite_where=hangs, postgresql_where=hangs)


def belonging_to(key: InstrumentedAttribute[Any]) -> list[Column[Any]]:
    """Return the columns of all tables by which their rows belong to a row with the key `key`.

    These are the references that are never empty. Tables come in the order in which their rows can
    be deleted.
    """
    return [
        column
        for table in reversed(Base.metadata.sorted_tables)
        for column in table.columns
        if not column.nullable and column.references(key.property.columns[0])
    ]


def new_secret() -> str:
    """Return the secret of a new study; it is stored, so that every order can be made again."""
    return secrets.token_hex(32)
