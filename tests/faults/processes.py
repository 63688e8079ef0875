"""What a fault starts: each on a port of its own, and ended with the command, however that ends."""

from __future__ import annotations

import os
import random
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

LOWEST, HIGHEST = 20_000, 30_000
"""Below those that a system gives to outgoing connections: such a one could be taken meanwhile."""
_LEFT: list[Callable[[], None]] = []


def free_port() -> int:
    """Return a port that is free now."""
    for port in random.sample(range(LOWEST, HIGHEST), 100):
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no port is free")


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
