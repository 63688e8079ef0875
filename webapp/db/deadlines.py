"""The longest a request waits for the database in all, however many locks it meets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

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
