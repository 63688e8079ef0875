"""The faults of a database itself: pages, references and values that cannot be read."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import inspect, select
from sqlalchemy.exc import DBAPIError

from relevansi.db import sqlite_files
from relevansi.db.engine import Database
from relevansi.db.outages import Outage, outage
from relevansi.db.tables.base import Base

MOST_FAULTS = 20
"""The most faults that are named; more would not help."""
_MOST_TOLD = 120
"""The most characters of a fault that are shown: it may quote a whole text."""
_ROWS_AT_ONCE = 20
"""Rows that are in memory at once: some hold whole files."""


def faults(database: Database) -> list[str]:
    """Return the faults of the database itself, at most ``MOST_FAULTS``; empty means sound.

    On SQLite every page, index and reference is read; PostgreSQL holds these by itself.
    """
    problems: list[str] = []
    if database.is_sqlite:
        path = Path(database.description)
        problems = sqlite_files.faults(path, most=MOST_FAULTS)
        if not problems:
            problems = sqlite_files.triggers_and_views(path)
    return (problems or _missing(database) or _unreadable(database))[:MOST_FAULTS]


def _unreadable(database: Database) -> list[str]:
    # SQLite's own check looks at how pages hang together, and not at the texts on them.
    problems: list[str] = []
    with database.reading() as session:
        for table in Base.metadata.sorted_tables:
            statement = select(table).execution_options(yield_per=_ROWS_AT_ONCE)
            try:
                for _row in session.execute(statement):
                    pass
            except (DBAPIError, ValueError) as failure:
                if isinstance(failure, DBAPIError) and outage(failure) is not Outage.DAMAGED:
                    raise
                reason = getattr(failure, "orig", None) or failure
                problems.append(f"{table.name}: {reason}"[:_MOST_TOLD])
    return problems


def _missing(database: Database) -> list[str]:
    inspector = inspect(database.engine)
    names = set(inspector.get_table_names())
    absent: list[str] = []
    for table in Base.metadata.sorted_tables:
        if table.name not in names:
            absent.append(table.name)
            continue
        columns = {column["name"] for column in inspector.get_columns(table.name)}
        absent += [
            f"{table.name}.{column.name}" for column in table.columns if column.name not in columns
        ]
    return absent
