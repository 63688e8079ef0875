"""The machine a benchmark ran on, as far as it matters to others: no names, no paths."""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import process_time

MOUNTS = Path("/proc/mounts")
MEMORY = Path("/proc/meminfo")
PROCESSORS = Path("/proc/cpuinfo")
LOAD_IS_QUIET = 0.5
ADDITIONS = 10_000_000


def machine(folder: Path) -> list[tuple[str, str]]:
    """Return what it is made of; `folder` is where the databases lie."""
    return [
        ("processor", f"{_processor()}, {os.cpu_count()} logical"),
        ("memory", _memory()),
        ("system", f"{platform.system()} {platform.release()} {platform.machine()}"),
        ("Python", f"{platform.python_implementation()} {platform.python_version()}"),
        (f"{ADDITIONS:,} additions in a Python loop", f"{_additions():.2f} s of processor time"),
        ("SQLite", sqlite3.sqlite_version),
        ("server", f"waitress {version('waitress')}, Flask {version('flask')}"),
        ("filesystem of the databases", _filesystem(folder)),
        ("load before it began", _load()),
        ("day", datetime.now(UTC).date().isoformat()),
    ]


def resident(pids: Iterable[int]) -> float | None:
    """Return the memory that processes hold now, in MB; ``None`` where no Linux tells it.

    Memory that several of the processes share is counted once (PSS).
    """
    sizes = [_field(Path(f"/proc/{pid}/smaps_rollup"), "Pss") for pid in pids]
    return sum(int(size.split()[0]) for size in sizes) / 1024 if all(sizes) else None


def _field(path: Path, name: str) -> str:
    """Return what `path` says after `name` and a colon, at first; empty if nothing."""
    if not path.exists():
        return ""
    lines = path.read_text("utf-8", errors="replace").splitlines()
    result = (line.partition(":")[2].strip() for line in lines if line.startswith(name))
    return next(result, "")


def _processor() -> str:
    return _field(PROCESSORS, "model name") or platform.processor() or "unknown"


def _memory() -> str:
    total = _field(MEMORY, "MemTotal")
    return f"{int(total.split()[0]) / 2**20:.1f} GB" if total else "unknown"


def _additions() -> float:
    """Return the time of a loop of additions: how fast one core is, for the limits in seconds."""
    began, total = process_time(), 0
    for number in range(ADDITIONS):
        total += number
    return process_time() - began


def _load() -> str:
    """Return the load of the last minute, marked where somebody else was at work."""
    if not hasattr(os, "getloadavg"):
        return "unknown"
    load = os.getloadavg()[0]
    return f"{load:.2f}" + ("" if load < LOAD_IS_QUIET else " (not quiet: believe the ratios only)")


def _filesystem(folder: Path) -> str:
    """Return the kind of filesystem `folder` lies on: that of the longest mount above it."""
    if not MOUNTS.exists():
        return "unknown"
    here = folder.resolve()
    mounts = [line.split() for line in MOUNTS.read_text("utf-8").splitlines()]
    above = [(len(at), kind) for _, at, kind, *_ in mounts if here.is_relative_to(at)]
    return max(above)[1] if above else "unknown"
