"""One who clicks without pause and knows what was acknowledged, as a browser's outbox does.

A click keeps its id through every attempt; what was not answered, or answered with 408, 429
or 500 and above, is sent again.
"""

from __future__ import annotations

import http.client
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event
from urllib.parse import urlencode

from tests.faults.stored import Place

HEADERS = {
    "Content-Type": "application/x-www-form-urlencoded",
    "HX-Request": "true",
    "HX-Request-Type": "partial",
    "Accept-Language": "en",
}
VERDICTS = ("1", "0", "unsure", "")
AGAIN = (408, 429)
PAUSE = 0.05
PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Click:
    """One verdict on one card, with its place among those of its device."""

    event_id: str
    sequence: int
    place: Place
    relevance: str
    client_time: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a server; ``status`` is 0 if none came."""

    status: int = 0
    text: str = ""
    retry_after: str | None = None

    @property
    def is_part(self) -> bool:
        """Whether it is something that the page would put in its place."""
        return "<hx-partial" in self.text


def _plain(port: int) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)


@dataclass(slots=True)
class Clicker:
    """One device. ``port`` says where the server is just now.

    ``seconds`` are how long each answer took, ``answers`` counts statuses; ``wrong`` are answers
    that no outbox could live with.
    """

    name: str
    run_id: str
    places: Sequence[Place]
    port: Callable[[], int]
    connect: Callable[[int], http.client.HTTPConnection] = field(default=_plain)
    headers: Mapping[str, str] = field(default_factory=lambda: HEADERS)
    number: int = 0
    waiting: list[Click] = field(default_factory=list)
    acknowledged: list[Click] = field(default_factory=list)
    answers: Counter[int] = field(default_factory=Counter)
    refusals: dict[int, Answer] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    longest_wait: float = 0.0
    slowest_answer: float = 0.0
    seconds: list[float] = field(default_factory=list)
    _last: float = field(default_factory=time.monotonic)
    _connection: http.client.HTTPConnection | None = None

    def click_until(self, stopped: Event) -> None:
        """Click until told to stop; what was not answered by then keeps waiting."""
        self._last = time.monotonic()
        while not stopped.is_set():
            if not self.waiting:
                self.waiting.append(self._next())
            if not self.send():
                stopped.wait(PAUSE)
        self._hang_up()

    def drain(self, patience: float = PATIENCE) -> None:
        """Send what waits until it is acknowledged; what is not in time is wrong."""
        deadline = time.monotonic() + patience
        while self.waiting and time.monotonic() < deadline:
            if not self.send():
                time.sleep(PAUSE)
        self._hang_up()
        self.wrong += [f"{click.event_id} was never taken" for click in self.waiting]

    def send(self) -> bool:
        """Send what waits once; return whether all of it was acknowledged."""
        for click in list(self.waiting):
            self._hear(click, self._ask(click))
        return not self.waiting

    def last_verdicts(self) -> dict[Place, str | None]:
        """Return the last verdict on each card, by the device's own count."""
        ordered = sorted(self.acknowledged, key=lambda click: click.sequence)
        return {click.place: click.relevance or None for click in ordered}

    def _next(self) -> Click:
        self.number += 1
        # Seeded by the click itself, so that a repeated fault repeats its clicks.
        chance = random.Random(f"{self.name} {self.number}")
        return Click(
            event_id=f"{self.name}-{self.number}",
            sequence=self.number,
            place=chance.choice(self.places),
            relevance=chance.choice(VERDICTS),
            client_time=int(time.time() * 1000),
        )

    def _hear(self, click: Click, answer: Answer) -> None:
        self.answers[answer.status] += 1
        if answer.status == http.client.OK and answer.is_part:
            now = time.monotonic()
            self.longest_wait = max(self.longest_wait, now - self._last)
            self._last = now
            self.acknowledged.append(click)
            self.waiting.remove(click)
        elif answer.status >= http.client.INTERNAL_SERVER_ERROR or answer.status in AGAIN:
            self.refusals.setdefault(answer.status, answer)
        elif answer.status:
            self.wrong.append(f"{click.event_id}: {answer.status}")
            self.waiting.remove(click)

    def _ask(self, click: Click) -> Answer:
        """Send a click over the connection that is kept; without one, over a new one."""
        if self._connection is None or self._connection.port != self.port():
            self._hang_up()
            self._connection = self.connect(self.port())
        try:
            return self._answer(self._connection, click)
        except (OSError, http.client.HTTPException):
            self._hang_up()
            return Answer()

    def _answer(self, connection: http.client.HTTPConnection, click: Click) -> Answer:
        query_id, rank = click.place
        path = f"/runs/{self.run_id}/queries/{query_id}/results/{rank}/judgment"
        fields = {
            "relevance": click.relevance,
            "event_id": click.event_id,
            "device": self.name,
            "sequence": click.sequence,
            "client_time": click.client_time,
        }
        began = time.monotonic()
        connection.request("POST", path, urlencode(fields), dict(self.headers))
        answer = connection.getresponse()
        text = answer.read().decode()
        self.seconds.append(time.monotonic() - began)
        self.slowest_answer = max(self.slowest_answer, self.seconds[-1])
        return Answer(answer.status, text, answer.headers.get("Retry-After"))

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
