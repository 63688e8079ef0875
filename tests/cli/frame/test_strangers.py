"""Both servers read files from the owner, and from strangers next to nothing."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from urllib.error import HTTPError

import pytest

from tests.browser.server import HYBRID, Granian, Server
from tests.cli.relevansi import relevansi

PATIENCE = 120  # seconds: a bound for what never comes
LARGE = 2 * 2**20
HOST = "Host: 127.0.0.1\r\n"
END = b"\r\n--cut--\r\n"


@pytest.fixture(name="started", params=[Server, Granian], scope="module")
def _started(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    server: Server = request.param(tmp_path_factory.mktemp("served") / "instance")
    server.start()
    yield server
    server.stop()


@pytest.fixture(name="server")
def _server(started: Server) -> Iterator[Server]:
    """A server of a study without a password."""
    yield started
    assert relevansi(started.instance, "raters", "--forget-password").returncode == 0


def answer(server: Server, head: str, body: bytes = b"") -> str:
    with (
        suppress(ConnectionResetError),
        socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as asking,
    ):
        asking.sendall(f"{head}Connection: close\r\n\r\n".encode() + body)
        with asking.makefile("rb") as arriving:
            return arriving.read().decode()
    return ""


def upload(length: int) -> str:
    return (
        f"POST /runs/import HTTP/1.1\r\n{HOST}Content-Length: {length}\r\n"
        "Content-Type: multipart/form-data; boundary=cut\r\n"
    )


def test_files_are_read_from_the_owner_and_a_stranger_s_are_refused(server: Server) -> None:
    part = b'--cut\r\nContent-Disposition: form-data; name="files"; filename="run.json"\r\n\r\n'
    file = part + HYBRID.read_bytes() + b" " * LARGE + END
    text = b"password=" + b"x" * LARGE
    stored = answer(server, upload(len(file)), file)
    with suppress(HTTPError):  # the password is set; the page then asks for the cookie it sent
        server.post("/sign-in/first", {"password": "p" * 10, "again": "p" * 10})
    refused = answer(server, upload(len(file)), file)
    typed = answer(
        server,
        f"POST /sign-in HTTP/1.1\r\n{HOST}Content-Length: {len(text)}\r\nAccept-Language: id\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n",
        text,
    )

    assert stored.startswith("HTTP/1.1 303 ")
    assert "location: /runs/import?token=" in stored.lower()
    assert refused.startswith("HTTP/1.1 401 ")
    assert typed.startswith("HTTP/1.1 413 ")
    assert "Berkas atau teks terlalu besar" in typed


def test_bodies_and_headers_too_long_and_odd_hosts_are_refused(server: Server) -> None:
    head = answer(server, upload(2**30))
    longest = "X: " + "x" * (17 * 2**10)
    long = answer(server, f"GET / HTTP/1.1\r\n{HOST}{longest}\r\n")
    for header in ("Forwarded", "Via", "X-Real-IP", "X-Forwarded-For", "X-Forwarded-Host"):
        passed_on = answer(server, f"GET / HTTP/1.1\r\n{HOST}{header}: 192.0.2.1\r\n")
        assert passed_on.startswith("HTTP/1.1 403 ")  # the server does not hide what tells it
    odd = answer(server, "GET /healthz HTTP/1.1\r\nHost: a..b\r\n")

    assert "413 " in head.partition("\r\n")[0]
    assert long == "" or long.partition(" ")[2].startswith("431 ")
    assert odd.startswith("HTTP/1.1 400 ")
    assert odd.endswith("\r\n\r\nThe Host header does not name a host.\n")
