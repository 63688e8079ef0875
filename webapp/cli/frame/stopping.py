"""A server that gets the signal to stop: it accepts nobody new and finishes what it has begun.

Waitress by itself ends with its process, in the middle of whatever it does. Here SIGTERM and
Ctrl+C close the door first; each answer then says that its connection closes, and the process
ends when the last one is sent. The same signal once more ends it at once.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any

PATIENCE = 25.0
"""Seconds that requests get to finish; systemd and containers kill after 90 and 10 to 30."""
QUIET = 0.5
"""Seconds without a word after which a connection has nothing on its way."""
GLANCE = 0.05
SIGNALS = ("SIGINT", "SIGTERM", "SIGBREAK")


def run(
    server: Any,
    sockets: dict[int, Any],
    *,
    patience: float = PATIENCE,
    until: int | None = None,
) -> int:
    """Serve until a signal comes, then finish; return how many requests were cut off.

    `server` is waitress's for one address, `sockets` the map it was made with. The end of the file
    `until` is as good as a signal.
    """
    from waitress import wasyncore

    with _signals(server) as told:
        if until is not None:
            Thread(target=_wait, args=(until, server, told), daemon=True).start()
        while not told:
            wasyncore.loop(timeout=1, use_poll=True, map=sockets, count=1)
    left = _finish(server, sockets, patience)
    server.task_dispatcher.shutdown(timeout=0 if left else 5)
    wasyncore.close_all(sockets)
    return left


@contextmanager
def _signals(server: Any) -> Iterator[list[int]]:
    """Yield a list that the first signal to stop is put into."""
    told: list[int] = []

    def stop(number: int, _frame: object) -> None:
        told.append(number)
        server.pull_trigger()

    kinds = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    before = {kind: signal.signal(kind, stop) for kind in kinds}
    try:
        yield told
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


def _wait(until: int, server: Any, told: list[int]) -> None:
    """Say that the file `until` has ended, once it has."""
    os.read(until, 1)
    told.append(0)
    with suppress(OSError):  # a signal came before, and all is closed
        server.pull_trigger()


def _finish(server: Any, sockets: dict[int, Any], patience: float) -> int:
    """Answer all who are connected already; return how many were not done in time."""
    from waitress import wasyncore

    _let_in(server)
    wasyncore.loop(timeout=0, use_poll=True, map=sockets, count=1)
    _announce(server)
    wasyncore.dispatcher.close(server)  # its own close() would take the trigger along
    deadline = time.monotonic() + patience
    while server.active_channels and time.monotonic() < deadline:
        wasyncore.loop(timeout=GLANCE, use_poll=True, map=sockets, count=1)
        _announce(server)
        for channel in list(server.active_channels.values()):
            if not _is_busy(channel):
                channel.will_close = True
    return sum(map(_is_at_work, server.active_channels.values()))


def _let_in(server: Any) -> None:
    """Accept everybody who waits at the door: they count as connected."""
    known = -1
    while known < len(server.active_channels):
        known = len(server.active_channels)
        server.handle_accept()


def _announce(server: Any) -> None:
    """Let every answer that is still to be given say that its connection closes."""
    for channel in list(server.active_channels.values()):
        for request in channel.requests:
            request.headers["CONNECTION"] = "close"  # the answer repeats it


def _is_busy(channel: Any) -> bool:
    """Whether something is on its way in or out, or may be."""
    return _is_at_work(channel) or time.time() - channel.last_activity < QUIET


def _is_at_work(channel: Any) -> bool:
    # In this order: an answer is in the buffer before its request is taken off the list.
    return bool(channel.requests or channel.request or channel.total_outbufs_len)
