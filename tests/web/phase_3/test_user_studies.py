"""The owner sets phase 3 up on one page: the chatbot, the limits, the text, the links."""

from __future__ import annotations

import re
from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.chatbot import bots
from tests.web import visitors
from tests.web.conftest import PART
from webapp.db.engine import Database
from webapp.db.tables.phase_3 import OwnQuestion
from webapp.db.tables.runs import Run
from webapp.services.phase_3 import user_studies
from webapp.services.phase_3.user_studies import UserStudySettings
from webapp.services.study import studies
from webapp.web.frame.access import now

FORM = {
    "is_open": "1",
    "endpoint": "http://127.0.0.1:8810/chat",
    "search_method": "hybrid",
    "llm": "demo",
    "api": "contract",
    "most_questions": "7",
    "answer_seconds": "60",
    "tries": "2",
    "at_once": "3",
    "pause_seconds": "0",
}


def settings(database: Database) -> UserStudySettings:
    with database.reading() as session:
        study = studies.open_or_make(session, now())
        return user_studies.settings(user_studies.find(session, study))


def test_what_the_owner_decides_is_kept(client: FlaskClient, web_database: Database) -> None:
    assert client.post("/study/users/", data=FORM).status_code == 303

    found = settings(web_database)
    assert (found.is_open, found.most_questions, found.at_once) == (True, 7, 3)
    page = client.get("/study/users/").text
    assert 'value="http://127.0.0.1:8810/chat"' in page
    texts = dict(re.findall(r'name="(consent_\w+)"[^>]*>\n(.*?)</textarea>', page, re.DOTALL))
    assert "voluntary" in texts["consent_en"]
    for _twice in range(2):
        client.post("/study/users/consent", data={"consent_id": "Setuju", "consent_en": "Agree"})
    assert "Version 2 is in force." in client.get("/study/users/").text
    answer = client.post("/study/users/consent", data={"consent_id": "", "consent_en": "Typed"})
    assert answer.status_code == 422
    assert ">\nTyped</textarea>" in answer.text


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"most_questions": "0"}, "too small or too large"),
        ({"most_questions": "many"}, "whole number"),
        ({"endpoint": ""}, "it needs a chatbot"),
        ({"endpoint": "https://me:secret@bot.example"}, "is not kept"),
        ({"api": "mapping", "mapping": "{"}, "not a usable mapping"),
    ],
)
def test_what_cannot_be_is_marked_and_nothing_is_stored(
    client: FlaskClient, web_database: Database, wrong: dict[str, str], said: str
) -> None:
    answer = client.post("/study/users/", data=FORM | wrong)

    assert answer.status_code == 422
    assert said in answer.text
    assert 'aria-invalid="true"' in answer.text
    assert settings(web_database) == UserStudySettings()


@pytest.mark.parametrize("headers", [{}, PART])
def test_a_test_question_shows_the_chatbot_s_answer_and_stores_nothing(
    client: FlaskClient, web_database: Database, headers: dict[str, str]
) -> None:
    """With what is typed, not with what is stored; how many cards can be read is said."""
    said = FORM | {"test_question": "Rumah di Johor?"}
    with bots.serving(bots.good) as bot:
        form = said | {"endpoint": bot.address}
        answer = client.post("/study/users/test", data=form, headers=headers)
    (asked,) = bot.asked

    assert answer.status_code == 200
    assert asked["message"] == "Rumah di Johor?"
    assert re.search(r"[1-9]\d* cards? can be read", answer.text)
    assert settings(web_database) == UserStudySettings()
    with web_database.reading() as session:
        assert session.query(OwnQuestion).count() == 0
        assert session.query(Run).count() == 0


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"endpoint": ""}, "Please give the address of the chatbot first."),
        ({"test_question": " "}, "Please type a question first."),
        ({"endpoint": "ftp://bot.example"}, "not an http or https address"),
        ({"endpoint": "http://127.0.0.1:1/chat"}, "could not be reached"),
        ({"most_questions": "0"}, "too small or too large"),
    ],
)
def test_a_failed_test_says_why(client: FlaskClient, changed: dict[str, str], said: str) -> None:
    form = FORM | {"test_question": "Rumah?"} | changed
    answer = client.post("/study/users/test", data=form, headers=PART)

    assert said in answer.text
    assert 'id="tested"' in answer.text


def test_the_password_set_for_phase_3_leads_back_to_it(client: FlaskClient) -> None:
    assert client.post("/study/users/links").status_code == 409  # no password yet
    link = re.search(r'href="(/password\?[^"]+)"', client.get("/study/users/").text)
    assert link is not None
    form = client.get(unescape(link[1])).text
    after = re.search(r'name="next" value="([^"]*)"', form)
    assert after is not None
    new = {"password": "a long password", "again": "a long password"}
    done = client.post("/password", data=new | {"next": unescape(after[1])})

    assert done.location == "/study/users/#links"
    assert "Make a link for everybody" in client.get(done.location).text


@pytest.mark.parametrize("elsewhere", ["https://evil.example", "//evil.example", ""])
def test_a_new_password_leads_to_no_other_site(client: FlaskClient, elsewhere: str) -> None:
    assert "evil" not in client.get("/password", query_string={"next": elsewhere}).text
    new = {"password": "a long password", "again": "a long password", "next": elsewhere}

    assert client.post("/password", data=new).location == "/raters/"


def test_a_link_is_shown_once_and_withdrawn(app: Flask, web_database: Database) -> None:
    visitors.lock(web_database)
    owner = visitors.owner(app)
    owner.post("/study/users/", data=FORM)
    page = owner.post("/study/users/links", follow_redirects=True).text
    link = re.search(r"/take-part/[\w-]{32}", page)
    assert link is not None
    assert 'role="img"' in page

    page = owner.get("/study/users/").text
    assert link[0] not in page
    stranger = visitors.browser(app)
    assert stranger.get(link[0]).status_code == 200
    withdraw = re.search(r"/study/users/links/\d+/withdraw", page)
    assert withdraw is not None
    owner.post(withdraw[0])
    assert stranger.get(link[0]).status_code == 404

    form = {"pseudonym": "Merak"}
    assert "Merak" in owner.post("/study/users/links", data=form, follow_redirects=True).text
    assert owner.post("/study/users/links", data={"pseudonym": "merak"}).status_code == 422
