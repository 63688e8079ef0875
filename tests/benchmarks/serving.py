"""The server that is measured, a process of its own as users start it."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.benchmarks.load import Refused
from tests.browser.server import Server

FORM = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}


@contextmanager
def relevansi(folder: Path) -> Iterator[Server]:
    """Yield ``relevansi serve`` on the database in `folder`; it must have nothing to log."""
    server = Server(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()
    if server.faults():
        raise Refused(server.faults())


def cookie(server: Server, token: str) -> str:
    """Return the cookie of a browser that came in by an invitation."""
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)) as connection:
        connection.request("POST", f"/join/{token}", "", FORM)
        answer = connection.getresponse()
        found = answer.getheader("Set-Cookie")
    if not found:
        raise Refused(f"/join: {answer.status}")
    return found.partition(";")[0]
