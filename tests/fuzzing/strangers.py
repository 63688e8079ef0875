"""Attacks of strangers on a running server: on its connections, its memory and its log.

The server is a process of its own, with a password set, so that nobody here is known to it.
Whatever is done, somebody honest is answered meanwhile; afterwards the server holds no more
memory than before, and its log shows no traceback and few lines.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random

from tests.browser.server import Server
from tests.fuzzing import mutations
from tests.fuzzing.kinds import Kind, Wrong
from webapp.cli.frame.connections import HEADER_SECONDS, SMALL_BODY

PATIENCE = 20.0
"""Seconds in which somebody honest is answered, on a machine that does other things too."""
GROWTH = 96 * 2**20
"""Bytes that a server may hold more than before: compiled pages, threads, and full places."""
LOG_LINES = 30
HANDLES = 4_096
MEBIBYTE = 2**20
OPEN = ("/sign-in", "/sign-in/first", "/join/abc", "/take-part/abc", "/language", "/runs/import")
HOSTS = ("", ".", "a..b", "x" * 300, "[::1", "a b", "127.0.0.1:99999999", "\xff", "%00", "a,b")
FORMS = {
    "fields": lambda size: b"a&" * (size // 2),
    "escaped": lambda size: b"a=" + b"%41" * (size // 3),
    "long": lambda size: b"password=" + b"x" * size,
}


@dataclass(frozen=True, slots=True)
class Attack:
    """One thing that a stranger does, so many times at once."""

    way: str
    count: int = 1
    size: int = 0
    path: str = "/sign-in"
    text: str = ""
    """The odd part of the request, one character for each byte."""


class Strangers(Kind[Attack]):
    """Connections, headers, cookies and bodies of somebody the server does not know."""

    name = "strangers"
    batch = 8

    def open(self, folder: Path) -> None:
        """Start a server, and set its password."""
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = HANDLES if most == resource.RLIM_INFINITY else min(HANDLES, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
        self.places = wanted
        self.server = Server(folder / "instance")
        self.server.start()
        with suppress(OSError):  # where it leads is a page of the owner's
            self.server.post("/sign-in/first", {"password": "p" * 10, "again": "p" * 10})
        for path in OPEN:  # so that pages are compiled
            self._ask(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n")

    def close(self) -> None:
        """End the server."""
        self.server.stop()

    def begin(self) -> None:
        """Start the server again, if it ended."""
        assert self.server.process is not None
        if self.server.process.poll() is not None:
            self.server.stop()
            self.server.start()
        self.before, self.lines = self._held(), len(self.server.faults().splitlines())

    def end(self) -> None:
        """See what stays in memory and in the log."""
        if (more := self._held() - self.before) > GROWTH:
            raise Wrong(f"memory: {more // MEBIBYTE} MB stay")
        said = self.server.faults().splitlines()[self.lines :]
        if "Traceback (most recent call last):" in said or len(said) > LOG_LINES:
            raise Wrong(f"log: {len(said)} lines, such as {said[0][:100]}")

    def make(self, random: Random) -> Attack:
        """Return something that a stranger may do."""
        way = random.choice((*WAYS, "headers", "hosts", "cookies"))  # those take no time
        path = random.choice(OPEN)
        if way in {"half", "dripping"}:
            return Attack(way, random.choice((50, 500, 1_050)), path=path)
        if way in {"withheld", "chunks"}:
            return Attack(
                way, random.randint(1, 12), random.choice((SMALL_BODY, 31 * MEBIBYTE)), path
            )
        if way == "forms":
            kind, size = random.choice(sorted(FORMS)), random.choice((SMALL_BODY, 4 * MEBIBYTE))
            return Attack(way, random.randint(1, 8), size, path, kind)
        if way == "handles":
            return Attack(way, random.randint(50, 150))
        text = random.choice(HOSTS) if way == "hosts" and random.random() < 0.5 else ""
        text = text or mutations.text(random)[: random.choice((100, 20_000))]
        return Attack(way, path=path, text=text.encode(errors="replace").decode("latin-1"))

    def put(self, given: Attack) -> None:
        """Do it; see that somebody honest is answered meanwhile, and that memory stays."""
        with ExitStack() as opened:
            WAYS[given.way](self, given, opened)
            self._answers_the_honest(given)
            if (more := self._held() - self.before) > GROWTH:
                raise Wrong(f"memory: {more // MEBIBYTE} MB while {given.way} is done")

    def smaller(self, given: Attack) -> Iterator[Attack]:
        """Yield it done fewer times, with less text."""
        if given.count > 1:
            yield replace(given, count=given.count // 2)
        if given.text and given.way != "forms":
            yield replace(given, text=given.text[: len(given.text) // 2])

    def shown(self, given: Attack) -> bytes:
        """Return it as JSON."""
        return json.dumps(asdict(given)).encode()

    def connected(self, opened: ExitStack) -> socket.socket:
        """Return a connection, open until `opened` ends."""
        made = socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE)
        return opened.enter_context(made)

    def is_answered(self, asking: socket.socket, *, wanted: tuple[int, ...] = ()) -> None:
        """See that an answer comes, of one of the `wanted` states, and no fault of ours."""
        found = b""
        with suppress(ConnectionError):
            while b"\r\n" not in found and (data := asking.recv(65536)):
                found += data
        status = found[9:12]
        if not status.isdigit():
            raise Wrong(f"unanswered: {found[:60]!r}")
        if int(status) >= 500 or (wanted and int(status) not in wanted):
            raise Wrong(f"status: {found.partition(bytes([13]))[0][:60]!r}")

    def _answers_the_honest(self, given: Attack) -> None:
        began = time.monotonic()
        answer = self._ask(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        if not answer.startswith(b"HTTP/1.1 200"):
            raise Wrong(f"silenced: {answer[:60]!r} while {given.way} is done")
        if time.monotonic() - began > PATIENCE:
            raise Wrong(f"slow: {time.monotonic() - began:.0f} s while {given.way} is done")

    def _ask(self, head: bytes) -> bytes:
        with ExitStack() as opened:
            asking = self.connected(opened)
            with suppress(OSError):
                asking.sendall(head + b"Connection: close\r\n\r\n")
                return asking.makefile("rb").read()
        return b""

    def _held(self) -> int:
        """Return the bytes that the server holds in memory and in files without a name."""
        process = self._process()
        pages = int((process / "statm").read_text("ascii").split()[1])
        held = pages * resource.getpagesize()
        for handle in (process / "fd").iterdir():
            with suppress(OSError):
                is_nameless = str(handle.readlink()).endswith("(deleted)")
                held += handle.stat().st_size if is_nameless else 0
        return held

    def _process(self) -> Path:
        assert self.server.process is not None
        return Path("/proc", str(self.server.process.pid))

    # The ways, by name below.

    def half(self, given: Attack, opened: ExitStack) -> None:
        """Begin requests and say no more."""
        for _ in range(min(given.count, self.places - 100)):
            with suppress(OSError):
                self.connected(opened).sendall(f"POST {given.path} HTTP/1.1\r\nHost: h".encode())

    def dripping(self, given: Attack, opened: ExitStack) -> None:
        """Send headers byte by byte, for longer than there is time for them."""
        dripping = []
        for _ in range(min(given.count, self.places - 100)):
            with suppress(OSError):
                dripping.append(self.connected(opened))
        until = time.monotonic() + HEADER_SECONDS + 3
        while time.monotonic() < until:
            for one in dripping:
                with suppress(OSError):
                    one.send(b"G")
            time.sleep(0.5)
        for one in dripping:
            one.settimeout(PATIENCE)
            with suppress(ConnectionError):
                if one.recv(1):
                    raise Wrong("dripping: it was answered")

    def withheld(self, given: Attack, opened: ExitStack) -> None:
        """Announce files, send what is taken and keep the last byte."""
        for _ in range(given.count):
            asking = self.connected(opened)
            asking.settimeout(0.5)
            head = (
                f"POST {given.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {given.size}\r\n"
            )
            head += "Content-Type: multipart/form-data; boundary=cut\r\n\r\n"
            with suppress(OSError):
                asking.sendall(head.encode() + b"x" * (given.size - 1))

    def chunks(self, given: Attack, opened: ExitStack) -> None:
        """Send a body in chunks that nobody announced the size of."""
        head = (
            f"POST {given.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        for _ in range(given.count):
            asking = self.connected(opened)
            asking.settimeout(0.5)
            with suppress(OSError):
                asking.sendall(head.encode())
                asking.sendall(b"%x\r\n" % given.size + b"x" * (given.size - 1))

    def forms(self, given: Attack, opened: ExitStack) -> None:
        """Send forms that take a multiple of their length once they are read."""
        body = FORMS[given.text](given.size)
        asking = [self.connected(opened) for _ in range(given.count)]
        for one in asking:
            head = f"POST {given.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            head += "Content-Type: application/x-www-form-urlencoded\r\n"
            with suppress(ConnectionError):
                one.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        for one in asking:
            self.is_answered(one)

    def handles(self, given: Attack, opened: ExitStack) -> None:
        """Open more connections than the server has file handles left."""
        process = self._process()
        most = len(list((process / "fd").iterdir())) + 20
        pid = int(process.name)
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        opened.callback(resource.prlimit, pid, resource.RLIMIT_NOFILE, before)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, before[1]))
        for _ in range(given.count):
            self.connected(opened)
        began = _seconds_worked(process)
        time.sleep(2)
        if (worked := _seconds_worked(process) - began) > 1:
            raise Wrong(f"spinning: {worked:.1f} s of 2 without a file handle")

    def headers(self, given: Attack, opened: ExitStack) -> None:
        """Send a header of any bytes."""
        self._send(given, opened, b"Host: 127.0.0.1\r\nX-Odd: %s\r\n")

    def hosts(self, given: Attack, opened: ExitStack) -> None:
        """Name another host, or none."""
        self._send(given, opened, b"Host: %s\r\n")

    def cookies(self, given: Attack, opened: ExitStack) -> None:
        """Bring a cookie that nobody gave."""
        self._send(given, opened, b"Host: 127.0.0.1\r\nCookie: relevansi-00000000=%s\r\n")

    def _send(self, given: Attack, opened: ExitStack, headers: bytes) -> None:
        asking = self.connected(opened)
        said = headers % given.text.encode("latin-1")
        with suppress(ConnectionError):
            asking.sendall(f"GET {given.path} HTTP/1.1\r\n".encode() + said)
            asking.sendall(b"Connection: close\r\n\r\n")
        if len(said) < 16 * 2**10:
            self.is_answered(asking)


WAYS: Mapping[str, Callable[[Strangers, Attack, ExitStack], None]] = {
    "half": Strangers.half,
    "dripping": Strangers.dripping,
    "withheld": Strangers.withheld,
    "chunks": Strangers.chunks,
    "forms": Strangers.forms,
    "handles": Strangers.handles,
    "headers": Strangers.headers,
    "hosts": Strangers.hosts,
    "cookies": Strangers.cookies,
}


def _seconds_worked(process: Path) -> float:
    """Return the seconds of processor time that a process has had."""
    said = (process / "stat").read_text("ascii").rpartition(")")[2].split()
    return (int(said[11]) + int(said[12])) / os.sysconf("SC_CLK_TCK")
