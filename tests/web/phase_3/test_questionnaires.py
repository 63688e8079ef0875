"""The closing questionnaire is kept item by item or as a whole, and never insists twice."""

from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.web.conftest import PART
from tests.web.phase_3.participants import opened, taking_part
from webapp.db.engine import Database
from webapp.db.tables.phase_3 import Participant
from webapp.services.phase_3 import participants

WHOLE = {f"sus-{number}": "4" for number in range(1, 11)}


@pytest.fixture(name="client")
def _client(app: Flask, web_database: Database) -> FlaskClient:
    return taking_part(app, opened(web_database, "http://127.0.0.1:9"))


def said(database: Database) -> participants.Questionnaire:
    with database.reading() as session:
        person = session.query(Participant).one()
        assert person.rater is not None
        return participants.of_rater(session, person.rater)


def finished(database: Database) -> bool:
    with database.reading() as session:
        return session.query(Participant).one().finished_at is not None


def test_the_ten_statements_are_those_of_the_scale_in_either_language(client: FlaskClient) -> None:
    english = client.get("/closing/").text
    indonesian = client.get("/closing/", headers={"Accept-Language": "id"}).text

    assert "I think that I would like to use this system frequently." in english
    assert "Saya rasa saya ingin sering menggunakan sistem ini." in indonesian
    assert english.count('type="radio"') == indonesian.count('type="radio"') == 50


def test_a_whole_form_ends_with_thanks(client: FlaskClient, web_database: Database) -> None:
    answer = client.post("/closing/", data=WHOLE | {"helped": "Cepat", "missing": ""})

    assert answer.headers["Location"] == "/closing/thanks"
    assert "Thank you" in client.get("/closing/thanks").text
    assert not said(web_database).unanswered
    assert said(web_database).helped == "Cepat"
    assert finished(web_database)


def test_nobody_is_thanked_before_the_questionnaire_is_handed_in(client: FlaskClient) -> None:
    assert client.get("/closing/thanks").headers["Location"] == "/closing/"


def test_what_was_left_out_is_named_and_asked_for_once(
    client: FlaskClient, web_database: Database
) -> None:
    part = {name: value for name, value in WHOLE.items() if name not in {"sus-3", "sus-7"}}
    answer = client.post("/closing/", data=part | {"missing": "Foto"})

    assert answer.status_code == 422
    assert "Statements 3, 7 have no answer yet" in answer.text
    assert ">\nFoto</textarea>" in answer.text
    assert not finished(web_database)
    assert client.post("/closing/", data=part | {"anyway": "1"}).status_code == 303
    assert said(web_database).unanswered == (3, 7)
    assert finished(web_database)


def test_an_item_is_saved_as_it_is_answered_and_the_same_click_twice_is_one(
    client: FlaskClient, web_database: Database
) -> None:
    click = {"item": "sus-2", "said": "5", "event_id": "e", "device": "d", "sequence": "1"}
    for _retry in range(2):
        answer = client.post("/closing/answer", data=click, headers=PART)
        assert answer.status_code == 200
        assert "<hx-partial" in answer.text
    client.post("/closing/answer", data={"item": "helped", "said": "Peta"})

    assert said(web_database).usability[1] == 5
    assert said(web_database).helped == "Peta"


@pytest.mark.parametrize("item", ["sus-11", "quality", ""])
def test_an_item_there_is_not_is_refused(client: FlaskClient, item: str) -> None:
    answer = client.post("/closing/answer", data={"item": item, "said": "3"}, headers=PART)

    assert answer.status_code == 400


def test_an_answer_off_the_scale_is_refused(client: FlaskClient, web_database: Database) -> None:
    for data in ({"item": "sus-1", "said": "9"}, {"item": "sus-1", "said": "many"}):
        assert client.post("/closing/answer", data=data).status_code == 400
    assert client.post("/closing/", data={"sus-1": "9"}).status_code == 400
    assert said(web_database).usability[0] is None
