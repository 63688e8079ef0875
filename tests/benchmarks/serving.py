"""The servers that are measured, each a process of its own: ours as users start it, the minimal."""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.benchmarks.load import ROOT, Refused
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


@contextmanager
def minimal(folder: Path, *, canned: bool = False) -> Iterator[int]:
    """Yield the port of the yardstick, which keeps its rows in `folder`."""
    wanted = [sys.executable, "-m", "tests.benchmarks.minimal", str(folder), *["--canned"] * canned]
    process = subprocess.Popen(wanted, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    try:
        said = re.search(r":(\d+)/", process.stdout.readline())
        assert said
        yield int(said[1])
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


def cookie(server: Server, token: str) -> str:
    """Return the cookie of a browser that came in by an invitation."""
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)) as connection:
        connection.request("POST", f"/join/{token}", "", FORM)
        answer = connection.getresponse()
        found = answer.getheader("Set-Cookie")
    if not found:
        raise Refused(f"/join: {answer.status}")
    return found.partition(";")[0]
