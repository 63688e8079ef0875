"""The server's connections: how long each may take, how much it may send, how many there are.

Waitress closes a connection that is silent, reads every body up to one limit before the
application is asked, and stops accepting when its places are taken. Here the headers and the body
have deadlines that a slow sender does not put off, the limit of a body depends on who sends it,
and when the places are taken one connection makes room. A plain `relevansi serve` so stays
reachable while one machine or a few hold all the connections they can; for more a proxy is meant
(docs/operations.md).
"""

from __future__ import annotations

import copy
import errno
import logging
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, MutableSequence
from contextlib import suppress
from ipaddress import IPv6Address, ip_address, ip_network
from math import inf
from typing import TYPE_CHECKING, Any

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import TcpWSGIServer
from waitress.utilities import RequestEntityTooLarge

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

    from waitress.adjustments import Adjustments

HEADER_SECONDS = 10
"""Seconds in which a new connection must send its headers, as must each later request."""
BODY_SECONDS = 30
"""A body may take so many seconds ..."""
BODY_RATE = 2 * 2**10
"""... and one more for each so many bytes that have arrived."""
SMALL_BODY = 64 * 2**10
"""Bytes that anybody may send, before it is known who sends them."""
LINGER_SECONDS = 30
"""The rest of a refused request is thrown away for so long, so that the answer is read."""
REST_SECONDS = 0.5
LEFT_SECONDS, MOST_LEFT = 0.001, 5
"""How long, and how often, a process leaves a new connection to a process that has fewer."""
SELDOM_SECONDS = 60
HANDLES_BESIDE = 200
"""File handles for the database, bodies on disk, files that are sent and calls to others."""
LEAST_PLACES = 8
SPARE_PLACES = 8
"""Waitress counts its own two sockets, and stops accepting only when nobody can make room."""
OUT_OF_HANDLES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}

Clock = Callable[[], float]


class ArrivingRequest(HTTPRequestParser):
    """A request that is arriving, with its deadline and the limit of its body."""

    is_refused = False
    """Whether it is malformed or too large, so that the rest of it is not read."""

    def __init__(self, adj: Adjustments, server: Server, address: str) -> None:
        super().__init__(adj)
        self._server = server
        self._address = address
        self.began = server.clock()
        self._headed = self.began

    @property
    def deadline(self) -> float:
        """The time at which it has taken too long."""
        if not self.headers_finished:
            return self.began + HEADER_SECONDS
        return self._headed + BODY_SECONDS + self.body_bytes_received / BODY_RATE

    def received(self, data: bytes) -> int:
        """Take `data` in and return how much of it is this request's; all if it is refused."""
        consumed = super().received(data)
        if self.error is None:
            return consumed
        self.is_refused = True
        if isinstance(self.error, RequestEntityTooLarge):
            self._leave_refusal()
        return len(data)

    def parse_header(self, header_plus: bytes) -> None:
        """Read the headers, and what the body's limit is if it may be a large one."""
        super().parse_header(header_plus)
        self._headed = self._server.clock()
        if self.chunked or self.content_length > SMALL_BODY:
            largest = max(SMALL_BODY, self._server.largest_body(self._environ()))
            self.adj = copy.copy(self.adj)
            self.adj.max_request_body_size = largest + 1

    def _environ(self) -> dict[str, str]:
        """Return the headers as the application gets them."""
        said = {f"HTTP_{name}": value for name, value in self.headers.items()}
        said["CONTENT_TYPE"] = self.headers.get("CONTENT_TYPE", "")
        return {**said, "REMOTE_ADDR": self._address}

    def _leave_refusal(self) -> None:
        """Leave the refusal of a body to the application, which knows the sender's language.

        The application gets the length and nothing to read.
        """
        self.error, self.expect_continue = None, False
        self.close()
        self.body_rcv = None
        length = str(max(self.content_length, self.body_bytes_received))
        self.headers = {**self.headers, "CONTENT_LENGTH": length, "CONNECTION": "close"}


class Connection(HTTPChannel):
    """One connection, which is closed when it takes too long or another needs its place."""

    server: Server
    latest: ArrivingRequest | None = None
    _lingers_until: float | None = None

    def __init__(
        self,
        server: Server,
        sock: socket.socket,
        addr: Any,
        adj: Adjustments,
        map: Mapping[int, Any] | None = None,  # noqa: A002 - as waitress calls it
    ) -> None:
        super().__init__(server, sock, addr, adj, map)
        self.network = network(addr[0])
        self.made = server.clock()
        if len(server.connections) > server.places:
            server.make_room()

    def parser_class(self, adj: Adjustments) -> HTTPRequestParser:  # type: ignore[override]
        """Return the parser of the next request, whose first byte is here."""
        self.latest = ArrivingRequest(adj, self.server, self.addr[0])
        return self.latest

    @property
    def waits_since(self) -> float:
        """When its latest request began, or it was made if none has."""
        return self.made if self.latest is None else self.latest.began

    @property
    def brings_body(self) -> bool:
        """Whether the headers of a request are here and its body is still arriving."""
        return (
            self.latest is not None and self.latest.headers_finished and not self.latest.completed
        )

    @property
    def deadline(self) -> float:
        """The time at which it has taken too long; without end while it is idle."""
        if self._lingers_until is not None:
            return self._lingers_until
        if self.latest is None:
            return self.made + HEADER_SECONDS
        return inf if self.latest.completed else self.latest.deadline

    def is_late(self) -> bool:
        """Whether the sender, and not the server, has taken too long."""
        is_at_work = self.requests or self.total_outbufs_len
        return not is_at_work and self.server.clock() > self.deadline

    def readable(self) -> bool:
        """Whether more may come; asked at least once a second.

        Waitress would wait to close until it could write, which a sender that reads nothing
        never lets it.
        """
        if self.will_close or self.is_late():
            self.handle_close()
            return False
        return super().readable()

    def handle_read(self) -> None:
        """Take in what came, or throw the rest of a refused request away."""
        if self._lingers_until is None:
            super().handle_read()
            return
        try:
            self.recv(self.adj.recv_bytes)
        except OSError:
            self.handle_close()

    def handle_close(self) -> None:
        """Close the connection.

        After a refused request it stays open until its sender has closed it: a sender that is cut
        off before does not read the answer.
        """
        is_refused = self.latest is not None and self.latest.is_refused
        if self.will_close and is_refused and self._lingers_until is None and self._ends_answer():
            self.will_close = False
            self._lingers_until = self.server.clock() + LINGER_SECONDS
            return
        super().handle_close()

    def _ends_answer(self) -> bool:
        """Send the sender the end of the stream; false if the connection is gone."""
        if self.socket is None:
            return False
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            return False
        return True


class Server(TcpWSGIServer):
    """Waitress's server for one address, with our connections and `places` for them.

    ``largest_body`` returns, from a request's headers, how large a body is read. ``held`` has the
    number of open connections of each process that answers there, this one's at ``number``.
    """

    channel_class = Connection

    def __init__(
        self,
        application: WSGIApplication,
        listener: socket.socket,
        sockets: dict[int, Any],
        *,
        places: int,
        largest_body: Callable[[Mapping[str, str]], int],
        held: MutableSequence[int],
        number: int = 0,
        clock: Clock = time.monotonic,
        **adjustments: Any,
    ) -> None:
        self.places = places
        self.largest_body = largest_body
        self.held, self.number = held, number
        self.clock = clock
        self._rests_until = -inf
        self._left = 0
        super().__init__(
            application,
            sockets,
            _sock=listener,  # bound already, as `create_server(sockets=[...])` hands it on
            bind_socket=False,
            sockinfo=(listener.family, listener.type, listener.proto, listener.getsockname()),
            connection_limit=places + SPARE_PLACES,
            max_request_body_size=SMALL_BODY + 1,
            **adjustments,
        )

    @property
    def connections(self) -> dict[int, Connection]:
        """The open connections, by file handle."""
        return self.active_channels  # type: ignore[return-value]

    def readable(self) -> bool:
        """Whether somebody may come in."""
        self.held[self.number] = len(self.connections)
        return super().readable() and self.clock() >= self._rests_until

    def accept(self) -> tuple[socket.socket, Any] | None:
        """Return a new connection; where file handles have run out, another connection is closed.

        A process leaves a new connection for a moment to a process that has fewer of them.
        """
        if self.held[self.number] > min(self.held) and self._left < MOST_LEFT:
            self._left += 1
            time.sleep(LEFT_SECONDS)
            return None
        self._left = 0
        try:
            return super().accept()
        except OSError as failure:
            if failure.errno not in OUT_OF_HANDLES:
                raise
            self.logger.warning("No connection can be accepted: %s", failure.strerror)
            if not self.make_room():
                self._rests_until = self.clock() + REST_SECONDS
            return None

    def make_room(self) -> bool:
        """Close the connection that has waited longest, of the network that has the most.

        So no network loses a connection to one that holds more. A connection whose request is being
        answered is never closed, and one that has sent a part of its request is closed after those
        that have sent nothing. Returns whether a connection was closed.
        """
        waiting = [one for one in self.connections.values() if not one.requests]
        held = Counter(one.network for one in waiting)
        most = max(held.values(), default=0)
        theirs = [one for one in waiting if held[one.network] == most]
        if not theirs:
            return False
        min(
            theirs, key=lambda one: (bool(one.total_outbufs_len), one.brings_body, one.waits_since)
        ).handle_close()
        return True


class Seldom(logging.Filter):
    """Lets the same warning through once a minute."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._next: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is to be written."""
        now = self._clock()
        if record.levelno != logging.WARNING or now >= self._next.get(record.msg, -inf):
            self._next[record.msg] = now + SELDOM_SECONDS
            return True
        return False


def network(address: str) -> str:
    """Return the network of an address: itself, or the /64 that one IPv6 customer has.

    >>> network("192.0.2.7"), network("2001:db8::1:2")
    ('192.0.2.7', '2001:db8::/64')
    """
    with suppress(ValueError):
        found = ip_address(address.partition("%")[0])
        if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
            return str(ip_network((found, 64), strict=False))
    return address


def places(wanted: int) -> int:
    """Return for how many connections this process has file handles, at most `wanted`.

    The limit on handles is raised as far as the system lets it.
    """
    if sys.platform == "win32":
        return wanted
    import resource

    needed = wanted + HANDLES_BESIDE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed:
        raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            soft = raised
    return fitting(wanted, needed if soft == resource.RLIM_INFINITY else soft)


def fitting(wanted: int, handles: int) -> int:
    """Return how many connections leave the application enough of so many `handles`.

    >>> fitting(1000, 4096), fitting(1000, 1024), fitting(1000, 64)
    (1000, 824, 32)
    """
    beside = min(HANDLES_BESIDE, handles // 2)
    return max(LEAST_PLACES, min(wanted, handles - beside))
