"""``relevansi upgrade`` is killed at random moments, from the tables of the first version.

Afterwards the tables are of the one version or of the other, with every row; the next upgrade
comes to its end.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import MetaData, insert, select
from sqlalchemy.exc import SAWarning

from tests.faults import stored
from tests.faults.killed_commands import kill_command, refused
from tests.faults.load import FaultyServer, Load
from tests.faults.postgres import Postgres
from tests.faults.rows import Row
from webapp.config import sqlite_url
from webapp.db.engine import Database
from webapp.db.migrations import HEAD
from webapp.db.tables.base import Base

FAULT = "An upgrade is killed"
FIRST = "0001"
CLICKS = 60


def kill_on_sqlite(folder: Path, times: int, seed: int) -> Row:
    """Return how often a SQLite file was whole after its upgrade had been killed."""
    older, study = folder / "older.sqlite", folder / "study.sqlite"
    wanted = _made(folder, sqlite_url(older))

    def begin() -> None:
        for part in ("-wal", "-shm"):
            Path(f"{study}{part}").unlink(missing_ok=True)
        shutil.copy(older, study)

    return _kill(folder, sqlite_url(study), "SQLite", times, seed, begin, wanted)


def kill_on_postgres(folder: Path, times: int, seed: int) -> Row:
    """Return how often a PostgreSQL database was whole after its upgrade had been killed."""
    postgres = Postgres(folder / "cluster")
    postgres.make()
    postgres.start()
    try:
        postgres.make_database("older")
        wanted = _made(folder, postgres.url_of("older"))

        def begin() -> None:
            postgres.make_database("study", template="older")

        study = postgres.url_of("study")
        return _kill(folder, study, "PostgreSQL", times, seed, begin, wanted)
    finally:
        postgres.kill()


def _kill(
    folder: Path,
    url: str,
    database: str,
    times: int,
    seed: int,
    begin: Callable[[], None],
    wanted: stored.Found,
) -> Row:
    server = FaultyServer(folder / "upgraded", {"RELEVANSI_DATABASE_URL": url})

    def wrong() -> str:
        if (version := _version(url)) not in {FIRST, HEAD}:
            return f"the tables are of version {version}"
        if stored.found(url) != wanted:
            return "rows are missing or differ after the kill"
        if told := refused(server, "upgrade") or refused(server, "check"):
            return told
        return "" if stored.found(url) == wanted else "rows are missing or differ after the upgrade"

    return kill_command(
        server, FAULT, ("upgrade",), times, seed, wrong, database=database, begin=begin
    )


def _made(folder: Path, url: str) -> stored.Found:
    """Make a study with clicks, in the tables of the first version at `url`; return what it has."""
    load = Load(folder)
    load.clicked(CLICKS)
    now, older = Database(load.url), Database(url)
    older.upgrade(FIRST)
    there = MetaData()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # indexes of expressions are not reflected
        there.reflect(older.engine)
    with now.reading() as session, older.engine.begin() as connection:
        for table in there.sorted_tables:
            if table.name in Base.metadata.tables:
                known = Base.metadata.tables[table.name]
                wanted = select(*(known.c[column.name] for column in table.columns))
                if rows := [row._asdict() for row in session.execute(wanted)]:
                    connection.execute(insert(table), rows)
    now.close()
    older.close()
    return stored.found(url)


def _version(url: str) -> str | None:
    database = Database(url)
    try:
        return database.version()
    finally:
        database.close()
