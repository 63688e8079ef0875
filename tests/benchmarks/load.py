"""The load: browsers that click one after the other, in a process of their own.

Every client keeps one connection open and sends its next request when the last is answered
(after a pause, where one is asked for). Contestants take turns round by round, so that what
disturbs the machine disturbs all of them. A plan comes in as JSON and the times go out as
JSON: ``python -m tests.benchmarks.load``.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import secrets
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter, time
from urllib.parse import urlencode

from tests.browser.server import PASSED_ON, Server

ROOT = Path(__file__).parents[2]
PACKAGES = os.pathsep.join((str(ROOT), str(ROOT / "webapp")))
HEADERS = (
    "Host: 127.0.0.1:{port}\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.0.0 Safari/537.36\r\n"
    "Accept: */*\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: id-ID,id;q=0.9\r\n"
    "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n"
    "Connection: keep-alive\r\n{identity}"
)
PART = "HX-Request: true\r\nHX-Request-Type: partial\r\n"
FORM = "Content-Type: application/x-www-form-urlencoded;charset=UTF-8\r\n"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a client clicks: an address, and the fields that are the same at every click."""

    path: str
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Client:
    """One browser with its cookie; it clicks at its places in turn, each time otherwise.

    ``page`` is what it opens before a round begins; that is not measured. A program has a
    ``token`` in place of the cookie.
    """

    places: Sequence[Place]
    cookie: str = ""
    page: str = ""
    token: str = ""


@dataclass(frozen=True, slots=True)
class Contestant:
    """Somebody whose server is asked: `clients` at once, each so many `requests` a round.

    ``method`` "GET" asks for pages, "POST" clicks. A round ends after `seconds` at the latest.
    ``pause`` is how long a client waits between an answer and the next click, on average.
    """

    name: str
    port: int
    clients: Sequence[Client] = ()
    method: str = "POST"
    requests: int = 100
    seconds: float = 10
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The measurements of a contestant: times in milliseconds, and the seconds of all rounds."""

    milliseconds: Sequence[float]
    seconds: float

    @property
    def per_second(self) -> float:
        """Answers in a second, all clients together."""
        return len(self.milliseconds) / self.seconds


class Refused(Exception):
    """A server did not answer as it must while it was measured."""


def take_turns(contestants: Sequence[Contestant], rounds: int) -> list[Outcome]:
    """Return what came of each contestant after so many rounds."""
    plan = {"rounds": rounds, "contestants": [asdict(contestant) for contestant in contestants]}
    process = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.load"],
        input=json.dumps(plan),
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    if process.returncode:
        raise Refused(process.stderr)
    return [Outcome(**load) for load in json.loads(process.stdout)]


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


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished process: its time, the most memory that it held, and the processor's seconds."""

    seconds: float
    megabytes: float
    processor: float


def python(*arguments: str | Path, instance: Path | None = None) -> Ran:
    """Return what ``python ARGUMENTS`` took, its database in the folder `instance`.

    Raises ``Refused`` if it fails.
    """
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    environment |= {"RELEVANSI_INSTANCE": str(instance)} if instance else {}
    process = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.stopwatch", sys.executable, *map(str, arguments)],
        env=environment | {"PYTHONPATH": PACKAGES, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    code, *measured = json.loads(process.stdout)
    if code:
        raise Refused(process.stderr)
    return Ran(*measured)


class _Browser:
    """A client at work."""

    def __init__(self, contestant: Contestant, client: Client, number: int) -> None:
        self.contestant, self.client = contestant, client
        self.device = f"bench-{secrets.token_hex(6)}"
        self.clicks = 0
        self._chance = random.Random(number)
        identity = f"Cookie: {client.cookie}\r\n" if client.cookie else ""
        identity += f"Authorization: Bearer {client.token}\r\n" if client.token else ""
        self._headers = HEADERS.format(port=contestant.port, identity=identity)

    async def open(self) -> None:
        """Connect for a round, and open the page."""
        self._streams = await self._connect()
        if self.client.page:
            reader, writer = self._streams
            writer.write(self._get(self.client.page))
            await self._answer(reader)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.contestant.port)

    async def work(self, times: list[float]) -> None:
        """Send this round's requests, adding to their `times`."""
        contestant = self.contestant
        ends = perf_counter() + contestant.seconds
        for _ in range(contestant.requests):
            if contestant.pause:  # nobody clicks in step with others
                await asyncio.sleep(self._chance.uniform(0, 2 * contestant.pause))
            reader, writer = self._streams
            if reader.at_eof():  # the server ends a connection that was idle for long
                writer.close()
                reader, writer = self._streams = await self._connect()
            again, at = divmod(self.clicks, len(self.client.places))
            self.clicks += 1
            place = self.client.places[at]
            request = (
                self._get(place.path) if contestant.method == "GET" else self._click(place, again)
            )
            began = perf_counter()
            writer.write(request)
            await self._answer(reader)
            times.append((perf_counter() - began) * 1000)
            if perf_counter() > ends:
                break
        writer.close()
        await writer.wait_closed()

    def _get(self, path: str) -> bytes:
        return f"GET {path} HTTP/1.1\r\n{self._headers}\r\n".encode()

    def _click(self, place: Place, again: int) -> bytes:
        """Return a click, at every round through the places with the other verdict."""
        fields = {
            "relevance": str((again + 1) % 2),
            **place.fields,
            "event_id": f"{self.device}-{self.clicks}",
            "client_time": int(time() * 1000),
            "device": self.device,
            "sequence": self.clicks,
        }
        body = urlencode(fields)
        head = f"POST {place.path} HTTP/1.1\r\n{self._headers}{PART}{FORM}"
        head += f"Content-Length: {len(body)}"
        return f"{head}\r\n\r\n{body}".encode()

    async def _answer(self, reader: asyncio.StreamReader) -> None:
        """Read an answer, which must be a success."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length:")[2].partition("\r\n")[0])
        body = await reader.readexactly(length)
        if " 200 " not in head.partition("\r\n")[0]:
            raise Refused(f"{self.contestant.name}: {head}{body[:500]!r}")


async def _rounds(contestants: Sequence[Contestant], rounds: int) -> list[Outcome]:
    browsers = [
        [_Browser(contestant, client, number) for number, client in enumerate(contestant.clients)]
        for contestant in contestants
    ]
    times: list[list[float]] = [[] for _ in contestants]
    seconds = [0.0 for _ in contestants]
    for _ in range(rounds):
        for place in range(len(contestants)):
            await asyncio.gather(*(each.open() for each in browsers[place]))
            began = perf_counter()
            await asyncio.gather(*(each.work(times[place]) for each in browsers[place]))
            seconds[place] += perf_counter() - began
    return [Outcome(*result) for result in zip(times, seconds, strict=True)]


def _contestant(fields: dict[str, object]) -> Contestant:
    """Return a contestant out of its JSON."""
    clients = [
        Client(**client | {"places": [Place(**place) for place in client["places"]]})
        for client in fields.pop("clients")  # type: ignore[attr-defined]
    ]
    return Contestant(clients=clients, **fields)  # type: ignore[arg-type]


def main() -> None:
    """Read a plan, carry it out, print what came of it."""
    plan = json.load(sys.stdin)
    contestants = [_contestant(contestant) for contestant in plan["contestants"]]
    process = asyncio.run(_rounds(contestants, plan["rounds"]))
    json.dump([asdict(outcome) for outcome in process], sys.stdout)


if __name__ == "__main__":
    main()
