"""``relevansi serve`` is told to stop: what it has begun is answered and stored."""

from __future__ import annotations

import http.client
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.browser.server import HYBRID, Server

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to send")

LOCKED_SECONDS = 1.5
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(name="server")
def _server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path / "instance")
    yield server
    server.stop()


def judge(server: Server, run_id: str, query_id: int, event_id: str) -> tuple[int, str | None]:
    """Post one verdict; return the status of the answer and what it says of the connection."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    path = f"/runs/{run_id}/queries/{query_id}/results/1/judgment"
    connection.request("POST", path, urlencode({"relevance": "1", "event_id": event_id}), FORM)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.getheader("Connection")


def told_to_stop(server: Server) -> subprocess.Popen[str]:
    assert server.process is not None
    server.process.send_signal(signal.SIGTERM)
    return server.process


def test_verdicts_under_way_when_it_is_told_to_stop_are_answered_and_stored(
    server: Server,
) -> None:
    """The database is locked by another, so that all posts wait inside the server."""
    (run_id,) = server.import_runs(HYBRID)
    server.start()
    blocking = server.database()
    blocking.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor() as pool:
        posts = [
            pool.submit(judge, server, run_id, query_id, f"e{query_id}") for query_id in (1, 2, 4)
        ]
        time.sleep(LOCKED_SECONDS)
        process = told_to_stop(server)
        time.sleep(0.2)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", server.port), timeout=5)
        blocking.rollback()
        blocking.close()
        answers = [post.result() for post in posts]

    assert answers == [(303, "close")] * 3
    assert process.wait(timeout=30) == 0
    assert {event["event_id"] for event in server.events()} == {"e1", "e2", "e4"}
    assert server.faults() == ""


def test_a_body_that_is_still_coming_in_is_waited_for(server: Server) -> None:
    (run_id,) = server.import_runs(HYBRID)
    server.start()
    body = urlencode({"relevance": "0", "event_id": "slow"}).encode()
    head = (
        f"POST /runs/{run_id}/queries/1/results/1/judgment HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Content-Type: {FORM['Content-Type']}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(head.encode() + body[:5])
        time.sleep(0.3)
        process = told_to_stop(server)
        time.sleep(1)
        connection.sendall(body[5:])
        answer = connection.makefile("rb").read()

    assert answer.startswith(b"HTTP/1.1 303 ")
    assert process.wait(timeout=30) == 0
    assert [event["event_id"] for event in server.events()] == ["slow"]


def test_idle_connections_hold_nothing_up(server: Server) -> None:
    server.start()
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as idle:
        idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        answer = b""
        while not answer.endswith(b"ok\n"):
            answer += idle.recv(65536)
        began = time.monotonic()
        process = told_to_stop(server)

        assert process.wait(timeout=30) == 0
        assert time.monotonic() - began < 10
        assert idle.recv(65536) == b""
