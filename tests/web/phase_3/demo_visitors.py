"""Participants who look at the demo."""

from __future__ import annotations

import re

from flask import Flask
from flask.testing import FlaskClient

from tests.conftest import NOW
from tests.demo import study_of
from tests.web.conftest import in_english
from webapp.services.phase_3 import links, participants

CARRIED = re.compile(r'name="(consent|personal|offered|pseudonym)" value="([^"]*)"')


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
