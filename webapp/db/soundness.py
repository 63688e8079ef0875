"""Whether a database is whole: its pages, its references, its tables and columns."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import inspect

from webapp.db import sqlite_files
from webapp.db.engine import Database
from webapp.db.models import Base

MOST = 20
"""So many faults are named; more do not help anybody."""


def faults(database: Database) -> list[str]:
    """Return what is wrong with the database itself, at most ``MOST``; empty means sound.

    On SQLite every page, index and reference is read; PostgreSQL holds references and pages by
    itself. On both, every table and column of this version must be there, and nothing may run by
    itself when a row changes.
    """
    found: list[str] = []
    if database.is_sqlite:
        path = Path(database.description)
        found = sqlite_files.faults(path, most=MOST)
        if not found:
            found = [
                f"{one.kind} {one.name}"
                for one in sqlite_files.schema(path)
                if one.kind in {"trigger", "view"}
            ]
    return (found or _missing(database))[:MOST]


def _missing(database: Database) -> list[str]:
    """Return the tables, and the columns as table.column, that are not there."""
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
