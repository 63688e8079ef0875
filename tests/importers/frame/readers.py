"""Readers for the tests of processes apart: each does what a file may make a reader do."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any, NoReturn

from relevansi.importers.runs.problems import UnreadableFile, error
from relevansi.records import OnProgress, no_progress


def doubled(numbers: tuple[int, ...], on_progress: OnProgress = no_progress) -> tuple[int, ...]:
    on_progress(0, len(numbers))
    return tuple(2 * number for number in numbers)


def pids() -> tuple[int, int, int]:
    """Return the ids of the process, of its parent and of its session."""
    return os.getpid(), os.getppid(), os.getsid(0)


def refuses(name: str) -> NoReturn:
    raise UnreadableFile(error("results_cut_off", name), error("json_broken", name, line=3))


def is_wrong() -> NoReturn:
    raise KeyError("a fault of ours")


def fills(megabytes: int) -> int:
    """Return how much memory was filled, in portions as a reader does."""
    return sum(map(len, [bytes(2**20) for _ in range(megabytes)]))


def goes_on(count: int = 0) -> NoReturn:
    while True:
        count += 1


def nests(value: Any = ()) -> Any:
    return nests((value,))


def dies() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def is_told_to_end() -> str:
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(os.getpid(), number)
    return "read"


def goes_on_after_writing(file: str) -> None:
    """Write the ids of the process and of the helper, then read on without end."""
    draft = Path(f"{file}.draft")
    draft.write_text(" ".join(map(str, pids())), "ascii")
    draft.rename(file)
    goes_on()
