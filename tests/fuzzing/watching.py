"""A process that puts inputs in, watched from outside: how long it takes and what it holds.

An input that hangs cannot be stopped from within, and one that takes all memory takes the
fuzzer along. So both limits are another process's: it ends what goes beyond them, writes down
which input it was, and goes on behind it.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzzing.exploring import explore
from tests.fuzzing.kinds import Found, Kind

SECONDS_EACH = 60.0
"""Generous: the slowest honest input takes a second, on a machine that does other things too."""
STARTING = 600.0
MEMORY = 1 << 30
"""The memory in bytes that inputs of at most ten megabytes may take beside the program's own."""

Make = Callable[[int], Kind[Any]]


@dataclass(slots=True)
class Told:
    """The result of one kind: how many inputs were put in, and the failures found."""

    kind: str
    inputs: int = 0
    seconds: float = 0.0
    peak_mb: int = 0
    found: list[Found] = field(default_factory=list)


def watch(
    name: str,
    make: Make,
    seed: int,
    *,
    seconds: float,
    first: int = 0,
    most: int | None = None,
    seconds_each: float = SECONDS_EACH,
    memory: int = MEMORY,
) -> Told:
    """Put inputs in for so many `seconds`, at `most` so many; return what came of it."""
    told, began, number = Told(name), time.monotonic(), first
    known: set[tuple[str, str, str]] = set()
    last = sys.maxsize if most is None else first + most
    while time.monotonic() - began < seconds and number < last:
        left = seconds - (time.monotonic() - began)
        limits = _Limits(left, last, seconds_each, memory)
        number, ended = _part(name, make, seed, number, limits, told, known)
        if ended is not None and ended.cause not in known:
            known.add(ended.cause)
            told.found.append(ended)
    told.inputs, told.seconds = number - first, time.monotonic() - began
    return told


@dataclass(frozen=True, slots=True)
class _Limits:
    """How long a process may go on, up to which input, and what each may take."""

    seconds: float
    last: int
    seconds_each: float
    memory: int


def _part(
    name: str,
    make: Make,
    seed: int,
    first: int,
    limits: _Limits,
    told: Told,
    known: set[tuple[str, str, str]],
) -> tuple[int, Found | None]:
    """Return the number to go on with, and what ended the process before its time."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    work = (make, seed, first, limits, known, sending)
    process = context.Process(target=_work, args=work, daemon=True)
    process.start()
    sending.close()
    number, wait = first, STARTING
    ended: str | None = None
    while ended is None:
        if not receiving.poll(wait):
            ended = f"hang: no answer within {wait:.0f} seconds"
            break
        try:
            kind, said = receiving.recv()
        except (EOFError, OSError):
            process.join(10)
            ended = f"ended: the process ended with {process.exitcode}"
            break
        if kind == "number":
            number, wait = said, limits.seconds_each
        elif kind == "found":
            known.add(said.cause)
            told.found.append(said)
        elif kind == "making smaller":
            wait = STARTING
        else:
            told.peak_mb = max(told.peak_mb, said)
            break
    receiving.close()
    if process.is_alive() and ended is not None:
        process.kill()
    process.join()
    if ended is None:
        return number, None
    return number + 1, Found(name, seed, number, ended, "", "", _input(make, seed, number))


def _work(
    make: Make,
    seed: int,
    first: int,
    limits: _Limits,
    known: set[tuple[str, str, str]],
    sending: Any,
) -> None:
    """Put inputs in, and tell the number of each before it is made."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        kind = make(seed)
        with closing(kind):
            kind.open(Path(folder))
            _limit_memory(limits.memory)
            until = time.monotonic() + limits.seconds

            def going_on(number: int) -> bool:
                sending.send(("number", number))
                return number < limits.last and time.monotonic() < until

            for one in explore(kind, first, going_on=going_on, known=known):
                sending.send(("found", one))
        sending.send(("done", _peak_mb()))


def _input(make: Make, seed: int, number: int) -> bytes:
    """Return the input of that number as far as it can be made here, without putting it in."""
    kind = make(seed)
    temporary = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    with suppress(Exception), temporary as folder, closing(kind):
        kind.open(Path(folder))
        return kind.shown(kind.number(number))
    return b""


def _limit_memory(beside: int) -> None:
    """Let this process take so many bytes more than it has; elsewhere than on Linux, any."""
    if sys.platform != "linux":
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    limit = pages * resource.getpagesize() + beside
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _peak_mb() -> int:
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
