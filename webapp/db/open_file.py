"""The SQLite file in use: whether its name still leads to the file that connections write to.

A process that has a file open goes on writing to it after the file was deleted or another one
was put in its place. Everything written from then on is lost when the process ends.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from threading import Lock

PARTS = ("", "-wal", "-shm")
"""The file of a database and its companions, which hold the latest commits."""

Identity = tuple[int, int]


class FileReplaced(Exception):
    """The database file was removed or replaced while it was open; the message is its path."""


class OpenFile:
    """The file at `path` as it was when this process opened it.

    A connection of its own stays open and idle: SQLite deletes and remakes the companions only
    when the last connection is closed, so as long as this one is open they keep their identity.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._anchor: sqlite3.Connection | None = None
        self._known: dict[str, Identity] = {}

    def hold(self) -> None:
        """Remember which file is open now; does nothing while one is remembered."""
        with self._lock:
            if self._anchor is not None or not self._path.is_file():
                return
            anchor = sqlite3.connect(self._path, check_same_thread=False)
            with suppress(sqlite3.Error):  # the first use of the file reports its fault
                anchor.execute("SELECT count(*) FROM sqlite_master").fetchone()
            self._anchor = anchor
            self._known = self._found()

    def check(self) -> None:
        """Raise ``FileReplaced`` unless the path and its companions are still what is open."""
        if self._anchor is None:
            return
        for part, identity in self._known.items():
            if _identity(f"{self._path}{part}") != identity:
                raise FileReplaced(str(self._path))
        if len(self._known) < len(PARTS):  # companions appear when the file is switched to WAL
            with self._lock:
                self._known = self._found() | self._known

    def release(self) -> None:
        """Forget the file and close the connection that holds it."""
        with self._lock:
            anchor, self._anchor, self._known = self._anchor, None, {}
        if anchor is not None:
            anchor.close()

    def _found(self) -> dict[str, Identity]:
        found = {part: _identity(f"{self._path}{part}") for part in PARTS}
        return {part: identity for part, identity in found.items() if identity is not None}


def _identity(path: str) -> Identity | None:
    """Return the device and number of the file at `path`; ``None`` where there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116 - asked six times by each click
    except OSError:
        return None
    return status.st_dev, status.st_ino
