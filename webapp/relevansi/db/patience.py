"""How long a question waits for a locked database, and the queue of SQLite's writers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from time import monotonic

from relevansi.db.outages import WriterBusy

PATIENCE_SECONDS = 10.0
"""After this a question to a locked database is refused, which frees its thread."""

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def shared() -> Iterator[None]:
    """Let all transactions inside the ``with`` block share one deadline."""
    before = _deadline.set(monotonic() + PATIENCE_SECONDS)
    try:
        yield
    finally:
        _deadline.reset(before)


def seconds_left() -> float:
    """Return how long may still be waited: 0 once the deadline has passed."""
    until = _deadline.get()
    return PATIENCE_SECONDS if until is None else max(0.0, until - monotonic())


def milliseconds_left() -> int:
    """Return the same as ``seconds_left`` in milliseconds, at least 1: 0 means for ever."""
    return max(1, round(seconds_left() * 1000))


SLOW_SECONDS = 1.0
MOST_BEHIND_SLOW = 4
"""The most writers that wait behind a write that takes longer than ``SLOW_SECONDS``.

All others are refused, even if they came earlier, so that threads stay free for requests that only
read.
"""


class WriterQueue:
    """The lock of this process's writers; raises ``WriterBusy`` at the deadline or in a crowd."""

    def __init__(self) -> None:
        self.lock = Lock()
        self._waiting = 0
        self._since = 0.0

    def __enter__(self) -> None:
        if not self.lock.acquire(blocking=False):
            self._wait()
        self._since = monotonic()

    def __exit__(self, *_error: object) -> None:
        self.lock.release()

    def _wait(self) -> None:
        until = monotonic() + seconds_left()
        self._waiting += 1
        try:
            while (patience := until - monotonic()) > 0:
                is_slow = monotonic() - self._since > SLOW_SECONDS
                if is_slow and self._waiting > MOST_BEHIND_SLOW:
                    break
                if self.lock.acquire(timeout=min(patience, SLOW_SECONDS)):
                    return
            raise WriterBusy
        finally:
            self._waiting -= 1
