"""The disk that a command writes to is full: a backup, an export, a move, a restore.

The command says so and ends; what it reads is as it was, and nothing half-written has the wanted
name. Once there is room, the same command comes to its end.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.faults import stored
from tests.faults.full_disk import fill_up, small_disk
from tests.faults.killed_commands import done, refused
from tests.faults.load import FaultyServer, Load
from tests.faults.rows import CannotBeMade, Row
from webapp.config import sqlite_url

FAULT = "The disk of a command's target is full"
DISK_MB = 8
CLICKS = 60
MOST_LEFT = 32 * 1024
"""Bytes of room that a command may find: less than any of them needs."""
SAID = re.compile(r"relevansi: The disk of \S+ is full or failing\. Nothing was stored\.\n")
TARGET = "target"
MAY_STAY = {TARGET, f"{TARGET}-wal", f"{TARGET}-shm"}
"""A database without rows, into which the same move goes later."""
COMMANDS = ("backup", "export", "move", "restore")

Command = tuple[FaultyServer, Sequence[str | Path]]


def fill(folder: Path, times: int, seed: int) -> Row:
    """Return how often a command said that its target's disk is full, and did no harm."""
    if os.geteuid() != 0:
        raise CannotBeMade("a disk of its own needs root")
    dice = random.Random(seed)
    load = Load(folder)
    wanted = load.clicked(CLICKS)
    backup = folder / "study.backup"
    done(load.server, "backup", backup)
    damage: list[str] = []
    with small_disk(folder / "disk", DISK_MB) as disk:
        other = FaultyServer(disk / "instance", {})
        done(other, "restore", backup)
        kept = (load.url, sqlite_url(disk / "instance" / "relevansi.sqlite"))
        for _ in range(times):
            for server, arguments in _commands(load, other, backup, disk):
                before = _files(disk)
                with _filled(disk, dice.randrange(MOST_LEFT)):
                    told = refused(server, *arguments)
                wrong = []
                if SAID.fullmatch(told) is None:
                    wrong.append(f"says {told!r}")
                if any(stored.found(url) != wanted for url in kept):
                    wrong.append("has changed what is to stay")
                if left := {file.name for file in _files(disk) - before} - MAY_STAY:
                    wrong.append(f"leaves {sorted(left)}")
                if told := refused(server, *arguments):
                    wrong.append(f"says, once there is room, {told!r}")
                damage += [f"{arguments[0]} {one}" for one in wrong]
                for file in _files(disk) - before:
                    file.unlink()
    count = times * len(COMMANDS)
    return Row(
        fault=FAULT,
        database="SQLite",
        made=f"{times} times each: {', '.join(COMMANDS)}; a disk of {DISK_MB} MB",
        acknowledged=count,
        found=count - len(damage),
        missing=len(damage),
        damage=tuple(dict.fromkeys(damage)),
    )


def _commands(load: Load, other: FaultyServer, backup: Path, disk: Path) -> Iterator[Command]:
    """Yield each command with the server on whose database it works; all write to the disk."""
    target = disk / TARGET
    yield load.server, ("backup", target)
    yield load.server, ("export", load.run_id, "--format", "proof-pack", "-o", target)
    yield load.server, ("move", sqlite_url(target))
    yield other, ("restore", backup, "--replace")


def _files(disk: Path) -> set[Path]:
    return {path for path in disk.rglob("*") if path.is_file()}


@contextmanager
def _filled(disk: Path, left: int) -> Iterator[None]:
    """Leave so many bytes of room meanwhile."""
    filler = fill_up(disk)
    os.truncate(filler, max(0, filler.stat().st_size - left))
    try:
        yield
    finally:
        filler.unlink()
