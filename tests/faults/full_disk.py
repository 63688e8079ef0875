"""The disk under the database fills up while people click, and room is made again.

Clicks are refused in plain words, nothing that was acknowledged goes, pages can still be read,
and clicks are taken again as soon as there is room. The disk is a small one of its own where
we may mount one; else the server's files may grow no further, which hits it in the same place.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from urllib.request import urlopen

from tests.faults.load import Load, awaited
from tests.faults.postgres import Postgres, hand_over, running
from tests.faults.processes import at_the_end
from tests.faults.report import CannotBeMade, Row

FAULT = "The disk is full"
SQLITE_MB, POSTGRES_MB = 16, 96
CLICKS_BETWEEN = 60
REFUSALS = 8
BLOCK = bytes(64 * 1024)
SMALL_LOG = "--wal-segsize=1"

Filling = Callable[[], AbstractContextManager[object]]


def fill_sqlite(folder: Path, times: int) -> Row:
    """Return what came of a full disk under a SQLite file."""
    if os.geteuid() != 0:
        load = Load(folder)
        return _fill(load, lambda: _grown_up(load), times, "its files may grow no further")
    with small_disk(folder / "disk", SQLITE_MB) as disk:
        load = Load(disk)
        load.server.log = folder / "server.log"
        return _fill(load, lambda: _filled(disk), times, f"a disk of {SQLITE_MB} MB")


def fill_postgres(folder: Path, times: int) -> Row:
    """Return what came of a full disk under a PostgreSQL cluster, log and all."""
    if os.geteuid() != 0:
        raise CannotBeMade("a disk of its own needs root")
    with (
        small_disk(folder / "disk", POSTGRES_MB) as disk,
        running(disk / "cluster", folder / "postgres.log", (SMALL_LOG,)) as postgres,
    ):
        load = Load(folder, postgres.url)
        return _fill(load, lambda: _filled(disk, postgres), times, f"{POSTGRES_MB} MB")


def _fill(load: Load, filled: Filling, times: int, how: str) -> Row:
    load.server.start()
    with load.clicking():
        for _ in range(times):
            load.await_clicks(CLICKS_BETWEEN)
            before = load.refused()
            with filled():
                if not awaited(lambda before=before: load.refused() >= before + REFUSALS):  # type: ignore[misc]
                    load.damage.append("nobody was refused while the disk was full")
                if load.database == "SQLite":
                    _read_a_page(load)
            if not load.await_clicks(CLICKS_BETWEEN):
                load.damage.append("no click was taken after room was made")
    load.finish()
    # PostgreSQL ends and starts again when even its log has no room: then nobody answers it.
    statuses = (507, 503) if load.database == "PostgreSQL" else (507,)
    load.check_refusals(*statuses, words="is not saved yet")
    action = f"{times} times ({how}), {load.refused()} clicks refused and repeated"
    return load.row(FAULT, action)


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """Mount a file system of so many megabytes meanwhile."""
    folder.mkdir()
    size = f"size={megabytes}m"
    process = subprocess.run(
        ["/bin/mount", "-t", "tmpfs", "-o", size, "tmpfs", str(folder)],
        check=False,
        capture_output=True,
        text=True,
    )
    if process.returncode:
        raise CannotBeMade(f"a disk of its own cannot be mounted: {process.stderr.strip()}")
    hand_over(folder)

    def end() -> None:
        subprocess.run(["/bin/umount", "--lazy", str(folder)], check=False, capture_output=True)

    at_the_end(end)
    try:
        yield folder
    finally:
        end()


def fill_up(disk: Path) -> Path:
    """Fill a disk to its last block with one file; return that file."""
    filler = disk / "filler"
    try:
        with filler.open("wb", buffering=0) as file:
            while file.write(BLOCK) == len(BLOCK):
                pass
    except OSError:
        pass  # there is no room left
    return filler


@contextmanager
def _filled(disk: Path, postgres: Postgres | None = None) -> Iterator[None]:
    """Leave no room meanwhile; a PostgreSQL that ended for it is started as systemd would."""
    filler = fill_up(disk)
    try:
        yield
    finally:
        filler.unlink()
        if postgres is not None and postgres.process and postgres.process.poll() is not None:
            postgres.start()


@contextmanager
def _grown_up(load: Load) -> Iterator[None]:
    """Let no file of the server grow meanwhile."""
    import resource  # which Windows has not, where this page of faults can still be read

    if not hasattr(resource, "prlimit"):
        raise CannotBeMade("a disk of its own needs root, and limits of another process Linux")
    pids = load.server.pids()
    names = (load.sqlite_file, load.sqlite_file.with_name(load.sqlite_file.name + "-wal"))
    limit = max(name.stat().st_size for name in names if name.exists())
    before = {pid: resource.prlimit(pid, resource.RLIMIT_FSIZE) for pid in pids}
    for pid, (_, most) in before.items():
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit, most))
    try:
        yield
    finally:
        for pid, limits in before.items():
            resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)


def _read_a_page(load: Load) -> None:
    """Reading must go on while nothing can be written."""
    with urlopen(f"{load.server.url}/runs/{load.run_id}", timeout=30) as answer:
        if answer.status != 200:
            load.damage.append(f"a page could not be read: {answer.status}")
