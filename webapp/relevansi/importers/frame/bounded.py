"""Other people's files read for a server in a process apart, with limits of memory and time.

A file that brings its reader down is then a sentence to whoever sent it, and nothing to the others.
The command line reads in its own process.
"""

from __future__ import annotations

import atexit
import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from threading import Lock, Semaphore, Timer
from typing import IO, Any, TypeVar

from relevansi.failures import Busy
from relevansi.i18n import mark
from relevansi.importers.frame.reader import PATIENCE, Limits
from relevansi.importers.runs.problems import ImportRefused, error
from relevansi.json_text import MAX_DEPTH
from relevansi.records import OnProgress, no_progress

T = TypeVar("T")
PAGE = Limits()
JOB = Limits(seconds=300, waits=True)

_limits: ContextVar[Limits | None] = ContextVar("limits", default=None)
_readers = Semaphore(2)  # at work, each with the memory of its limits
_requests = Semaphore(4)  # with a reader, or waiting for one; the other threads answer clicks


class ReaderStopped(ImportRefused):
    """The reader of a file took more memory or time than it may, or met too deep a nesting."""


class ReadersBusy(Busy):
    message = mark("Several other files are being read at this moment")
    remedy = mark("Send this one again in a minute.")
    retry_after = 30


@contextmanager
def within(limits: Limits | None) -> Iterator[None]:
    """Let ``call`` use processes apart with these limits, or the own one, until the block ends."""
    before = _limits.set(limits)
    try:
        yield
    finally:
        _limits.reset(before)


def call(
    file: str, function: Callable[..., T], *arguments: object, on_progress: OnProgress = no_progress
) -> T:
    """Return the result of a function of a module, in a process apart if that is the way here.

    `file` is the name by which the user knows what is read. Arguments, result and errors travel as
    pickles. An `on_progress` of the caller is passed to the function by that name. Raises what the
    function raises; apart also ``ReaderStopped`` and ``ReadersBusy``.
    """
    options = {} if on_progress is no_progress else {"on_progress": on_progress}
    limits = _limits.get()
    if limits is None:
        return function(*arguments, **options)
    with ExitStack() as stack:
        if not limits.waits:
            if not _requests.acquire(blocking=False):
                raise ReadersBusy
            stack.callback(_requests.release)
        stack.enter_context(_readers)
        reads, writes = stack.enter_context(_reader(limits))
        with suppress(OSError):  # a reader that has stopped already
            request = (limits, function, arguments, bool(options))
            pickle.dump(request, writes, pickle.HIGHEST_PROTOCOL)
            writes.flush()
        while (answer := _answer(reads))[0] == "progress":
            on_progress(*answer[1])
    match answer:
        case ("result", result):
            return result  # type: ignore[no-any-return]
        case ("error", RecursionError()):
            raise ReaderStopped(error("nested_too_deep", file, {"limit": MAX_DEPTH}))
        case ("error", raised):
            raise raised
    raise ReaderStopped(error("reader_stopped", file))


def _answer(reads: IO[bytes]) -> tuple[str, Any]:
    with suppress(EOFError, OSError, pickle.UnpicklingError):
        return pickle.load(reads)  # type: ignore[no-any-return]  # noqa: S301 - our own process
    return "stopped", None


@contextmanager
def _reader(limits: Limits) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Yield the two ends of a new reader, which ends with the block."""
    with ExitStack() as stack:
        if sys.platform == "win32":
            ends = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            process = stack.enter_context(_started("read_once()", **ends))
            reads, writes = process.stdout, process.stdin
            stack.callback(process.kill)
            timer = Timer(PATIENCE * limits.seconds, process.kill)
            stack.callback(timer.cancel)
            timer.start()
        else:
            ours, theirs = map(stack.enter_context, socket.socketpair())
            _helper.take(theirs)
            theirs.close()
            reads, writes = ours.makefile("rb"), ours.makefile("wb")
        try:
            yield reads, writes
        finally:
            reads.close()
            with suppress(OSError):  # it writes the rest first
                writes.close()


class _Helper:
    """The process that forks a reader for each call; begun with the first one."""

    def __init__(self) -> None:
        self._changes = Lock()
        self._running: tuple[subprocess.Popen[bytes], socket.socket] | None = None

    def take(self, call: socket.socket) -> None:
        """Let a call be answered; a helper that has died is replaced."""
        with self._changes:
            for _ in range(2):
                control = self._running[1] if self._running else self._begin()
                try:
                    socket.send_fds(control, [b"c"], [call.fileno()])
                except OSError:
                    self.end()
                else:
                    return
        raise OSError("the process that reads files does not start")

    def _begin(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            self._running = _started(f"fork_readers({number})", pass_fds=[number]), ours
        return ours

    def end(self) -> None:
        """End the process; it would end by itself, as the readers do, when this one does."""
        if self._running is not None:
            process, control = self._running
            self._running = None
            control.close()
            process.wait()


_helper = _Helper()
atexit.register(_helper.end)


def _started(what: str, **options: Any) -> subprocess.Popen[bytes]:
    code = f"from relevansi.importers.frame import reader; reader.{what}"
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), "MALLOC_ARENA_MAX": "1"}
    return subprocess.Popen(  # noqa: S603 - this very Python
        [sys.executable, "-P", "-c", code],
        env={**os.environ, **environment},
        start_new_session=True,
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, **options},
    )
