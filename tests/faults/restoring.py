"""Commands that write a whole database are killed at random moments.

Whatever moment it was, a whole database is at its path afterwards: the earlier or the new one.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.browser.server import HYBRID, SEEDS
from tests.cli.relevansi import document
from tests.faults.killed_commands import done, kill_command, refused
from tests.faults.load import FaultyServer
from tests.faults.rows import Row

RESTORE = "A restore is killed"
IMPORT = "An import is killed"
BACKUP = "A backup is killed"


def kill_restores(folder: Path, times: int, seed: int) -> Row:
    """Return how often a whole database was there after a restore had been killed."""
    server = _study(folder)
    backup = folder / "study.backup"
    done(server, "backup", backup)
    arguments = ("restore", backup, "--replace")
    return kill_command(server, RESTORE, arguments, times, seed, lambda: _has_runs(server, {1}))


def kill_imports(folder: Path, times: int, seed: int) -> Row:
    """Return the same for imports of a second run, which is there wholly or not at all."""
    server = _study(folder)
    second = SEEDS / "api_only" / "test_results.json"
    first, study = folder / "first.sqlite", server.instance / "relevansi.sqlite"
    shutil.copy(study, first)

    def begin() -> None:
        for part in ("-wal", "-shm"):
            Path(f"{study}{part}").unlink(missing_ok=True)
        shutil.copy(first, study)

    def wrong() -> str:
        return _has_runs(server, {1, 2})

    return kill_command(server, IMPORT, ("import", second), times, seed, wrong, begin=begin)


def kill_backups(folder: Path, times: int, seed: int) -> Row:
    """Return the same for backups: the file is whole or not there."""
    server = _study(folder)
    backup = folder / "study.backup"

    def is_whole() -> str:
        if not backup.exists():
            return _has_runs(server, {1})
        elsewhere = FaultyServer(folder / "elsewhere", {})
        return refused(elsewhere, "restore", backup, "--replace")

    return kill_command(server, BACKUP, ("backup", backup, "--replace"), times, seed, is_whole)


def _study(folder: Path) -> FaultyServer:
    server = FaultyServer(folder / "instance", {})
    done(server, "import", HYBRID)
    return server


def _has_runs(server: FaultyServer, allowed: set[int]) -> str:
    """Return what is wrong with the database; it holds one of the allowed numbers of runs."""
    if differing := refused(server, "check"):
        return differing
    runs = document(server.command("runs", "--json"))["runs"]
    return "" if len(runs) in allowed else f"{len(runs)} runs"
