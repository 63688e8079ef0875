"""The owner's pages of phase 3: its set-up, figures, tags, leaving, files to take away."""

from __future__ import annotations

import json
import re
from io import BytesIO

import pytest
from flask import Flask
from flask.testing import FlaskClient
from openpyxl import load_workbook

from relevansi.db.engine import Database
from relevansi.db.tables.phase_3 import OwnQuestion
from relevansi.db.tables.runs import Run
from relevansi.exporters.phase_3.summary import FORMATS
from relevansi.records import Relevance
from relevansi.services.phase_3 import participants, user_studies
from relevansi.services.phase_3.user_studies import UserStudySettings
from relevansi.services.study import studies
from tests.chatbot import bots
from tests.conftest import NOW
from tests.page import Page
from tests.services.phase_3.participants import opened, taking_part
from tests.services.phase_3.test_findings import closing, rated
from tests.stored_studies import made_once, open_study
from tests.web import visitors
from tests.web.conftest import PART
from tests.web.visitors import PASSWORD, lock

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
    with open_study(database) as (session, study):
        return user_studies.settings(user_studies.find(session, study))


def test_what_the_owner_decides_is_kept(client: FlaskClient, web_database: Database) -> None:
    assert client.post("/study/users/", data=FORM).status_code == 303

    stored = settings(web_database)
    assert (stored.is_open, stored.most_questions, stored.at_once) == (True, 7, 3)
    page = Page(client.get("/study/users/"))
    assert page.one("[name=endpoint]")["value"] == FORM["endpoint"]
    assert "voluntary" in page.one("[name=consent_en]")
    for _twice in range(2):
        client.post("/study/users/consent", data={"consent_id": "Setuju", "consent_en": "Agree"})
    assert "Version 2 is in force." in client.get("/study/users/").text
    response = client.post("/study/users/consent", data={"consent_id": "", "consent_en": "Typed"})
    assert response.status_code == 422
    assert Page(response).one("[name=consent_en]").text == "Typed"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"most_questions": "0"}, "too small or too large"),
        ({"endpoint": ""}, "it needs a chatbot"),
        ({"api": "mapping", "mapping": "{"}, "not a usable mapping"),
    ],
)
def test_what_cannot_be_is_marked_and_nothing_is_stored(
    client: FlaskClient, web_database: Database, wrong: dict[str, str], message: str
) -> None:
    response = client.post("/study/users/", data=FORM | wrong)

    assert response.status_code == 422
    assert message in response.text
    assert Page(response).has("[aria-invalid=true]")
    assert settings(web_database) == UserStudySettings()


def test_a_test_question_shows_the_chatbot_s_answer_and_stores_nothing(
    client: FlaskClient, web_database: Database
) -> None:
    """With what is typed, not with what is stored; how many cards can be read is said."""
    typed = FORM | {"test_question": "Rumah di Johor?"}
    with bots.serving(bots.good) as bot:
        form = typed | {"endpoint": bot.address}
        responses = [
            client.post("/study/users/test", data=form, headers=headers) for headers in ({}, PART)
        ]

    assert [call["message"] for call in bot.asked] == ["Rumah di Johor?"] * 2
    for response in responses:
        assert response.status_code == 200
        assert re.search(r"[1-9]\d* cards? can be read", response.text)
    assert settings(web_database) == UserStudySettings()
    with web_database.reading() as session:
        assert session.query(OwnQuestion).count() == 0
        assert session.query(Run).count() == 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"endpoint": ""}, "Please give the address of the chatbot first."),
        ({"test_question": " "}, "Please type a question first."),
        ({"endpoint": "http://127.0.0.1:1/chat"}, "could not be reached"),
        ({"most_questions": "0"}, "too small or too large"),
    ],
)
def test_a_failed_test_says_why(client: FlaskClient, changed: dict[str, str], message: str) -> None:
    form = FORM | {"test_question": "Rumah?"} | changed
    response = client.post("/study/users/test", data=form, headers=PART)

    assert message in Page(response).one("#tested")


def test_the_password_set_for_phase_3_leads_back_to_it(client: FlaskClient) -> None:
    assert client.post("/study/users/links").status_code == 409  # no password yet
    form = Page(client.get(Page(client.get("/study/users/")).link("Set a password")))
    new = {"password": "a long password", "again": "a long password"}
    response = form.submit(client, "form:has([name=next])", **new)

    location = visitors.goes_to(client, response)
    assert location == "/study/users/#links"
    assert "Make a link for everybody" in client.get(location).text


def test_a_link_is_shown_once_and_withdrawn(app: Flask, web_database: Database) -> None:
    visitors.lock(web_database)
    owner = visitors.owner(app)
    owner.post("/study/users/", data=FORM)
    page = Page(owner.post("/study/users/links", follow_redirects=True))
    text = page.one(".address").text
    link = text[text.index("/take-part/") :]
    assert page.has("#link [role=img]")

    page = Page(owner.get("/study/users/"))
    assert link not in page.source
    stranger = visitors.browser(app)
    assert stranger.get(link).status_code == 200
    page.submit(owner, ".links-made form")
    assert stranger.get(link).status_code == 404

    form = {"pseudonym": "Merak"}
    assert "Merak" in owner.post("/study/users/links", data=form, follow_redirects=True).text
    assert owner.post("/study/users/links", data={"pseudonym": "merak"}).status_code == 422


YES, NO = Relevance.RELEVANT, Relevance.NOT_RELEVANT
PAGE = "/study/participants/"
HOSTILE = "<b>murah</b> =1+1"


@pytest.fixture(name="two_people")
def _two_people(client: FlaskClient, web_database: Database) -> tuple[int, int]:
    """The ids of the two who took part; the owner is signed in."""
    ids = two_took_part(web_database)
    assert client.post("/sign-in", data={"password": PASSWORD}).status_code == 303
    return ids


@made_once
def two_took_part(database: Database) -> tuple[int, int]:
    """Melati (P@5 1 and 0.5, SUS 100) and Kenari (0, hostile words), and the owner's password."""
    lock(database)
    with open_study(database) as (session, study):
        melati = taking_part(session, study)
        rated(session, melati, YES, YES)
        rated(session, melati, NO, YES, text="Yang lain?")
        closing(session, melati, "5151515151", helped="Cepat")
        kenari = taking_part(session, study, "Kenari <i>")
        rated(session, kenari, NO, NO, notes=HOSTILE, text=HOSTILE)
        session.flush()
        return melati.id, kenari.id


def test_empty_pages_say_how_to_begin(client: FlaskClient, web_database: Database) -> None:
    def lead_to_set_up() -> list[bool]:
        pages = [client.get(f"{PAGE}{part}") for part in ("", "questions", "comments")]
        assert {page.status_code for page in pages} == {200}
        mains = [Page(page).one("main") for page in pages]
        return [any(link.startswith("/study/users/") for link in main.links()) for main in mains]

    assert all(lead_to_set_up())
    assert client.get(f"{PAGE}report.json").status_code == 404
    with web_database.writing() as session:
        opened(session, studies.open_or_make(session, NOW))
        session.commit()
    assert all(lead_to_set_up())


@pytest.mark.usefixtures("two_people")
def test_the_page_shows_who_stands_where_and_what_it_comes_to(client: FlaskClient) -> None:
    page = Page(client.get(PAGE))

    assert "2 participants · 3 questions" in page
    assert "Kenari <i>" in page
    assert "<i>" not in page.source
    # P@5: (1 + 0.5 + 0) / 3; drawn again over two people it lies between 0 and 0.75.
    assert ["Precision@5", "0.50", "[0.12; 0.88]", "2", "3"] in page.rows("#table-phase3_summary")
    assert "SUS: mean 100.00, n = 1: best imaginable, grade A. No interval" in page
    assert "2 of 2" in page
    assert "10 of 10" in page
    assert page.count("figure.mini") == 6
    client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "id"
    page = Page(client.get(PAGE))
    assert "2 peserta · 3 pertanyaan" in page
    assert "0,50" in page


def test_questions_get_a_category(client: FlaskClient, two_people: tuple[int, int]) -> None:
    melati, _ = two_people
    address = f"{PAGE}{melati}/questions/1/category"

    response = client.post(address, data={"category": "area"})

    assert response.status_code == 303
    assert response.location == f"{PAGE}questions#question-{melati}-1"
    narrowed = client.get(f"{PAGE}questions?category=area").text
    assert "Rumah di Cemara?" in narrowed
    assert "Yang lain?" not in narrowed
    assert "area" in client.get(PAGE).text
    part = client.post(address, data={"category": "price"}, headers=PART)
    assert part.status_code == 200
    assert Page(part).one(f"#question-{melati}-1 [name=category]")["value"] == "price"
    assert Page(part).is_part


def test_a_category_is_chosen_by_its_words_and_stored_under_its_label(
    client: FlaskClient, two_people: tuple[int, int]
) -> None:
    melati, _ = two_people
    client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "id"
    address = f"{PAGE}{melati}/questions/1/category"

    part = client.post(address, data={"category": "lokasi dan harga"}, headers=PART)

    field = Page(part).one(f"#question-{melati}-1 [name=category]")
    assert field["value"] == "Lokasi dan harga"
    narrowed = client.get(f"{PAGE}questions?category=location_price").text
    assert "Rumah di Cemara?" in narrowed


def test_comments_get_themes_and_lose_them(
    client: FlaskClient, two_people: tuple[int, int]
) -> None:
    _, kenari = two_people
    address = f"{PAGE}{kenari}/comments/note 1/themes"

    assert client.post(address, data={"theme": "price"}).status_code == 303
    part = Page(client.post(address, data={"theme": "<speed>"}, headers=PART))
    assert part.texts(".tag-button [dir=auto]") == ["<speed>", "price"]
    assert "<b>murah" in part
    client.post(address, data={"remove": "<speed>"})

    for theme in ("price", ""):
        assert Page(client.get(f"{PAGE}comments?theme={theme}")).count("li[id]") == 1
    assert "1 comment, 1 participant" in Page(client.get(PAGE))


def test_an_unfit_tag_is_refused(client: FlaskClient, two_people: tuple[int, int]) -> None:
    melati, _ = two_people

    long = client.post(f"{PAGE}{melati}/questions/1/category", data={"category": "x" * 61})
    assert (long.status_code, "1 to 60 letters" in long.text) == (400, True)
    assert client.post(f"{PAGE}{melati}/comments/helped/themes").status_code == 400
    assert client.post(f"{PAGE}{melati}/comments/liked/themes").status_code == 404
    assert client.post(f"{PAGE}{melati}/questions/9/category").status_code == 404
    assert client.get(f"{PAGE}99/withdraw").status_code == 404


def test_withdrawal_says_what_goes_and_which_copies_stay_and_then_deletes(
    client: FlaskClient, web_database: Database, two_people: tuple[int, int]
) -> None:
    melati, kenari = two_people
    assert client.get(f"{PAGE}data/phase3.xlsx").status_code == 200
    text = client.get(f"{PAGE}{kenari}/withdraw").text
    assert "1 question with the answers, 2 judgments" in text
    assert "backups of the database" in text
    assert "phase3.xlsx" in text

    response = client.post(f"{PAGE}{kenari}/withdraw")

    assert response.status_code == 303
    page = Page(client.get(PAGE))
    assert "Kenari" not in page
    assert "1 participant withdrew" in page.one("#withdrawn")
    assert "phase3.xlsx" in page.one("#withdrawn")
    with open_study(web_database) as (session, study):
        assert [participant.id for participant in participants.everybody(session, study)] == [
            melati
        ]


@pytest.mark.usefixtures("two_people")
def test_all_that_was_given_leaves_by_pseudonym_and_runs_nowhere(client: FlaskClient) -> None:
    response = client.get(f"{PAGE}report.markdown")
    assert response.content_type == FORMATS["markdown"].media_type
    assert "phase3_summary_" in response.headers["Content-Disposition"]
    response = client.get(f"{PAGE}data/phase3.xlsx")
    assert "filename=phase3.xlsx" in response.headers["Content-Disposition"]
    book = load_workbook(BytesIO(response.data))
    assert book["cards"].max_row == 1 + 6
    decoded = json.loads(client.get(f"{PAGE}report.json").data)
    names = [participant["participant"] for participant in decoded["participants"]]
    assert names == ["Melati", "Kenari <i>"]
    assert "Owner" not in json.dumps(decoded)
