"""A command is killed at random moments; whatever the moment was, what it leaves is looked at."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.faults.load import FaultyServer
from tests.faults.rows import Row

SQLITE = "SQLite"


def kill_command(
    server: FaultyServer,
    fault: str,
    arguments: Sequence[str | Path],
    times: int,
    seed: int,
    wrong: Callable[[], str],
    *,
    database: str = SQLITE,
    begin: Callable[[], None] = lambda: None,
) -> Row:
    """Return how often all was whole after the command had been killed.

    `begin` is called before each time; `wrong` returns what is not whole after it, else nothing.
    The command comes to its end once, so that it is known how long it takes.
    """
    dice = random.Random(seed)
    damage: list[str] = []
    ended = 0
    begin()
    began = time.monotonic()
    done(server, *arguments)
    longest = time.monotonic() - began
    for _ in range(times):
        begin()
        process = subprocess.Popen(
            [sys.executable, "-m", "webapp", *map(str, arguments)],
            env=server.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(dice.uniform(0, longest))
        process.send_signal(signal.SIGKILL)
        ended += process.wait() == 0
        if found := wrong():
            damage.append(found)
    return Row(
        fault=fault,
        database=database,
        made=f"{times} kills at random moments, {ended} of them too late",
        acknowledged=times,
        found=times - len(damage),
        missing=len(damage),
        damage=tuple(dict.fromkeys(damage)),
    )


def done(server: FaultyServer, *arguments: str | Path) -> None:
    """Let a command come to its end, which must be a good one."""
    finished = server.command(*arguments)
    assert finished.returncode == 0, finished.stderr


def refused(server: FaultyServer, *arguments: str | Path) -> str:
    """Return what a command says that ends badly, nothing where it ends well."""
    finished = server.command(*arguments)
    return finished.stdout + finished.stderr if finished.returncode else ""
