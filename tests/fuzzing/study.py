"""An application with a small study in which everything occurs, and browsers of all who may come.

What its pages link to and what their forms send is gathered once, so that requests can begin
with what is right.
"""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from flask.testing import FlaskClient
from sqlalchemy import text
from werkzeug.exceptions import HTTPException
from wtforms import Form

from tests.conftest import NOW, copied
from tests.fuzzing import confined, samples
from tests.fuzzing.kinds import Wrong
from tests.services.gold import gold_files
from tests.services.judging import rated_studies
from tests.web import visitors
from tests.web.phase_3 import participants
from webapp.app import create_app
from webapp.config import JudgeEndpoint, Settings, resource, sqlite_url
from webapp.db.engine import Database
from webapp.db.tables.runs import Run
from webapp.importers.runs import json_runs
from webapp.services.gold import gold
from webapp.services.judging import live_metrics
from webapp.services.people import sign_in
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels
from webapp.services.study import studies
from webapp.web.frame.workers import workers
from webapp.web.rating import clicks

ROLES = ("owner", "rater", "participant", "stranger")
NOBODY = "http://127.0.0.1:9"
"""A chatbot and a judge that are never there."""
IDLE_SECONDS = 20
FILES = {
    "answers": samples.answers(),
    "chunks": samples.chunks(),
    "json-v2": samples.json_answers(),
}


@dataclass(frozen=True, slots=True)
class Seen:
    """A link or a form that somebody was shown."""

    role: str
    method: str
    path: str
    fields: tuple[tuple[str, str], ...] = ()
    has_file: bool = False


@dataclass(slots=True)
class Gathered:
    """The requests that can be made: links, forms, and names and values of parts of addresses."""

    seen: list[Seen] = field(default_factory=list)
    places: dict[str, set[str]] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)


class Ground:
    """The application, its database as it was at first, and the browsers of each role."""

    def __init__(self, folder: Path, seed: int, *, most_pages: int) -> None:
        self.seed, self.most_pages = seed, most_pages
        confined.no_network()
        confined.draw_tokens_from(str(seed))
        settings = Settings(
            sqlite_url(folder / "web.sqlite"), folder, judge=JudgeEndpoint(NOBODY, "model")
        )
        sign_in.COST = 2**4  # what takes a tenth of a second by purpose would take it every time
        self.app = create_app(settings)
        self.errors = _Errors()
        self.app.logger.handlers = [self.errors]
        self.app.logger.propagate = False
        self.cookies = self._fill()
        self.gathered = self._gather()
        self.at_first = Path(shutil.copy(self._closed(), folder / "at_first.sqlite"))
        self.clients: dict[str, FlaskClient] = {}

    @property
    def database(self) -> Database:
        """The application's database."""
        found: Database = self.app.extensions["database"]
        return found

    def begin(self) -> None:
        """Put everything back as it was at first."""
        self._idle()
        confined.draw_tokens_from(f"{self.seed}/later")
        copied(self.at_first, self.database)
        self._closed()
        copied(self.at_first, self.database)
        self.errors.records.clear()
        self.clients = {role: self.browser(role) for role in ROLES}

    def check(self) -> None:
        """Look at what is stored; raises ``Wrong`` if it does not hold together."""
        self._idle()
        with self.database.reading() as session:
            damage = [
                *session.scalars(text("PRAGMA integrity_check")),
                *map(str, session.execute(text("PRAGMA foreign_key_check"))),
            ]
            if damage != ["ok"]:
                raise Wrong(f"damaged: {damage[:2]}")
            if wrong := live_metrics.check(session):
                raise Wrong(f"check: {wrong[0]}")
        self.raise_logged()

    def raise_logged(self) -> None:
        """Raise the error that was written to the log, if one was."""
        if not self.errors.records:
            return
        record = self.errors.records[0]
        self.errors.records.clear()
        if record.exc_info and record.exc_info[1]:
            raise record.exc_info[1]
        raise Wrong(f"logged: {record.getMessage()[:200]}")

    def browser(self, role: str) -> FlaskClient:
        """Return a fresh browser of somebody with that role."""
        client = visitors.browser(self.app)
        if cookie := self.cookies.get(role):
            client.set_cookie(self.app.config["SESSION_COOKIE_NAME"], cookie)
        return client

    def _closed(self) -> Path:
        self.database.close()
        return Path(self.database.description)

    def _idle(self) -> None:
        if not workers(self.app).is_idle(IDLE_SECONDS):
            raise Wrong("hang: what works beside the requests does not come to an end")

    def _fill(self) -> dict[str, str]:
        """Make the study; return the cookie of each role."""
        with self.database.writing() as session:
            study = studies.open_or_make(session, NOW)
            rated_studies.rated_study(session, study)
            owner = studies.raters(session, study)[0]
            for data in (gold_files.v2_file(), samples.run("api_only", "test_results.json")):
                stored = imports.store(
                    session, study, json_runs.read("r.json", data), Labels(), NOW
                )
                if b"threshold_t" in data:
                    set_id = session.get_one(Run, stored.id).question_set_id
                    gold.import_file(session, owner, set_id, "g", gold_files.gold_bytes(), NOW)
            session.commit()
        visitors.lock(self.database)
        clients = {
            "owner": visitors.owner(self.app),
            "rater": visitors.invited(self.app, "Citra"),
            "participant": participants.taking_part(
                self.app, participants.opened(self.database, NOBODY)
            ),
        }
        for kind, data in FILES.items():
            form = {"kind": kind, "file": (BytesIO(data), "some.jsonl")}
            clients["owner"].post("/evaluations/", data=form, content_type="multipart/form-data")
        waiting = {"file": (BytesIO(samples.run("hybrid", "results.json")), "waits.json")}
        clients["owner"].post("/runs/import", data=waiting, content_type="multipart/form-data")
        participants.ask(self.app, clients["participant"], "Rumah di Cemara?")
        name = self.app.config["SESSION_COOKIE_NAME"]
        cookies = {role: client.get_cookie(name) for role, client in clients.items()}
        return {role: cookie.value for role, cookie in cookies.items() if cookie is not None}

    def _gather(self) -> Gathered:
        found = Gathered(names=_field_names(), arguments=_argument_names())
        for role in ROLES:
            found.seen.extend(_crawled(self.browser(role), role, self.most_pages))
        adapter = self.app.url_map.bind("localhost")
        for one in found.seen:
            try:
                _endpoint, values = adapter.match(urlsplit(one.path).path, method=one.method)
            except HTTPException:
                continue
            for name, value in values.items():
                found.places.setdefault(name, set()).add(str(value))
        return found


class _Errors(logging.Handler):
    """A log handler that collects every error of the application."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        self.records.append(record)


class _Page(HTMLParser):
    """The links and forms of a page."""

    def __init__(self, role: str, path: str, html: str) -> None:
        super().__init__()
        self.role, self.path = role, path
        self.found: list[Seen] = []
        self.form: dict[str, str | None] | None = None
        self.fields: list[tuple[str, str]] = []
        self.has_file = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a link, a form or a field of one."""
        said = dict(attrs)
        if tag == "a" and (said.get("href") or "").startswith("/"):
            self.found.append(Seen(self.role, "GET", said["href"] or "/"))
        if tag == "form":
            self.form, self.fields, self.has_file = said, [], False
        elif self.form is not None and said.get("name"):
            if said.get("type") == "file":
                self.has_file = True
            self.fields.append((said["name"] or "", said.get("value") or ""))

    def handle_endtag(self, tag: str) -> None:
        """Note a whole form."""
        if tag == "form" and self.form is not None:
            method = (self.form.get("method") or "get").upper()
            path = self.form.get("action") or self.path
            self.found.append(Seen(self.role, method, path, tuple(self.fields), self.has_file))
            self.form = None


def _crawled(client: FlaskClient, role: str, most_pages: int) -> Iterator[Seen]:
    """Yield what the pages show to somebody, page by page from the first."""
    waiting, known, patterns = ["/", "/ask/", "/rate/", "/sign-in"], set[str](), dict[str, int]()
    shown: set[Seen] = set()
    n_pages = 0
    while waiting and n_pages < most_pages:
        path = waiting.pop(0)
        pattern = re.sub(r"[0-9a-f]{10,}|\d+", "*", path)
        patterns[pattern] = patterns.get(pattern, 0) + 1
        if path in known or patterns[pattern] > 3:
            continue
        known.add(path)
        n_pages += 1
        answer = client.get(path, follow_redirects=True)
        if answer.mimetype != "text/html":
            continue
        for one in _Page(role, path, answer.text).found:
            if one not in shown:
                shown.add(one)
                yield one
            is_page = not re.search(r"\.|/static|/language|proof-pack", one.path)
            if one.method == "GET" and is_page:
                waiting.append(one.path)


def _field_names() -> list[str]:
    """Return the names of all fields of all forms, those of clicks, and those templates write."""
    found: set[str] = set()
    waiting: list[type[Form]] = [clicks.ClickForm, *Form.__subclasses__()]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        found |= {name for name in dir(kind) if hasattr(getattr(kind, name), "field_class")}
    for path in resource("templates").rglob("*.html"):
        found |= set(re.findall(r'name="([a-z_]+)"', path.read_text("utf-8")))
    return sorted(found)


def _argument_names() -> list[str]:
    """Return the names that are looked for behind the ``?`` of an address."""
    found = set()
    for path in (resource("templates").parent / "webapp" / "web").glob("*.py"):
        found |= set(re.findall(r'args(?:\.get|\.getlist)?[(\[]"(\w+)"', path.read_text("utf-8")))
    return sorted(found)


def query_of(path: str) -> tuple[str, Sequence[tuple[str, str]]]:
    """Return an address without what stands behind its ``?``, and that."""
    parts = urlsplit(path)
    return parts.path, parse_qsl(parts.query, keep_blank_values=True)
