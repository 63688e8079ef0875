"""``relevansi serve`` is told to stop: what it has begun is answered and stored."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.browser.server import HYBRID, Server

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to send")

PATIENCE = 120  # seconds: a bound for what never comes


@pytest.fixture(name="server")
def _server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path / "instance")
    yield server
    server.stop()


class Verdict:
    """A verdict on its way to the server, which has its head and waits for its body."""

    def __init__(self, server: Server, run_id: str, query_id: int) -> None:
        self.event_id = f"e{query_id}"
        self._body = urlencode({"relevance": "1", "event_id": self.event_id}).encode()
        self._connection = connected(server)
        self._connection.sendall(
            f"POST /runs/{run_id}/queries/{query_id}/results/1/judgment HTTP/1.1\r\n"
            "Host: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            f"Content-Length: {len(self._body)}\r\nExpect: 100-continue\r\n\r\n".encode()
        )
        assert b"100 Continue" in self._connection.recv(65536)

    def send(self) -> None:
        """Send the body."""
        self._connection.sendall(self._body)

    def answer(self) -> bytes:
        """Return the whole answer, once the server has closed the connection behind it."""
        with self._connection, self._connection.makefile("rb") as arriving:
            return arriving.read()


def connected(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)


def told_to_stop(server: Server) -> subprocess.Popen[str]:
    """Return the server's process once it lets nobody new in."""
    process = server.process
    assert process is not None
    process.send_signal(signal.SIGTERM)
    while True:
        try:
            connected(server).close()
        except ConnectionError:
            return process


def test_verdicts_under_way_when_it_is_told_to_stop_are_answered_and_stored(
    server: Server,
) -> None:
    """The database is locked by another, so that all posts wait inside the server."""
    (run_id,) = server.import_runs(HYBRID)
    server.start()
    blocking = server.database()
    blocking.execute("BEGIN IMMEDIATE")
    verdicts = [Verdict(server, run_id, query_id) for query_id in (1, 2, 4)]
    for verdict in verdicts:
        verdict.send()
    process = told_to_stop(server)
    assert process.poll() is None
    blocking.rollback()
    blocking.close()
    answers = [verdict.answer() for verdict in verdicts]

    assert [answer[:13] for answer in answers] == [b"HTTP/1.1 303 "] * 3
    assert all(b"\r\nConnection: close\r\n" in answer for answer in answers)
    assert process.wait(timeout=PATIENCE) == 0
    assert {event["event_id"] for event in server.events()} == {"e1", "e2", "e4"}
    assert server.faults() == ""


def test_a_body_that_is_still_coming_in_is_waited_for_and_idle_connections_are_not(
    server: Server,
) -> None:
    (run_id,) = server.import_runs(HYBRID)
    server.start()
    with connected(server) as idle:
        idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        answer = b""
        while not answer.endswith(b"ok\n"):
            answer += idle.recv(65536)
        slow = Verdict(server, run_id, 1)
        process = told_to_stop(server)

        assert idle.recv(65536) == b""
    assert process.poll() is None
    slow.send()
    assert slow.answer().startswith(b"HTTP/1.1 303 ")
    assert process.wait(timeout=PATIENCE) == 0
    assert [event["event_id"] for event in server.events()] == [slow.event_id]
