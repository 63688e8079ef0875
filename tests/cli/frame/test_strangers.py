"""`relevansi serve` reads files from its owner, and from strangers next to nothing."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.server import HYBRID, Server

PATIENCE = 120  # seconds: a bound for what never comes
LARGE = 2 * 2**20
HOST = "Host: 127.0.0.1\r\n"
END = b"\r\n--cut--\r\n"


@pytest.fixture(name="server")
def _server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path / "instance")
    server.start()
    yield server
    server.stop()


def answer(server: Server, head: str, body: bytes = b"") -> str:
    """Return the whole answer, at whose end the server closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as asking:
        asking.sendall(f"{head}Connection: close\r\n\r\n".encode() + body)
        with asking.makefile("rb") as arriving:
            return arriving.read().decode()


def upload(length: int) -> str:
    return (
        f"POST /runs/import HTTP/1.1\r\n{HOST}Content-Length: {length}\r\n"
        "Content-Type: multipart/form-data; boundary=cut\r\n"
    )


def test_files_are_read_from_the_owner_and_a_stranger_s_are_refused_unread(server: Server) -> None:
    part = b'--cut\r\nContent-Disposition: form-data; name="files"; filename="run.json"\r\n\r\n'
    file = part + HYBRID.read_bytes() + b" " * LARGE + END
    stored = answer(server, upload(len(file)), file)
    too_large = answer(server, upload(2**30) + "Accept-Language: en\r\n")
    server.post("/sign-in/first", {"password": "p" * 10, "again": "p" * 10})
    refused = answer(server, upload(len(file)))
    typed = answer(
        server,
        f"POST /sign-in HTTP/1.1\r\n{HOST}Content-Length: {LARGE}\r\nAccept-Language: id\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n",
    )

    assert stored.startswith("HTTP/1.1 303 ")
    assert "\r\nLocation: /runs/import?token=" in stored
    assert too_large.startswith("HTTP/1.1 413 ")
    assert "The file or the text is too large" in too_large
    assert refused.startswith("HTTP/1.1 401 ")
    assert typed.startswith("HTTP/1.1 413 ")
    assert "Berkas atau teks terlalu besar" in typed
    assert server.faults() == ""


def test_headers_too_long_and_odd_hosts_are_refused_in_a_line(server: Server) -> None:
    longest = "X: " + "x" * (16 * 2**10)
    long = answer(server, f"GET / HTTP/1.1\r\n{HOST}{longest}\r\n")
    odd = answer(server, "GET /healthz HTTP/1.1\r\nHost: a..b\r\n")

    assert long.partition(" ")[2].startswith("431 ")
    assert odd.startswith("HTTP/1.1 400 ")
    assert odd.endswith("\r\n\r\nThe Host header does not name a host.\n")
    assert server.faults() == ""
