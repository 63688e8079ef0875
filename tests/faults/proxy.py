"""A network that loses, repeats, delays and reorders: a small proxy on loopback.

Each request has a connection of its own, since what is lost is a whole one: before the server
heard of it, or after it has answered.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread

LOST_BEFORE, LOST_AFTER = "lost before the server", "lost after the server"
REPEATED, DELAYED = "repeated", "delayed"
LONGEST_DELAY = 0.4


@dataclass(frozen=True, slots=True)
class Odds:
    """How likely it is that a request meets each of these."""

    lost_before: float = 0.12
    lost_after: float = 0.12
    repeated: float = 0.15
    delayed: float = 0.5


@dataclass(slots=True)
class Proxy:
    """The proxy in front of the server on `server_port`; `done` counts its faults."""

    server_port: int
    odds: Odds = field(default_factory=Odds)
    seed: int = 1
    port: int = 0
    done: Counter[str] = field(default_factory=Counter)
    _chance: random.Random = field(init=False)
    _late: set[asyncio.Task[bytes]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Let everything through it meanwhile; what is repeated late still arrives."""
        ready, stop = Event(), asyncio.Event()
        loop = asyncio.new_event_loop()
        thread = Thread(target=loop.run_until_complete, args=(self._serve(ready, stop),))
        thread.start()
        ready.wait(10)
        try:
            yield
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join()
            loop.close()

    async def _serve(self, ready: Event, stop: asyncio.Event) -> None:
        server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await stop.wait()
        server.close()
        if self._late:
            await asyncio.wait(self._late)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take one request and let happen to it what chance has for it."""
        with suppress(OSError, asyncio.IncompleteReadError):
            request = await _request(reader)
            if (answer := await self._carry(request)) is not None:
                writer.write(answer)
                await writer.drain()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    async def _carry(self, request: bytes) -> bytes | None:
        """Return the server's answer, or nothing where the request or the answer is lost.

        A request for a page always goes through: its reader would press a key to ask again.
        """
        if not request.startswith(b"POST"):
            return await self._ask(request)
        self.done["requests"] += 1
        if self._happens(self.odds.lost_before, LOST_BEFORE):
            return None
        if self._happens(self.odds.repeated, REPEATED):
            again = asyncio.ensure_future(self._late_one(request))
            self._late.add(again)
            again.add_done_callback(self._late.discard)
        if self._happens(self.odds.delayed, DELAYED):
            await asyncio.sleep(self._chance.uniform(0, LONGEST_DELAY))
        answer = await self._ask(request)
        return None if self._happens(self.odds.lost_after, LOST_AFTER) else answer

    async def _late_one(self, request: bytes) -> bytes:
        """Send a request once more, when others have overtaken it."""
        await asyncio.sleep(self._chance.uniform(0, 2 * LONGEST_DELAY))
        with suppress(OSError):
            return await self._ask(request)
        return b""

    async def _ask(self, request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server_port)
        writer.write(request)
        answer = await reader.read()
        writer.close()
        return answer

    def _happens(self, odds: float, name: str) -> bool:
        happens = self._chance.random() < odds
        self.done[name] += happens
        return happens


async def _request(reader: asyncio.StreamReader) -> bytes:
    """Return a whole request that asks for its connection to be closed after the answer."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = [
        line for line in head.split(b"\r\n")[:-2] if not line.lower().startswith(b"connection:")
    ]
    length = next(
        (int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length:")),
        0,
    )
    body = await reader.readexactly(length)
    return b"\r\n".join([*lines, b"Connection: close", b"", b""]) + body
