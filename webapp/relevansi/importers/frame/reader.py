"""The process in which a server's files are read: one function is called, then it ends.

``fork_readers`` is the server's helper: it has the readers in memory and forks for each call, which
costs milliseconds. Where there is no fork, ``read_once`` is a process for each call.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
import sys
import time
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import IO, NoReturn

from msgspec import Struct

from relevansi.failures import Failure

READERS = (
    "relevansi.importers.results.formats",
    "relevansi.importers.runs.csv_ratings",
    "relevansi.importers.runs.json_runs",
    "relevansi.importers.runs.ratings",
    "openpyxl",
)
"""What the helper has in memory before a file comes."""
PATIENCE = 4
"""A reader may take so many times its seconds of processor time, since others work as well."""
HEARD_EVERY = 0.05
"""Seconds between two words of how far a reader is."""
LOOKED_EVERY = 0.1
"""Seconds between two looks at the memory of a process that the system does not limit."""


class Limits(Struct, frozen=True):
    """What a reader may take: bytes beyond those of an idle process, seconds of processor time.

    It ``waits`` for its turn, however long that takes.
    """

    memory: int = 2**30
    seconds: int = 30
    waits: bool = False


def fork_readers(control: int) -> None:
    """Answer, each in a fork, the calls that come through a socket, until its other end closes."""
    assert sys.platform != "win32"
    _ignore_signals()
    sys.modules["numpy"] = None  # type: ignore[assignment]  # openpyxl would load it for nothing
    for name in READERS:
        import_module(name)
    gc.set_threshold(50_000)  # as on the command line
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that end
    with socket.socket(fileno=control) as calls:
        while (came := socket.recv_fds(calls, 1, 1))[1]:
            call = socket.socket(fileno=came[1][0])
            # With too many processes the call ends unanswered.
            with suppress(OSError), call:
                if os.fork() == 0:
                    calls.close()
                    _answer(call.makefile("rb"), call.makefile("wb"))


def read_once() -> None:
    """Answer the call that comes through the standard input."""
    _ignore_signals()
    _answer(sys.stdin.buffer, sys.stdout.buffer)


def _ignore_signals() -> None:
    """Go on when all processes of a service are told to end: the server finishes what it began."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _answer(reads: IO[bytes], writes: IO[bytes]) -> NoReturn:
    """Call the function that was sent, send what comes of it, and end the process.

    Where nothing comes of it the server sees that its call is closed.
    """
    try:
        limits, function, arguments, reports_progress = pickle.load(reads)  # noqa: S301 - from our server
        Thread(target=_end_with, args=(reads,), daemon=True).start()
        _limit(limits)
        options = {"on_progress": _ProgressSender(writes)} if reports_progress else {}
        try:
            result = function(*arguments, **options)
        except MemoryError:
            pass
        except Exception as error:  # noqa: BLE001 - it is raised in the server
            _send(writes, "error", _portable(error))
        else:
            _send(writes, "result", result)
    except Exception:  # noqa: BLE001 - perhaps a result that cannot be sent
        traceback.print_exc()
    finally:
        os._exit(0)


def _send(writes: IO[bytes], kind: str, value: object) -> None:
    pickle.dump((kind, value), writes, pickle.HIGHEST_PROTOCOL)
    writes.flush()


def _portable(error: Exception) -> Exception:
    """Return an error as it can be sent; one of ours says where it was raised."""
    trace = "".join(traceback.format_exception(error))
    if not isinstance(error, Failure | RecursionError):
        error.add_note(trace)
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - its class may raise anything
        return RuntimeError(trace)
    return error


class _ProgressSender:
    """Tells the server how far a reader is, not more often than anybody looks."""

    def __init__(self, writes: IO[bytes]) -> None:
        self._writes, self._heard_at = writes, 0.0

    def __call__(self, position: int, of: int) -> None:
        now = time.monotonic()
        if now - self._heard_at >= HEARD_EVERY:
            self._heard_at = now
            _send(self._writes, "progress", (position, of))


def _end_with(server: IO[bytes]) -> None:
    """End this process with the server, or when that waits for it no longer."""
    server.read(1)
    os._exit(1)


def _limit(limits: Limits) -> None:
    """Give this process its limits; on Windows the server ends what takes too long."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - no module of Windows

    os.nice(10)  # clicks come first
    signal.setitimer(signal.ITIMER_REAL, PATIENCE * limits.seconds)
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_CPU, limits.seconds)
    status = Path("/proc/self/statm")
    if status.exists():
        with suppress(OSError):  # short of memory, the system ends this process first
            Path("/proc/self/oom_score_adj").write_text("1000", "ascii")
        pages = int(status.read_text("ascii").split()[0])
        _set(resource.RLIMIT_AS, pages * resource.getpagesize() + limits.memory)
    else:
        Thread(target=_end_beyond, args=(limits.memory,), daemon=True).start()


def _set(limit: int, most: int) -> None:
    import resource  # noqa: PLC0415 - no module of Windows

    _, hard = resource.getrlimit(limit)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(limit, (most, most))


def _end_beyond(memory: int) -> None:
    """End this process when it takes so many bytes more than now; macOS sets no such limit."""
    before = _peak()
    while _peak() - before <= memory:
        time.sleep(LOOKED_EVERY)
    os._exit(1)


def _peak() -> int:
    import resource  # noqa: PLC0415 - no module of Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
