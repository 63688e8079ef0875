"""The people who look at the demo, and the pages that they reach by clicks from their first one."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urlsplit

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.exceptions import HTTPException

from tests.conftest import NOW
from tests.demo import study_of
from tests.web.conftest import in_english
from webapp.services.phase_3 import links, participants

CLICKS = 3
LINK = re.compile(r"""(?:href|method="get" action)="(/[^"#]*)""")
CARRIED = re.compile(r'name="(consent|personal|offered|pseudonym)" value="([^"]*)"')


def as_rater(demo: Flask) -> FlaskClient:
    """A rater who sits at the owner's computer."""
    client = in_english(demo)
    client.post("/sign-in/as", data={"rater": "2"})
    return client


def as_participant(demo: Flask) -> FlaskClient:
    """One of the eight, by a new link of their own."""
    client = in_english(demo)
    agree(client, personal_link(demo))
    return client


def personal_link(demo: Flask) -> str:
    """Return a new way back for the first participant."""
    with demo.extensions["database"].writing() as session:
        participant = participants.everybody(session, study_of(session))[0]
        made = links.personal(session, participant, NOW.replace(year=9000))
        session.commit()
    return f"/take-part/{made.token}"


def agree(client: FlaskClient, address: str) -> None:
    """Consent to take part, by a link."""
    carried = dict(CARRIED.findall(client.get(address).text))
    assert client.post(address, data={**carried, "decision": "yes"}).location == "/ask/"


def reached(client: FlaskClient, begin: str) -> dict[str, str]:
    """Return the endpoints within three clicks of the page `begin`, each with its first address."""
    urls = client.application.url_map.bind("")
    found: dict[str, str] = {}
    level = [begin]
    for clicks in range(CLICKS + 1):
        following: list[str] = []
        for address in level:
            path = urlsplit(address).path
            try:
                endpoint, _ = urls.match(path)
            except HTTPException:
                continue
            if endpoint in found:
                continue
            found[endpoint] = address
            if clicks < CLICKS and "." not in path:
                page = client.get(address, follow_redirects=True)
                assert page.status_code == 200, address
                following += map(unescape, LINK.findall(page.text))
        level = following
    return found
