"""People who take part in phase 3 through their browsers, and what the owner sets up for them."""

from __future__ import annotations

from flask import Flask
from flask.testing import FlaskClient
from msgspec.structs import replace

from relevansi.db.engine import Database
from relevansi.services.phase_3 import participants, user_studies
from relevansi.web.frame import access
from relevansi.web.frame.workers import workers
from tests.conftest import NOW
from tests.demo import study_of
from tests.page import Page
from tests.services.phase_3.participants import SETTINGS
from tests.stored_studies import open_study
from tests.web import visitors
from tests.web.conftest import in_english

WAIT = 20
NOBODY = "http://127.0.0.1:9"
"""No chatbot listens there."""


def opened(database: Database, endpoint: str, **settings: object) -> str:
    """Open phase 3 with the chatbot at an address; return the path of everybody's link."""
    changed = replace(SETTINGS, endpoint=endpoint, tries=1, **settings)
    with open_study(database) as (session, study):
        user_studies.set_settings(session, study, changed, NOW)
        token = participants.make_link(session, study, access.now()).token
    return f"/take-part/{token}"


def consent_form(page: Page) -> dict[str, str]:
    """Return what the page of consent sends when its reader agrees, or comes back."""
    return page.fields("form:has([name=decision])") | {"decision": "yes"}


def taking_part(app: Flask, link: str, *, elsewhere: bool = False) -> FlaskClient:
    """Return a browser whose user agreed to take part."""
    client = visitors.browser(app, elsewhere=elsewhere)
    agree(client, link)
    return client


def ask(app: Flask, client: FlaskClient, question: str, **more: str) -> str:
    """Ask a question; return where it stands, once nothing is being asked any more."""
    response = client.post("/ask/", data={"question": question, **more})
    assert response.status_code == 303, response.text
    assert workers(app).is_idle(WAIT)
    return response.headers["Location"]


def as_participant(demo: Flask) -> FlaskClient:
    """One of the eight, by a new link of their own."""
    client = in_english(demo)
    agree(client, personal_link(demo))
    return client


def personal_link(demo: Flask) -> str:
    """Return a new way back for the first participant."""
    with demo.extensions["database"].writing() as session:
        participant = participants.everybody(session, study_of(session))[0]
        link = participants.personal_link(session, participant, NOW.replace(year=9000))
        session.commit()
    return f"/take-part/{link.token}"


def agree(client: FlaskClient, address: str) -> None:
    """Consent to take part, by a link."""
    response = client.post(address, data=consent_form(Page(client.get(address))))
    assert visitors.goes_to(client, response) == "/ask/"
