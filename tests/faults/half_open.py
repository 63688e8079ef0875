"""Somebody opens hundreds of connections and asks nothing; who comes next is answered all the same.

The limits of the server do that alone: so many connections at once, and an end to idle ones.
"""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.faults.load import Load
from tests.faults.report import Row

FAULT = "Half-open connections"
CONNECTIONS = 700
LONGEST_WAIT = 10.0
"""Seconds in which a new connection has to be answered."""
KEPT_SECONDS = 15
"""Longer than the server keeps a connection that says nothing."""
CLICKS_BETWEEN = 20


def half_open(folder: Path, times: int) -> Row:
    """Return what came of those who click and of those who come meanwhile."""
    load = Load(folder)
    load.server.start()
    longest = 0.0
    with load.clicking():
        for _ in range(times):
            load.await_clicks(CLICKS_BETWEEN)
            with _opened(load.server.port):
                until = time.monotonic() + KEPT_SECONDS
                while time.monotonic() < until:
                    longest = max(longest, _seconds_until_answered(load.server.port))
            load.await_clicks(CLICKS_BETWEEN)
    load.finish()
    if longest > LONGEST_WAIT:
        load.damage.append(f"a new connection waited {longest:.1f} s")
    action = (
        f"{times} times {CONNECTIONS} for {KEPT_SECONDS} s, half of them with one byte; a new "
        f"connection waited {longest:.1f} s at most"
    )
    return load.row(FAULT, action)


@contextmanager
def _opened(port: int) -> Iterator[None]:
    """Keep connections open meanwhile that never send a whole request."""
    with ExitStack() as stack:
        for number in range(CONNECTIONS):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            if number % 2:
                connection.sendall(b"G")
        yield


def _seconds_until_answered(port: int) -> float:
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/healthz")
    connection.getresponse().read()
    connection.close()
    return time.monotonic() - began
