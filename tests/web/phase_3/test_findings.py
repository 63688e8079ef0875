"""The owner's side of phase 3: how far each one is, figures, tags, leaving, files to take away."""

from __future__ import annotations

import json
import re

import pytest
from flask.testing import FlaskClient

from tests.conftest import NOW
from tests.services.phase_3.participants import opened, taking_part
from tests.services.phase_3.test_findings import closing, rated
from tests.web.conftest import PART, made_once
from tests.web.visitors import PASSWORD, lock
from webapp.db.engine import Database
from webapp.exporters.phase_3.summary import DATA, FORMATS
from webapp.records import Relevance
from webapp.services.phase_3 import participants
from webapp.services.study import studies

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
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        melati = taking_part(session, study)
        rated(session, melati, YES, YES)
        rated(session, melati, NO, YES, text="Yang lain?")
        closing(session, melati, "5151515151", helped="Cepat")
        kenari = taking_part(session, study, "Kenari <i>")
        rated(session, kenari, NO, NO, notes=HOSTILE, text=HOSTILE)
        session.commit()
        return melati.id, kenari.id


def test_empty_pages_say_how_to_begin(client: FlaskClient, web_database: Database) -> None:
    def seen() -> list[bool]:
        pages = [client.get(f"{PAGE}{part}") for part in ("", "questions", "comments")]
        assert {page.status_code for page in pages} == {200}
        return ["/study/users/" in page.text.partition("<main")[2] for page in pages]

    assert all(seen())
    assert client.get(f"{PAGE}report.json").status_code == 404
    with web_database.writing() as session:
        opened(session, studies.open_or_make(session, NOW))
        session.commit()
    assert all(seen())


@pytest.mark.usefixtures("two_people")
def test_the_page_shows_who_stands_where_and_what_it_comes_to(client: FlaskClient) -> None:
    page = client.get(PAGE).text

    assert "2 participants · 3 questions" in page
    assert "Kenari &lt;i&gt;" in page
    assert "<i>" not in page
    # P@5: (1 + 0.5 + 0) / 3; drawn again over two people it lies between 0 and 0.75.
    row = re.search(r"Precision@5</th>(.*?)</tr>", page, re.DOTALL)
    assert row is not None
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row[1])
    assert cells == ["0.50", "[0.00; 0.75]", "2", "3"]
    assert "SUS: mean 100.00, n = 1: best imaginable, grade A. No interval" in page
    assert "2 of 2" in page
    assert "10 of 10" in page
    assert page.count('role="img"') == 1
    client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "id"
    page = client.get(PAGE).text
    assert "2 peserta · 3 pertanyaan" in page
    assert "0,50" in page


def test_questions_get_a_category(client: FlaskClient, two_people: tuple[int, int]) -> None:
    melati, _ = two_people
    address = f"{PAGE}{melati}/questions/1/category"

    done = client.post(address, data={"category": "area"})

    assert done.status_code == 303
    assert done.location == f"{PAGE}questions#question-{melati}-1"
    narrowed = client.get(f"{PAGE}questions?category=area").text
    assert "Rumah di Cemara?" in narrowed
    assert "Yang lain?" not in narrowed
    assert "area" in client.get(PAGE).text
    part = client.post(address, data={"category": "price"}, headers=PART)
    assert part.status_code == 200
    assert f'<li id="question-{melati}-1">' in part.text
    assert 'value="price"' in part.text
    assert "<html" not in part.text


def test_comments_get_themes_and_lose_them(
    client: FlaskClient, two_people: tuple[int, int]
) -> None:
    _, kenari = two_people
    address = f"{PAGE}{kenari}/comments/note 1/themes"

    assert client.post(address, data={"theme": "price"}).status_code == 303
    part = client.post(address, data={"theme": "<speed>"}, headers=PART).text
    assert part.count("tag-button") == 2
    assert "&lt;speed&gt;" in part
    assert "&lt;b&gt;murah" in part
    client.post(address, data={"remove": "<speed>"})

    listed = client.get(f"{PAGE}comments?theme=price").text
    assert listed.count("<li id=") == 1
    assert client.get(f"{PAGE}comments?theme=").text.count("<li id=") == 1
    assert "1 comment, 1 participant" in client.get(PAGE).text


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
    assert client.get(f"{PAGE}data/cards.csv").status_code == 200
    asked = client.get(f"{PAGE}{kenari}/withdraw").text
    assert "1 question with the answers, 2 judgments" in asked
    assert "backups of the database" in asked
    assert "cards.csv" in asked

    done = client.post(f"{PAGE}{kenari}/withdraw")

    assert done.status_code == 303
    page = client.get(PAGE).text
    assert "Kenari" not in page
    assert "1 participant withdrew" in page
    assert "cards.csv" in page.split('id="withdrawn"')[1]
    with web_database.reading() as session:
        study = studies.current(session)
        assert study is not None
        assert [one.id for one in participants.everybody(session, study)] == [melati]


@pytest.mark.usefixtures("two_people")
def test_all_that_was_given_leaves_by_pseudonym_and_runs_nowhere(client: FlaskClient) -> None:
    for name, made in FORMATS.items():
        answer = client.get(f"{PAGE}report.{name}")
        assert answer.content_type == made.media_type
        assert "phase3_summary_" in answer.headers["Content-Disposition"]
    for name in DATA:
        answer = client.get(f"{PAGE}data/{name}")
        assert answer.status_code == 200
        assert f"filename={name}" in answer.headers["Content-Disposition"]
    assert client.get(f"{PAGE}data/secret.csv").status_code == 404
    cards = client.get(f"{PAGE}data/cards.csv").text.splitlines()
    assert len(cards) == 1 + 6
    found = json.loads(client.get(f"{PAGE}data/phase3.json").data)
    assert [one["participant"] for one in found["participants"]] == ["Melati", "Kenari <i>"]
    assert "Owner" not in json.dumps(found)
