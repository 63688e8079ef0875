"""The least that keeps a promise: a small row in a SQLite file, committed to the disk."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from threading import Lock, local
from time import perf_counter

TABLE = "CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, event TEXT, said TEXT, at TEXT)"
INSERT = "INSERT INTO rows (event, said, at) VALUES (?, ?, ?)"


class Rows:
    """A table on disk; every thread has a connection of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._own = local()
        self._writer = Lock()
        connection = self._connection()
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(TABLE)

    def add(self, event: str, said: str, at: str) -> None:
        """Store a row; returns once it is on the disk."""
        connection = self._connection()
        with self._writer:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(INSERT, (event, said, at))
            connection.execute("COMMIT")

    def _connection(self) -> sqlite3.Connection:
        if not hasattr(self._own, "connection"):
            self._own.connection = sqlite3.connect(self.path, isolation_level=None, timeout=10)
            self._own.connection.execute("PRAGMA synchronous = FULL")
        found: sqlite3.Connection = self._own.connection
        return found


def commits(folder: Path, number: int) -> list[float]:
    """Return how long each of so many raw commits took, in milliseconds."""
    rows = Rows(folder / "commits.sqlite")
    taken = []
    for place in range(number):
        began = perf_counter()
        rows.add(str(place), "1", "2026-03-01")
        taken.append((perf_counter() - began) * 1000)
    return taken
