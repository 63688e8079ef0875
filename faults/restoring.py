"""Commands that write a whole database are killed at random moments.

Whatever moment it was, a whole database is at its path afterwards: the earlier or the new one.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from faults.load import FaultyServer
from faults.rows import Row
from tests.browser.server import HYBRID, SEEDS
from tests.cli.relevansi import document

RESTORE = "A restore is killed"
IMPORT = "An import is killed"
BACKUP = "A backup is killed"
LONGEST_SECONDS = 4.0


def kill_restores(folder: Path, times: int, seed: int) -> Row:
    """Return how often a whole database was there after a restore had been killed."""
    server = _study(folder)
    backup = folder / "study.backup"
    _done(server, "backup", backup)
    arguments = ("restore", backup, "--replace")
    return _kill(server, RESTORE, arguments, times, seed, lambda: _has_runs(server, {1}))


def kill_imports(folder: Path, times: int, seed: int) -> Row:
    """Return the same for imports of a second run, which is there wholly or not at all."""
    server = _study(folder)
    second = SEEDS / "api_only" / "test_results.json"
    arguments = ("import", second)
    return _kill(server, IMPORT, arguments, times, seed, lambda: _has_runs(server, {1, 2}))


def kill_backups(folder: Path, times: int, seed: int) -> Row:
    """Return the same for backups: the file is whole or not there."""
    server = _study(folder)
    backup = folder / "study.backup"

    def is_whole() -> str:
        if not backup.exists():
            return _has_runs(server, {1})
        elsewhere = FaultyServer(folder / "elsewhere", {})
        done = elsewhere.command("restore", backup, "--replace")
        return "" if done.returncode == 0 else done.stderr

    return _kill(server, BACKUP, ("backup", backup, "--replace"), times, seed, is_whole)


def _study(folder: Path) -> FaultyServer:
    server = FaultyServer(folder / "instance", {})
    _done(server, "import", HYBRID)
    return server


def _kill(
    server: FaultyServer,
    fault: str,
    arguments: Sequence[str | Path],
    times: int,
    seed: int,
    wrong: Callable[[], str],
) -> Row:
    dice = random.Random(seed)  # noqa: S311 - the same moments for a seed
    damage: list[str] = []
    ended = 0
    for _ in range(times):
        process = subprocess.Popen(  # noqa: S603 - this very project
            [sys.executable, "-m", "webapp", *map(str, arguments)],
            env=server.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(dice.uniform(0, LONGEST_SECONDS))
        process.send_signal(signal.SIGKILL)
        ended += process.wait() == 0
        if found := wrong():
            damage.append(found)
    return Row(
        fault=fault,
        database="SQLite",
        made=f"{times} kills at random moments, {ended} of them too late",
        acknowledged=times,
        found=times - len(damage),
        missing=len(damage),
        damage=tuple(dict.fromkeys(damage)),
    )


def _has_runs(server: FaultyServer, allowed: set[int]) -> str:
    """Return what is wrong with the database; it holds one of the allowed numbers of runs."""
    checked = server.command("check")
    if checked.returncode:
        return checked.stdout + checked.stderr
    runs = document(server.command("runs", "--json"))["runs"]
    return "" if len(runs) in allowed else f"{len(runs)} runs"


def _done(server: FaultyServer, *arguments: str | Path) -> None:
    done = server.command(*arguments)
    assert done.returncode == 0, done.stderr
