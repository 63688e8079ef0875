"""An application with a small study in which everything occurs, and browsers of all who may come.

What its pages link to and what their forms send is gathered once, so that requests can begin
with what is right.
"""

from __future__ import annotations

import logging
import random
import re
import secrets
import shutil
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import NamedTuple
from unittest import mock
from urllib.parse import urlsplit

from flask.testing import FlaskClient
from sqlalchemy import text
from werkzeug.exceptions import HTTPException
from wtforms import Form

from relevansi.app import create_app
from relevansi.config import JudgeEndpoint, Settings, resource, sqlite_url
from relevansi.db.engine import Database
from relevansi.db.tables.runs import Run
from relevansi.importers.runs import json_runs
from relevansi.services.gold import gold
from relevansi.services.judging import stored_summaries
from relevansi.services.people import passwords
from relevansi.services.study import studies
from relevansi.web.frame.workers import workers
from relevansi.web.rating import clicks
from tests.conftest import NOW, copied
from tests.fuzzing import samples
from tests.page import Page
from tests.services.gold import gold_files
from tests.services.judging import rated_studies
from tests.services.runs.runs import store
from tests.stored_studies import open_study
from tests.web import visitors
from tests.web.phase_3 import participants

ROLES = ("owner", "rater", "participant", "stranger")
NOBODY = "http://127.0.0.1:9"
"""A chatbot and a judge that are never there."""
IDLE_SECONDS = 20
MOST_PAGES = 90
NO_PAGE = re.compile(r"\.|/static|/language|proof-pack")


class Offer(NamedTuple):
    """A link or a form that somebody was shown."""

    role: str
    method: str
    path: str
    fields: tuple[tuple[str, str], ...] = ()
    has_file: bool = False


class Ground:
    """The application, its database as it was at first, and the browsers of each role."""

    def __init__(self, folder: Path) -> None:
        settings = Settings(
            sqlite_url(folder / "web.sqlite"), folder, judge=JudgeEndpoint(NOBODY, "model")
        )
        self.patched = mock.patch.object(passwords, "COST", 2**4)  # slow on purpose, every time
        self.patched.start()
        self.drawn = random.Random()
        self._draw_tokens()
        self.app = create_app(settings)
        self.cookie_name = self.app.config["SESSION_COOKIE_NAME"]
        self.database: Database = self.app.extensions["database"]
        self.errors = _Errors()
        self.app.logger.handlers = [self.errors]
        self.app.logger.propagate = False
        self.rules = sorted(
            self.app.url_map.iter_rules(), key=lambda rule: (rule.rule, rule.endpoint)
        )
        self.cookies = self._fill()
        self.offers = [offer for role in ROLES for offer in _crawled(self.browser(role), role)]
        self.values = [value for offer in self.offers for _, value in offer.fields]
        self.names, self.arguments, self.places = _field_names(), _argument_names(), self._places()
        self.at_first = Path(shutil.copy(self._closed(), folder / "at_first.sqlite"))
        self.clients: dict[str, FlaskClient] = {}

    def close(self) -> None:
        """Let go of the database and of what was put in the place of the product's own."""
        self.database.close()
        mock.patch.stopall()

    def begin(self) -> None:
        """Put everything back as it was at first."""
        self._idle()
        self.drawn.seed(1)
        copied(self.at_first, self.database)
        self._closed()
        copied(self.at_first, self.database)
        self.errors.records.clear()
        self.clients = {role: self.browser(role) for role in ROLES}

    def check(self) -> None:
        """Look at what is stored: it holds together."""
        self._idle()
        with self.database.reading() as session:
            assert session.scalars(text("PRAGMA integrity_check")).all() == ["ok"]
            assert session.execute(text("PRAGMA foreign_key_check")).all() == []
            assert stored_summaries.check(session) == []
        self.raise_logged()

    def raise_logged(self) -> None:
        """Raise the error that was written to the log, if one was."""
        logged, self.errors.records = self.errors.records, []
        for record in logged:
            if record.exc_info and record.exc_info[1]:
                raise record.exc_info[1]
            raise AssertionError(record.getMessage()[:200])

    def browser(self, role: str) -> FlaskClient:
        """Return a fresh browser of somebody with that role."""
        client = visitors.browser(self.app)
        if cookie := self.cookies.get(role):
            client.set_cookie(self.cookie_name, cookie)
        return client

    def _draw_tokens(self) -> None:
        """Let every token be drawn from one seed, so that a found fault can be had again."""
        self.drawn.seed(0)
        drawn = self.drawn.randbytes
        ways = {
            "token_bytes": lambda nbytes=None: drawn(nbytes or 32),
            "token_hex": lambda nbytes=None: drawn(nbytes or 32).hex(),
            "token_urlsafe": lambda nbytes=None: (
                urlsafe_b64encode(drawn(nbytes or 32)).rstrip(b"=").decode()
            ),
        }
        for name, way in ways.items():
            mock.patch.object(secrets, name, way).start()

    def _closed(self) -> Path:
        self.database.close()
        return Path(self.database.description)

    def _idle(self) -> None:
        assert workers(self.app).is_idle(IDLE_SECONDS), "a worker does not come to an end"

    def _fill(self) -> dict[str, str]:
        """Make the study; return the cookie of each role."""
        with open_study(self.database) as (session, study):
            rated_studies.rated_study(session, study)
            owner = studies.raters(session, study)[0]
            for data in (gold_files.v2_file(), samples.run("api_only", "test_results.json")):
                stored = store(session, study, json_runs.read("r.json", data))
                if b"threshold_t" in data:
                    set_id = session.get_one(Run, stored.id).question_set_id
                    gold.import_file(session, owner, set_id, "g", gold_files.gold_bytes(), NOW)
        visitors.lock(self.database)
        clients = {
            "owner": visitors.owner(self.app),
            "rater": visitors.invited(self.app, "Citra"),
            "participant": participants.taking_part(
                self.app, participants.opened(self.database, NOBODY)
            ),
        }
        for kind in ("answers", "chunks", "json-v2"):
            form = {"kind": kind, "file": (BytesIO(samples.FILES[kind][0]), "some.jsonl")}
            clients["owner"].post("/evaluations/", data=form, content_type="multipart/form-data")
        waiting = {"file": (BytesIO(samples.run("hybrid", "results.json")), "waits.json")}
        clients["owner"].post("/runs/import", data=waiting, content_type="multipart/form-data")
        participants.ask(self.app, clients["participant"], "Rumah di Cemara?")
        cookies = {role: client.get_cookie(self.cookie_name) for role, client in clients.items()}
        return {role: cookie.value for role, cookie in cookies.items() if cookie is not None}

    def _places(self) -> dict[str, set[str]]:
        """Return the values that stand in the places of the addresses that pages show."""
        result: dict[str, set[str]] = {}
        adapter = self.app.url_map.bind("localhost")
        for offer in self.offers:
            try:
                _endpoint, values = adapter.match(urlsplit(offer.path).path, method=offer.method)
            except HTTPException:
                continue
            for name, value in values.items():
                result.setdefault(name, set()).add(str(value))
        return result


class _Errors(logging.Handler):
    """A log handler that collects every error of the application."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        self.records.append(record)


def _offers(role: str, path: str, page: Page) -> list[Offer]:
    """Return the links and forms of a page."""
    result = [Offer(role, "GET", link) for link in page.links("a[href^='/']")]
    for form in page.all("form"):
        fields = tuple((field["name"], field.get("value") or "") for field in form.all("[name]"))
        method, action = (form.get("method") or "get").upper(), form.get("action") or path
        result.append(Offer(role, method, action, fields, form.has("[type=file]")))
    return result


def _crawled(client: FlaskClient, role: str) -> Iterator[Offer]:
    """Yield what the pages show to somebody, page by page from the first."""
    waiting, patterns = ["/", "/ask/", "/rate/", "/sign-in"], Counter[str]()
    offers: dict[Offer, None] = {}
    visited: set[str] = set()
    while waiting and len(visited) < MOST_PAGES:
        path = waiting.pop(0)
        pattern = re.sub(r"[0-9a-f]{10,}|\d+", "*", path)
        patterns[pattern] += 1
        if path in visited or patterns[pattern] > 3:
            continue
        visited.add(path)
        answer = client.get(path, follow_redirects=True)
        if answer.mimetype == "text/html":
            result = _offers(role, path, Page(answer))
            offers |= dict.fromkeys(result)
            waiting += [
                offer.path
                for offer in result
                if offer.method == "GET" and not NO_PAGE.search(offer.path)
            ]
    yield from offers


def _field_names() -> list[str]:
    """Return the names of all fields of all forms, those of clicks, and those templates write."""
    result: set[str] = set()
    waiting: list[type[Form]] = [clicks.ClickForm, *Form.__subclasses__()]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        result |= {name for name in dir(kind) if hasattr(getattr(kind, name), "field_class")}
    for path in resource("templates").rglob("*.html"):
        result |= set(re.findall(r'name="([a-z_]+)"', path.read_text("utf-8")))
    return sorted(result)


def _argument_names() -> list[str]:
    """Return the names that are looked for behind the ``?`` of an address."""
    result = set()
    for path in (resource("templates").parent / "webapp" / "relevansi" / "web").rglob("*.py"):
        result |= set(re.findall(r'args(?:\.get|\.getlist)?[(\[]"(\w+)"', path.read_text("utf-8")))
    return sorted(result)
