"""No stranger takes the server's places, its memory or its file handles from others."""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from waitress import wasyncore

from webapp.cli.frame import connections
from webapp.cli.frame.connections import (
    BODY_RATE,
    BODY_SECONDS,
    HEADER_SECONDS,
    MOST_LEFT,
    Connection,
    Server,
)
from webapp.web.frame.body_limits import OF_STRANGERS

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

PLACES = 3
LARGE = 2**20
TURNS = 900  # a bound for what never comes
ASK = b"GET / HTTP/1.1\r\nHost: here\r\n"


class Serving:
    """A server whose loop the test turns, and whose clock the test moves."""

    def __init__(self, listener: socket.socket) -> None:
        listener.bind(("127.0.0.1", 0))
        self.now = 1_000.0
        self.sockets: dict[int, Any] = {}
        self.address = listener.getsockname()
        self.asked: list[str] = []
        self.held = [0]
        self._opened: list[socket.socket] = []
        self.server = Server(
            self._answer,
            listener,
            self.sockets,
            places=PLACES,
            largest_body=lambda environ: LARGE if "HTTP_COOKIE" in environ else 0,
            held=self.held,
            clock=lambda: self.now,
            threads=1,
        )

    def connect(self) -> tuple[socket.socket, Connection]:
        """Return a new connection from both ends."""
        known = set(self.server.connections.values())
        ours = socket.create_connection(self.address, timeout=60)
        self._opened.append(ours)
        self.until(lambda: bool(set(self.server.connections.values()) - known))
        (theirs,) = set(self.server.connections.values()) - known
        return ours, theirs

    def until(self, happens: Callable[[], bool]) -> None:
        """Turn the loop until something happens."""
        for _ in range(TURNS):
            if happens():
                return
            wasyncore.loop(timeout=0.2, use_poll=True, map=self.sockets, count=1)
        raise AssertionError(happens)

    def send(self, ours: socket.socket, theirs: Connection, data: bytes) -> None:
        """Send `data`, and wait until the server has it."""
        before = _length(theirs)
        ours.sendall(data)
        self.until(lambda: _length(theirs) >= before + len(data))

    def answer(self, ours: socket.socket) -> bytes:
        """Return all that the server sends until it ends its side."""
        ours.setblocking(False)
        found = bytearray()

        def has_ended() -> bool:
            try:
                while data := ours.recv(65536):
                    found.extend(data)
            except BlockingIOError:
                return False
            return True

        self.until(has_ended)
        return bytes(found)

    def _answer(self, environ: WSGIEnvironment, start: StartResponse) -> list[bytes]:
        body = environ["wsgi.input"].read()
        self.asked.append(f"{environ.get('CONTENT_LENGTH')} announced, {len(body)} read")
        start("200 OK", [("Content-Length", "2")])
        return [b"ok"]

    def close(self) -> None:
        """End it, and every connection."""
        for ours in self._opened:
            ours.close()
        self.server.task_dispatcher.shutdown()
        wasyncore.close_all(self.sockets)


def _length(theirs: Connection) -> int:
    latest = theirs.latest
    return len(latest.header_plus) + latest.body_bytes_received if latest else 0


@pytest.fixture(name="serving")
def _serving() -> Iterator[Serving]:
    with closing(Serving(socket.socket())) as serving:
        yield serving


@pytest.mark.parametrize("half", [b"", ASK])
def test_headers_that_do_not_come_or_drip_in_have_ten_seconds(
    serving: Serving, half: bytes
) -> None:
    ours, theirs = serving.connect()
    if half:
        serving.send(ours, theirs, half)
    serving.now += HEADER_SECONDS
    if half:
        serving.send(ours, theirs, b"X: y\r\n")  # not silent, and still not complete
    assert theirs in serving.server.connections.values()

    serving.now += 0.1
    serving.until(lambda: not serving.server.connections)

    assert ours.recv(1) == b""


def test_a_body_may_take_longer_the_more_of_it_is_here(serving: Serving) -> None:
    ours, theirs = serving.connect()
    ours.sendall(b"POST / HTTP/1.1\r\nContent-Length: 60000\r\n\r\n")
    serving.until(lambda: theirs.latest is not None and theirs.latest.headers_finished)
    began = serving.now
    serving.send(ours, theirs, b"x" * 10 * BODY_RATE)

    assert theirs.deadline == began + BODY_SECONDS + 10
    serving.now = theirs.deadline + 0.1
    serving.until(lambda: not serving.server.connections)


def test_an_idle_connection_has_no_deadline_after_its_first_answer(serving: Serving) -> None:
    ours, theirs = serving.connect()
    ours.sendall(ASK + b"\r\n")
    serving.until(lambda: bool(serving.asked) and not theirs.requests)
    serving.now += 60

    assert not theirs.is_late()


def test_somebody_new_is_left_to_the_process_that_has_fewer_connections(serving: Serving) -> None:
    serving.held.append(0)
    serving.connect()
    serving.server.readable()

    assert [serving.server.accept() for _ in range(MOST_LEFT)] == [None] * MOST_LEFT
    serving.connect()  # where no process takes them, this one does
    assert len(serving.server.connections) == 2


def test_whoever_holds_most_makes_room_and_a_request_at_work_never_does(serving: Serving) -> None:
    kept = [serving.connect() for _ in range(PLACES)]
    first, second, other = (theirs for _, theirs in kept)
    other.network = "192.0.2.7"
    first.requests = [object()]  # type: ignore[list-item]

    kept.append(serving.connect())

    assert list(serving.server.connections.values()) == [first, other, kept[-1][1]]
    assert second not in serving.server.connections.values()
    first.requests = []


class FullTable(socket.socket):
    """A listening socket of a process that has no file handle left."""

    tries = 0

    def accept(self) -> tuple[socket.socket, object]:
        self.tries += 1
        raise OSError(errno.EMFILE, "Too many open files")


def test_without_file_handles_accepting_rests_and_the_log_has_one_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    listener = FullTable()
    seldom = connections.Seldom(lambda: 0.0)
    with closing(Serving(listener)) as serving, closing(socket.socket()) as ours:
        serving.server.logger.addFilter(seldom)
        ours.connect(listener.getsockname())
        serving.until(lambda: listener.tries == 1)

        assert not serving.server.readable()
        serving.now += 1
        serving.until(lambda: listener.tries == 2)
        serving.server.logger.removeFilter(seldom)

    assert [record.getMessage() for record in caplog.records] == [
        "No connection can be accepted: Too many open files"
    ]
    assert seldom.filter(logging.makeLogRecord({"msg": "another", "levelno": logging.WARNING}))


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        pytest.param(f"Content-Length: {2**25}\r\nExpect: 100-continue\r\n", b"", id="withheld"),
        pytest.param(f"Content-Length: {connections.SMALL_BODY + 1}\r\n", b"x" * 9, id="begun"),
        pytest.param(
            "Transfer-Encoding: chunked\r\n",
            b"%x\r\n" % 10**6 + b"x" * (connections.SMALL_BODY + 1),
            id="in chunks",
        ),
        pytest.param(f"Cookie: c\r\nContent-Length: {LARGE + 1}\r\n", b"", id="owner"),
    ],
)
def test_a_body_too_large_is_answered_unread_and_the_answer_arrives(
    serving: Serving, headers: str, body: bytes
) -> None:
    ours, theirs = serving.connect()
    ours.sendall(b"POST / HTTP/1.1\r\n" + headers.encode() + b"\r\n" + body)
    answer = serving.answer(ours)

    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert b"Connection: close" in answer
    assert [said.partition(", ")[2] for said in serving.asked] == ["0 read"]
    assert int(serving.asked[0].split()[0]) > connections.SMALL_BODY
    ours.setblocking(True)
    ours.sendall(b"GET /more HTTP/1.1\r\n\r\n")  # the rest of the body: thrown away, not asked
    ours.close()
    serving.until(lambda: not serving.server.connections)
    assert len(serving.asked) == 1
    assert not theirs.connected


def test_a_sender_who_is_gone_before_the_refusal_does_not_end_the_server(serving: Serving) -> None:
    """The loop closes a connection twice that can be read and written when it breaks off."""
    ours, theirs = serving.connect()
    ours.sendall(b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n")
    serving.until(lambda: theirs.latest is not None and theirs.latest.is_refused)
    ours.close()
    theirs.handle_close()
    theirs.will_close = True

    theirs.handle_write()

    assert not serving.server.connections


@pytest.mark.parametrize(
    ("headers", "length"), [("", connections.SMALL_BODY), ("Cookie: c\r\n", LARGE)]
)
def test_a_body_up_to_the_limit_of_its_sender_is_read(
    serving: Serving, headers: str, length: int
) -> None:
    ours, _ = serving.connect()
    ours.sendall(f"POST / HTTP/1.0\r\n{headers}Content-Length: {length}\r\n\r\n".encode())
    ours.setblocking(False)
    left = memoryview(b"x" * length)
    while left:
        try:
            left = left[ours.send(left) :]
        except BlockingIOError:
            wasyncore.loop(timeout=0, use_poll=True, map=serving.sockets, count=1)

    assert serving.answer(ours).endswith(b"ok")
    assert serving.asked == [f"{length} announced, {length} read"]


def test_what_the_server_reads_of_anybody_the_pages_take_from_anybody() -> None:
    assert OF_STRANGERS.body >= connections.SMALL_BODY
