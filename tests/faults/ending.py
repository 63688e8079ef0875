"""Everything a fault has started ends with the command, however that ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_LEFT: list[Callable[[], None]] = []


def at_the_end(end: Callable[[], None]) -> None:
    """Call `end` when the command ends; it may find nothing left to do."""
    _LEFT.append(end)


@contextmanager
def everything_ended() -> Iterator[None]:
    """End in the end whatever was started; Ctrl+C and SIGTERM wait for no other fault."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        _end_all()
        os._exit(130)
    _end_all()


def _end_all() -> None:
    for end in _LEFT:
        with suppress(Exception):
            end()
