"""SQLite's file is removed, or an older copy put in its place, under a running server.

From then on nothing is acknowledged. Once the right file is back and the server started again,
every acknowledged click is there.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from tests.faults.load import Load, awaited
from tests.faults.report import Row

REMOVED = "The database file is removed"
REPLACED = "An older copy takes the place of the database file"
CLICKS_BETWEEN = 40
REFUSALS = 8
PARTS = ("", "-wal", "-shm")


def remove(folder: Path, times: int) -> Row:
    """Return what came of a file that was moved away."""
    return _take_away(Load(folder), REMOVED, times, older=None)


def replace(folder: Path, times: int) -> Row:
    """Return what came of an older copy in the file's place."""
    load = Load(folder)
    older = folder / "older.sqlite"
    shutil.copy(load.sqlite_file, older)
    return _take_away(load, REPLACED, times, older=older)


def _take_away(load: Load, fault: str, times: int, older: Path | None) -> Row:
    aside = load.sqlite_file.with_name("kept")
    aside.mkdir()
    for _ in range(times):
        load.server.start()
        with load.clicking():
            load.await_clicks(CLICKS_BETWEEN)
            before = load.refused()
            _move(load.sqlite_file, aside / load.sqlite_file.name)
            if older is not None:
                shutil.copy(older, load.sqlite_file)
            if not awaited(lambda before=before: load.refused() >= before + REFUSALS):  # type: ignore[misc]
                load.damage.append("nobody was refused without the file")
            _healthz(load)
        load.server.kill()  # a server that ends in peace would still write to the file it has open
        for part in PARTS:
            Path(f"{load.sqlite_file}{part}").unlink(missing_ok=True)
        _move(aside / load.sqlite_file.name, load.sqlite_file)
    load.server.start()
    load.finish()
    load.check_refusals(503, words="Nothing is saved until the server is started again")
    return load.row(fault, f"{times} times, {load.refused()} clicks refused and repeated")


def _move(source: Path, target: Path) -> None:
    for part in PARTS:
        if Path(f"{source}{part}").exists():
            Path(f"{source}{part}").replace(f"{target}{part}")


def _healthz(load: Load) -> None:
    try:
        with urlopen(f"{load.server.url}/healthz", timeout=30) as answer:
            load.damage.append(f"/healthz says {answer.status}")
    except HTTPError as refused:
        if refused.code != 503:
            load.damage.append(f"/healthz says {refused.code}")
