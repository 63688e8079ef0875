"""``relevansi move`` is killed at random moments.

The source is as it was, and the target has nothing or everything; where it has nothing, the
same move comes to its end.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.faults import stored
from tests.faults.killed_commands import kill_command, refused
from tests.faults.load import FaultyServer, Load
from tests.faults.postgres import Postgres
from tests.faults.rows import Row
from webapp.config import sqlite_url

FAULT = "A move is killed"
CLICKS = 60
IS_THERE = "is not empty"


def kill_to_sqlite(folder: Path, times: int, seed: int) -> Row:
    """Return how often both databases were whole after a move to a SQLite file was killed."""
    file = folder / "moved.sqlite"

    def begin() -> None:
        for part in ("", "-wal", "-shm"):
            Path(f"{file}{part}").unlink(missing_ok=True)

    return _kill(folder, sqlite_url(file), "to SQLite", times, seed, begin)


def kill_to_postgres(folder: Path, times: int, seed: int) -> Row:
    """Return how often both databases were whole after a move to PostgreSQL was killed."""
    postgres = Postgres(folder / "cluster")
    postgres.make()
    postgres.start()
    try:

        def begin() -> None:
            postgres.make_database("moved")

        return _kill(folder, postgres.url_of("moved"), "to PostgreSQL", times, seed, begin)
    finally:
        postgres.kill()


def _kill(
    folder: Path, target: str, database: str, times: int, seed: int, begin: Callable[[], None]
) -> Row:
    load = Load(folder)
    wanted = load.clicked(CLICKS)
    moved = FaultyServer(folder / "moved", {"RELEVANSI_DATABASE_URL": target})

    def wrong() -> str:
        told = refused(load.server, "move", target)
        if told and IS_THERE not in told:
            return told
        if stored.found(load.url) != wanted:
            return "the source is not as it was"
        if stored.found(target) != wanted:
            return "the target has neither nothing nor everything"
        return refused(moved, "check")

    return kill_command(
        load.server, FAULT, ("move", target), times, seed, wrong, database=database, begin=begin
    )
