"""A PostgreSQL database as one file, by PostgreSQL's own pg_dump and pg_restore."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, inspect, text
from sqlalchemy.engine import URL

from webapp.db.models import Base

VERSION_TABLE = "alembic_version"


class NoSuchProgram(Exception):
    """pg_dump or pg_restore is not installed; the message is its name."""


class ProgramFailed(Exception):
    """pg_dump or pg_restore could not do it; the message is its own."""


def tables(connection: Connection) -> list[str]:
    """Return the names of our tables that are there, with that of their version."""
    ours = {*Base.metadata.tables, VERSION_TABLE}
    return sorted(ours.intersection(inspect(connection).get_table_names()))


def take(url: URL, file: Path, connection: Connection) -> None:
    """Write our tables to the new `file`, as the transaction of `connection` sees them.

    Raises ``NoSuchProgram`` and ``ProgramFailed``.
    """
    snapshot = connection.scalar(text("SELECT pg_export_snapshot()"))
    chosen = [f"--table={name}" for name in tables(connection)]
    options = ["--format=custom", "--no-owner", "--no-privileges", f"--snapshot={snapshot}"]
    _run("pg_dump", url, [*options, *chosen, f"--file={file}"])


def put(url: URL, file: Path) -> None:
    """Make the tables of `file`, all or none; raises ``NoSuchProgram``, ``ProgramFailed``."""
    options = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges"]
    _run("pg_restore", url, [*options, str(file)])


def check(file: Path) -> None:
    """Return if `file` is a dump that pg_restore can read; raises ``ProgramFailed``."""
    _run("pg_restore", None, ["--list", str(file)])


def set_aside(connection: Connection, schema: str) -> None:
    """Move our tables, with indexes and counters, into the new `schema`."""
    names = tables(connection)
    connection.execute(text(f'CREATE SCHEMA "{schema}"'))
    for name in names:
        connection.execute(text(f'ALTER TABLE "{name}" SET SCHEMA "{schema}"'))


def take_back(connection: Connection, schema: str) -> None:
    """Undo ``set_aside``: what stands in the tables' place goes, the tables return."""
    current = connection.scalar(text("SELECT current_schema()"))
    for name in tables(connection):
        connection.execute(text(f'DROP TABLE "{name}" CASCADE'))
    for name in inspect(connection).get_table_names(schema):
        connection.execute(text(f'ALTER TABLE "{schema}"."{name}" SET SCHEMA "{current}"'))
    drop(connection, schema)


def drop(connection: Connection, schema: str) -> None:
    """Throw a schema away with what is in it."""
    connection.execute(text(f'DROP SCHEMA "{schema}" CASCADE'))


def _run(program: str, url: URL | None, arguments: Sequence[str]) -> None:
    """Run one of PostgreSQL's programs on the database of `url`."""
    path = shutil.which(program)
    if path is None:
        raise NoSuchProgram(program)
    where, password = ([], {}) if url is None else _address(url)
    done = subprocess.run(  # noqa: S603 - our own arguments, no shell
        [path, *where, *arguments],
        env={**os.environ, "LC_ALL": "C.UTF-8", **password},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise ProgramFailed(done.stderr.strip() or f"{program}: {done.returncode}")


def _address(url: URL) -> tuple[list[str], dict[str, str]]:
    """Return how the programs are told where to connect; a password is seen by nobody."""
    from psycopg.conninfo import make_conninfo

    dialect: Any = url.get_dialect()()
    _, stated = dialect.create_connect_args(url)
    password = stated.pop("password", None)
    secret = {} if password is None else {"PGPASSWORD": str(password)}
    return [f"--dbname={make_conninfo(**stated)}"], secret
