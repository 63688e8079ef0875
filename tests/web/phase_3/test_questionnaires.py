"""The closing questionnaire is kept item by item or as a whole, and never insists twice."""

from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.web.conftest import PART
from tests.web.phase_3.participants import NOBODY, opened, taking_part
from webapp.db.engine import Database
from webapp.db.tables.phase_3 import Participant
from webapp.services.phase_3 import participants

WHOLE = {f"sus-{number}": "4" for number in range(1, 11)}


@pytest.fixture(name="client")
def _client(app: Flask, web_database: Database) -> FlaskClient:
    return taking_part(app, opened(web_database, NOBODY))


def said(database: Database) -> tuple[participants.Questionnaire, bool]:
    """Return the answers, and whether they were handed in."""
    with database.reading() as session:
        person = session.query(Participant).one()
        assert person.rater is not None
        return participants.of_rater(session, person.rater), person.finished_at is not None


def test_a_whole_form_ends_with_thanks(client: FlaskClient, web_database: Database) -> None:
    for code, first in (("en", "I think that I would"), ("id", "Saya rasa saya ingin")):
        page = client.get("/closing/", headers={"Accept-Language": code}).text
        assert first in page
        assert page.count('type="radio"') == 50
    assert client.get("/closing/thanks").headers["Location"] == "/closing/"

    answer = client.post("/closing/", data=WHOLE | {"helped": "Cepat", "missing": ""})

    assert answer.headers["Location"] == "/closing/thanks"
    assert client.get("/closing/thanks").status_code == 200
    found, finished = said(web_database)
    assert (found.unanswered, found.helped, finished) == ((), "Cepat", True)


def test_what_was_left_out_is_asked_for_once(client: FlaskClient, web_database: Database) -> None:
    part = {name: value for name, value in WHOLE.items() if name not in {"sus-3", "sus-7"}}
    answer = client.post("/closing/", data=part | {"missing": "Foto"})

    assert answer.status_code == 422
    assert "Statements 3, 7 have no answer yet" in answer.text
    assert ">\nFoto</textarea>" in answer.text
    assert not said(web_database)[1]
    assert client.post("/closing/", data=part | {"anyway": "1"}).status_code == 303
    found, finished = said(web_database)
    assert (found.unanswered, finished) == ((3, 7), True)


def test_an_item_is_saved_as_it_is_answered(client: FlaskClient, web_database: Database) -> None:
    click = {"item": "sus-2", "said": "5", "event_id": "e", "device": "d", "sequence": "1"}
    for _retry in range(2):
        answer = client.post("/closing/answer", data=click, headers=PART)
        assert "<hx-partial" in answer.text
    client.post("/closing/answer", data={"item": "helped", "said": "Peta"})

    found, _ = said(web_database)
    assert (found.usability[1], found.helped) == (5, "Peta")
    for item, answered in (("sus-11", "3"), ("quality", "3"), ("sus-1", "9"), ("sus-1", "many")):
        data = {"item": item, "said": answered}
        assert client.post("/closing/answer", data=data).status_code == 400
    assert client.post("/closing/", data={"sus-1": "9"}).status_code == 400
    assert said(web_database)[0].usability[0] is None
