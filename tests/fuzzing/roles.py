"""Every address with every verb, asked of a running server by each role over HTTP.

Each outcome is held against the table of doors. The inputs are the whole matrix, in an order
drawn from the seed, and then the same once more; ``--only roles`` has time for all of it.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

import httpx
from werkzeug.exceptions import HTTPException

from tests.browser.server import Server
from tests.conftest import NOW
from tests.fuzzing.kinds import Kind, Wrong
from tests.services.judging import rated_studies
from tests.web import visitors
from tests.web.phase_3 import participants
from tests.web.roles import OWN_ANSWER, ROLES, is_open_to, is_refused, knocks
from webapp.app import create_app
from webapp.config import Settings, sqlite_url
from webapp.db.engine import Database
from webapp.services.study import studies
from webapp.web import feature

NOBODY = "http://127.0.0.1:9"
"""A chatbot that is never there."""
VERBS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
NOT_TAKEN = 405
PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Asking:
    """One address, asked for by somebody with one verb."""

    role: str
    method: str
    path: str
    endpoint: str | None
    """Where it leads; ``None`` where the address does not take the verb."""


class Roles(Kind[Asking]):
    """The matrix of roles, addresses and verbs."""

    name = "roles"
    batch = 200

    def open(self, folder: Path) -> None:
        """Start a server with a study, and let everybody in."""
        self.server = Server(folder / "instance")
        self.server.start()
        self.database = Database(sqlite_url(self.server.instance / "relevansi.sqlite"))
        with self.database.writing() as session:
            rated_studies.rated_study(session, studies.open_or_make(session, NOW))
            session.commit()
        visitors.lock(self.database)
        self.client = httpx.Client(base_url=self.server.url, timeout=PATIENCE)
        self.raters = 0
        self.cookies = {role: self._entered(role) for role in ROLES}
        self.matrix = _matrix(folder / "addresses")
        Random(self.seed).shuffle(self.matrix)

    def close(self) -> None:
        """End the server."""
        self.client.close()
        self.database.close()
        self.server.stop()

    def end(self) -> None:
        """See that the log has no fault of ours."""
        if "Traceback (most recent call last):" in self.server.faults():
            raise Wrong(f"log: {self.server.faults()[-1_000:]}")

    def number(self, number: int) -> Asking:
        """Return the place of the matrix with that number."""
        return self.matrix[number % len(self.matrix)]

    def make(self, random: Random) -> Asking:
        """Return any place of the matrix."""
        return random.choice(self.matrix)

    def put(self, given: Asking) -> None:
        """Ask, in a browser that carries the cookie of the role; hold the outcome."""
        status = self._asked(given)
        is_open = given.endpoint is not None and is_open_to(
            given.role, feature.stated(given.endpoint)
        )
        if is_open and status is None:  # the owner may have put this one out meanwhile
            self.cookies[given.role] = self._entered(given.role)
            status = self._asked(given)
        is_right = status != NOT_TAKEN if is_open else status in {None, NOT_TAKEN}
        if not is_right or (status or 0) >= 500:
            raise Wrong(f"door of {given.endpoint}: {status or 'refused'} for {given}")

    def shown(self, given: Asking) -> bytes:
        """Return it as JSON."""
        return json.dumps(asdict(given)).encode()

    def _asked(self, given: Asking) -> int | None:
        """Return the status of the answer; ``None`` for being refused."""
        self.client.cookies.clear()
        headers = {"Cookie": self.cookies[given.role]} if self.cookies[given.role] else {}
        answer = self.client.request(given.method, given.path, headers=headers)
        location = answer.headers.get("Location", "")
        return None if is_refused(answer.status_code, location) else answer.status_code

    def _entered(self, role: str) -> str:
        """Return the cookie of somebody who has just come in; a stranger has none."""
        if role == "stranger":
            return ""
        self.client.cookies.clear()
        if role == "owner":
            link, fields = "/sign-in", {"password": visitors.PASSWORD}
        elif role == "rater":
            self.raters += 1
            link, fields = visitors.invite(self.database, f"Citra {self.raters}"), {}
        else:
            link = participants.opened(self.database, NOBODY)
            page = self.client.get(link).text
            fields = participants.consent_form(page) | {"decision": "yes"}
        answer = self.client.post(link, data=fields)
        if answer.status_code != 303:
            raise Wrong(f"sign-in: {answer.status_code} for a {role}")
        return "; ".join(f"{name}={value}" for name, value in self.client.cookies.items())


def _matrix(folder: Path) -> list[Asking]:
    """Return every role with every address and every verb, by an application of its own."""
    folder.mkdir()
    app = create_app(Settings(sqlite_url(folder / "web.sqlite"), folder))
    adapter = app.url_map.bind("localhost")
    found = []
    for path in sorted({knock.path for knock in knocks(app)}):
        for verb in VERBS:
            endpoint = None
            with suppress(HTTPException):
                endpoint = adapter.match(path, verb)[0]
            if endpoint not in OWN_ANSWER:
                found += [Asking(role, verb, path, endpoint) for role in ROLES]
    app.extensions["database"].close()
    return found
