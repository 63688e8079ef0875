"""Our tables on PostgreSQL moved into another schema and thrown away with it."""

from __future__ import annotations

from sqlalchemy import Connection, inspect, text

from webapp.db.tables.base import Base

VERSION_TABLE = "alembic_version"


def set_aside(connection: Connection, schema: str) -> None:
    """Move our tables, with indexes and counters, into the new `schema`."""
    ours = {*Base.metadata.tables, VERSION_TABLE}
    found = sorted(ours.intersection(inspect(connection).get_table_names()))
    connection.execute(text(f'CREATE SCHEMA "{schema}"'))
    for name in found:
        connection.execute(text(f'ALTER TABLE "{name}" SET SCHEMA "{schema}"'))


def drop(connection: Connection, schema: str) -> None:
    """Delete a schema with everything in it."""
    connection.execute(text(f'DROP SCHEMA "{schema}" CASCADE'))


def acts_as_superuser(connection: Connection) -> bool:
    """Whether the connection's role may do anything on the server, running programs included."""
    setting: str | None = connection.scalar(text("SELECT current_setting('is_superuser')"))
    return setting == "on"
