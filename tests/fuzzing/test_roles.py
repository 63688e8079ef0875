"""Every address with every verb, asked of a running server by each role over HTTP.

Each outcome is held against the table of doors.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest
from werkzeug.exceptions import HTTPException

from relevansi.app import create_app
from relevansi.config import Settings, sqlite_url
from relevansi.db.engine import Database
from relevansi.services.study import studies
from relevansi.web.features import role_for
from tests.browser.server import Server
from tests.conftest import NOW
from tests.page import Page
from tests.services.judging import rated_studies
from tests.web import visitors
from tests.web.phase_3 import participants
from tests.web.roles import OWN_ANSWER, ROLES, is_open_to, is_refused, knocks

NOBODY = "http://127.0.0.1:9"
"""A chatbot that is never there."""
VERBS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
NOT_TAKEN = 405


@pytest.mark.parametrize("role", ROLES)
def test_a_role_is_let_in_where_the_table_says_so(tmp_path: Path, role: str) -> None:
    server = Server(tmp_path / "instance")
    server.start()
    database = Database(sqlite_url(server.instance / "relevansi.sqlite"))
    client = httpx.Client(base_url=server.url, timeout=60)
    try:
        with database.writing() as session:
            rated_studies.rated_study(session, studies.open_or_make(session, NOW))
            session.commit()
        visitors.lock(database)
        cookie = _entered(client, database, role, 0)
        for number, (path, verb, endpoint) in enumerate(_addresses(tmp_path)):
            is_open = endpoint is not None and is_open_to(role, role_for(endpoint))
            status = _status(client, cookie, verb, path)
            if is_open and status is None:  # the owner may have put this one out meanwhile
                cookie = _entered(client, database, role, number + 1)
                status = _status(client, cookie, verb, path)
            if is_open:
                assert status not in {None, NOT_TAKEN}, (verb, path)
            else:
                assert status in {None, NOT_TAKEN}, (verb, path)
            assert (status or 0) < 500, (verb, path)
    finally:
        client.close()
        database.close()
        server.stop()
    assert "Traceback (most recent call last):" not in server.faults()


def _status(client: httpx.Client, cookie: str, verb: str, path: str) -> int | None:
    """Return the status of the answer; ``None`` for being refused."""
    client.cookies.clear()
    answer = client.request(verb, path, headers={"Cookie": cookie} if cookie else {})
    location = answer.headers.get("Location", "")
    return None if is_refused(answer.status_code, location) else answer.status_code


def _entered(client: httpx.Client, database: Database, role: str, number: int) -> str:
    """Return the cookie of somebody who has just come in; a stranger has none."""
    if role == "stranger":
        return ""
    client.cookies.clear()
    fields: dict[str, str] = {}
    if role == "owner":
        link, fields = "/sign-in", {"password": visitors.PASSWORD}
    elif role == "rater":
        link = visitors.invite(database, f"Citra {number}")
    else:
        link = participants.opened(database, NOBODY)
        fields = participants.consent_form(Page(client.get(link).text))
    assert client.post(link, data=fields).status_code == 303
    return "; ".join(f"{name}={value}" for name, value in client.cookies.items())


def _addresses(folder: Path) -> Iterator[tuple[str, str, str | None]]:
    """Yield every address with every verb, and where it leads if it takes the verb."""
    app = create_app(Settings(sqlite_url(folder / "web.sqlite"), folder))
    adapter = app.url_map.bind("localhost")
    with closing(app.extensions["database"]):
        for path in sorted({knock.path for knock in knocks(app)}):
            for verb in VERBS:
                endpoint = None
                with suppress(HTTPException):
                    endpoint = adapter.match(path, verb)[0]
                if endpoint not in OWN_ANSWER:
                    yield path, verb, endpoint
