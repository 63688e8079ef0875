"""Whether a database is whole: its pages, its references, its tables and columns."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import inspect, select
from sqlalchemy.exc import DBAPIError

from webapp.db import sqlite_files
from webapp.db.engine import Database
from webapp.db.outages import Outage, outage
from webapp.db.tables.base import Base

MOST = 20
"""The most faults that are named; more would not help."""
MOST_TOLD = 120
"""The most characters of a fault that are shown: it may quote a whole text."""
ROWS_AT_ONCE = 20
"""Rows that are in memory at once: some hold whole files."""


def faults(database: Database) -> list[str]:
    """Return the faults of the database itself, at most ``MOST``; empty means sound.

    On SQLite every page, index and reference is read; PostgreSQL holds these by itself.
    """
    found: list[str] = []
    if database.is_sqlite:
        path = Path(database.description)
        found = sqlite_files.faults(path, most=MOST)
        if not found:
            found = sqlite_files.triggers_and_views(path)
    return (found or _missing(database) or _unreadable(database))[:MOST]


def _unreadable(database: Database) -> list[str]:
    # SQLite's own check looks at how pages hang together, and not at the texts on them.
    found: list[str] = []
    with database.reading() as session:
        for table in Base.metadata.sorted_tables:
            wanted = select(table).execution_options(yield_per=ROWS_AT_ONCE)
            try:
                for _row in session.execute(wanted):
                    pass
            except (DBAPIError, ValueError) as failure:
                if isinstance(failure, DBAPIError) and outage(failure) is not Outage.DAMAGED:
                    raise
                told = getattr(failure, "orig", None) or failure
                found.append(f"{table.name}: {told}"[:MOST_TOLD])
    return found


def _missing(database: Database) -> list[str]:
    inspector = inspect(database.engine)
    there = set(inspector.get_table_names())
    found: list[str] = []
    for table in Base.metadata.sorted_tables:
        if table.name not in there:
            found.append(table.name)
            continue
        columns = {column["name"] for column in inspector.get_columns(table.name)}
        found += [
            f"{table.name}.{column.name}" for column in table.columns if column.name not in columns
        ]
    return found
