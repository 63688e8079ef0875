"""The server is frozen at random moments and its database files are copied as they lie there.

SIGSTOP ends every write at one instant, which is what a power cut leaves. Each copy must open,
be sound and hold every click that was acknowledged before the instant.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from tests.faults.load import Load, awaited
from tests.faults.postgres import Postgres
from tests.faults.rows import Row
from webapp.config import sqlite_url

FAULT = "Power cut"
LONGEST_ROUND = 0.3


def cut_sqlite(folder: Path, cuts: int, seed: int) -> Row:
    """Return what so many frozen copies of a SQLite file and its log hold."""
    moments = random.Random(seed)
    load = Load(folder)
    load.server.start()
    pids = load.server.pids()
    with load.clicking():
        for _ in range(cuts):
            load.await_clicks(1)
            time.sleep(moments.uniform(0, LONGEST_ROUND))
            freeze(pids)
            copy = _copied(load.sqlite_file, folder / "copy")
            wanted = load.ids()
            thaw(pids)
            load.count(sqlite_url(copy), wanted)
    load.finish()
    return load.row(FAULT, f"{cuts} copies of the frozen file and its log, each opened")


def cut_postgres(folder: Path, cuts: int, seed: int) -> Row:
    """Return what so many frozen copies of a PostgreSQL cluster hold, each started anew."""
    moments = random.Random(seed)
    server, copy = Postgres(folder / "cluster"), Postgres(folder / "copy")
    server.make()
    server.start()
    try:
        load = Load(folder, server.url)
        load.server.start()
        with load.clicking():
            for _ in range(cuts):
                load.await_clicks(1)
                time.sleep(moments.uniform(0, LONGEST_ROUND))
                pids = server.pids()
                freeze(pids)
                _copy_cluster(server.folder, copy.folder)
                wanted = load.ids()
                thaw(pids)
                copy.start()
                load.count(copy.url, wanted)
                copy.kill()
        load.finish()
        return load.row(FAULT, f"{cuts} copies of the frozen cluster, each started")
    finally:
        copy.kill()
        server.kill()


def freeze(pids: Iterable[int]) -> None:
    """Stop processes where they are, the first one first, and wait until they have stopped."""
    pids = list(pids)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    for pid in pids:
        awaited(lambda pid=pid: _is_stopped(pid), 10)  # type: ignore[misc]


def thaw(pids: Iterable[int]) -> None:
    """Let processes go on."""
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


def _is_stopped(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():  # no Linux: a moment has to do
        time.sleep(0.1)
        return True
    return stat.read_text().rpartition(")")[2].split()[0] in "TtZ"


def _copied(database: Path, copy: Path) -> Path:
    """Return a copy of the database as it lies there: file and log, not the shared memory."""
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for name in (database.name, f"{database.name}-wal"):
        if (database.parent / name).exists():
            shutil.copy(database.parent / name, copy / name)
    return copy / database.name


def _copy_cluster(cluster: Path, copy: Path) -> None:
    """Copy a cluster with its owner, who alone may start it; not the mark that it runs."""
    shutil.rmtree(copy, ignore_errors=True)
    subprocess.run(["/bin/cp", "-a", str(cluster), str(copy)], check=True)
    (copy / "postmaster.pid").unlink(missing_ok=True)
