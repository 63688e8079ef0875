"""Coming into phase 3 by a link and by consent, and the closing questionnaire."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from relevansi.db.engine import Database
from relevansi.db.tables.base import Base
from relevansi.db.tables.phase_3 import Participant, ParticipantLink
from relevansi.services.people.tries import TRIES_OF_STRANGERS
from relevansi.services.phase_3 import questionnaires, user_studies
from relevansi.web.frame import access
from relevansi.web.frame.access import now
from tests.page import Page
from tests.stored_studies import open_study
from tests.web import visitors
from tests.web.conftest import PART, count
from tests.web.phase_3.participants import NOBODY, consent_form, opened, taking_part


@pytest.fixture(name="link")
def _link(web_database: Database) -> str:
    return opened(web_database, NOBODY)


@pytest.fixture(name="stranger")
def _stranger(app: Flask) -> FlaskClient:
    return visitors.browser(app, elsewhere=True)


def agrees(client: FlaskClient, link: str, **typed: str) -> dict[str, str]:
    """Return what the page of a link sends when its reader agrees."""
    return Page(client.get(link)).fields("form.agree") | {"decision": "yes"} | typed


def test_who_agrees_is_in_once_and_is_shown_the_way_back_once(
    app: Flask, stranger: FlaskClient, web_database: Database, link: str
) -> None:
    page = stranger.get(link).text
    assert "voluntary" in page
    assert "sukarela" in stranger.get(link, headers={"Accept-Language": "id"}).text
    assert not [secret for secret in ("hybrid", "demo", NOBODY) if secret in page]
    assert count(web_database, Participant) == 0
    form = agrees(stranger, link)
    for _tap in range(2):
        assert stranger.post(link, data=form).status_code == 303
    text = Page(stranger.get("/ask/")).one(".address").text
    back = text[text.index("/take-part/") :]

    assert back not in stranger.get("/ask/").text
    second = visitors.browser(app, elsewhere=True)
    assert "Welcome back" in second.get(back).text
    response = second.post(back, data={"pseudonym": "x", "decision": "yes"})
    assert visitors.goes_to(second, response) == "/ask/"
    assert second.get("/ask/").status_code == 200
    assert count(web_database, Participant) == 1
    more = Page(second.post("/take-part/link"))
    assert "/take-part/" in more.one(".address")
    assert more.has("#link svg")


def test_of_those_who_decline_nothing_is_stored_and_their_link_goes_on_working(
    stranger: FlaskClient, web_database: Database, link: str
) -> None:
    links = count(web_database, ParticipantLink)

    ended = stranger.post(link, data=agrees(stranger, link, decision="no"), follow_redirects=True)

    assert "That is perfectly all right" in ended.text
    assert count(web_database, Participant) == 0
    assert count(web_database, ParticipantLink) == links
    assert stranger.get("/ask/").status_code == 401
    stranger.post(link, data=agrees(stranger, link))
    assert stranger.get("/ask/").status_code == 200


def test_a_script_with_everybodys_link_ends_at_the_cap_of_its_address(
    app: Flask, web_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = opened(web_database, NOBODY, most_newcomers=3)
    for _ in range(3):
        back = taking_part(app, link)
    client = visitors.browser(app)

    refused = client.post(link, data=agrees(client, link))

    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "3600")
    assert count(web_database, Participant) == 3
    assert back.get("/ask/").status_code == 200
    assert taking_part(app, link, elsewhere=True).get("/ask/").status_code == 200
    later = now() + timedelta(hours=1)
    monkeypatch.setattr(access, "now", lambda: later)
    assert client.post(link, data=agrees(client, link)).status_code == 303


def test_no_address_is_stored(app: Flask, web_database: Database, link: str) -> None:
    client = taking_part(app, link, elsewhere=True)
    client.post("/ask/", data={"question": "Rumah?"})

    with web_database.reading() as session:
        stored = [str(tuple(row)) for table in Base.metadata.tables.values()
                  for row in session.execute(select(table))]  # fmt: skip
    assert stored
    assert [row for row in stored if "192.0.2.7" in row] == []


def test_nobody_agrees_unread(stranger: FlaskClient, web_database: Database, link: str) -> None:
    form = agrees(stranger, link)
    with open_study(web_database) as (session, study):
        user_studies.write_consent(session, study, {"id": "Baru", "en": "Entirely new"}, now())
    response = stranger.post(link, data=form)

    assert response.status_code == 409
    assert "Entirely new" in response.text
    assert "read it again" in response.text
    assert count(web_database, Participant) == 0


@pytest.mark.parametrize(
    ("pseudonym", "message"),
    [("", "Please fill this in."), ("x" * 41, "too long"), ("Melati", "Somebody else")],
)
def test_an_unfit_pseudonym_is_told(app: Flask, link: str, pseudonym: str, message: str) -> None:
    first, second = visitors.browser(app), visitors.browser(app)
    assert first.post(link, data=agrees(first, link, pseudonym="Melati")).status_code == 303
    form = agrees(second, link, pseudonym=pseudonym)
    response = second.post(link, data=form)

    assert response.status_code == 422
    assert message in response.text
    assert consent_form(Page(response))["personal"] == form["personal"]


def test_a_pseudonym_is_changed_to_one_that_nobody_has(app: Flask, link: str) -> None:
    first, second = visitors.browser(app), visitors.browser(app)
    for client, name in ((first, "Melati"), (second, "Bulan")):
        client.post(link, data=agrees(client, link, pseudonym=name))

    refused = second.post("/take-part/pseudonym", data={"pseudonym": "Melati"})
    assert "Somebody else has this pseudonym" in second.get(refused.location).text
    second.post("/take-part/pseudonym", data={"pseudonym": "Bintang"})
    assert "Bintang" in second.get("/ask/").text


def test_two_offered_one_name_both_come_in(app: Flask, link: str, web_database: Database) -> None:
    first, second = visitors.browser(app), visitors.browser(app)
    same = {"pseudonym": "Melati", "offered": "Melati"}
    forms = [agrees(client, link, **same) for client in (first, second)]

    responses = [
        client.post(link, data=form) for client, form in zip((first, second), forms, strict=True)
    ]

    assert [response.status_code for response in responses] == [303, 303]
    with web_database.reading() as session:
        names = session.scalars(select(Participant.pseudonym)).all()
    assert len(set(names)) == 2
    assert "Melati" in names


def test_wrong_links_keep_nobody_from_a_right_one(stranger: FlaskClient, link: str) -> None:
    wrong = "/take-part/" + "x" * 32
    for _guess in range(TRIES_OF_STRANGERS + 1):
        assert stranger.post(wrong, data={"decision": "yes"}).status_code == 404

    assert stranger.get(link).status_code == 200


def test_a_device_is_the_last_participant_s(app: Flask, web_database: Database, link: str) -> None:
    visitors.lock(web_database)
    client = visitors.owner(app)
    client.post(link, data=agrees(client, link))
    assert client.get("/runs/").status_code == 403
    assert "On this device" in client.get(link).text
    client.post(link, data=agrees(client, link, pseudonym="Fajar"))

    assert "Fajar" in client.get("/ask/").text


def test_while_it_is_closed_nobody_new_comes_in(
    app: Flask, stranger: FlaskClient, web_database: Database, link: str
) -> None:
    client = taking_part(app, link)
    opened(web_database, NOBODY, is_open=False)

    assert not Page(stranger.get(link)).has("[value=yes]")
    assert client.post("/ask/", data={"question": "Rumah?"}).status_code == 409
    assert "accepts no further questions" in client.get("/ask/").text


WHOLE = {f"sus-{number}": "4" for number in range(1, 11)}


@pytest.fixture(name="client")
def _client(app: Flask, web_database: Database) -> FlaskClient:
    return taking_part(app, opened(web_database, NOBODY))


def closing_answers(database: Database) -> tuple[questionnaires.Questionnaire, bool]:
    """Return the answers, and whether they were handed in."""
    with database.reading() as session:
        person = session.query(Participant).one()
        assert person.rater is not None
        return questionnaires.of_rater(session, person.rater), person.finished_at is not None


def test_a_whole_form_ends_with_thanks(client: FlaskClient, web_database: Database) -> None:
    for code, first in (("en", "I think that I would"), ("id", "Saya rasa saya ingin")):
        page = Page(client.get("/closing/", headers={"Accept-Language": code}))
        assert first in page
        assert page.count("[type=radio]") == 50
    assert client.get("/closing/thanks").headers["Location"] == "/closing/"

    response = client.post("/closing/", data=WHOLE | {"helped": "Cepat", "missing": ""})

    assert response.headers["Location"] == "/closing/thanks"
    assert client.get("/closing/thanks").status_code == 200
    result, finished = closing_answers(web_database)
    assert (result.unanswered, result.helped, finished) == ((), "Cepat", True)


def test_what_was_left_out_is_asked_for_once(client: FlaskClient, web_database: Database) -> None:
    part = {name: value for name, value in WHOLE.items() if name not in {"sus-3", "sus-7"}}
    response = client.post("/closing/", data=part | {"missing": "Foto"})

    assert response.status_code == 422
    assert "Statements 3, 7 have no answer yet" in response.text
    assert Page(response).fields("#closing")["missing"] == "Foto"
    assert not closing_answers(web_database)[1]
    assert client.post("/closing/", data=part | {"anyway": "1"}).status_code == 303
    result, finished = closing_answers(web_database)
    assert (result.unanswered, finished) == ((3, 7), True)


def test_an_item_is_saved_as_it_is_answered(client: FlaskClient, web_database: Database) -> None:
    click = {"item": "sus-2", "said": "5", "event_id": "e", "device": "d", "sequence": "1"}
    for _retry in range(2):
        response = client.post("/closing/answer", data=click, headers=PART)
        assert Page(response).partials
    client.post("/closing/answer", data={"item": "helped", "said": "Peta"})

    result, _ = closing_answers(web_database)
    assert (result.usability[1], result.helped) == (5, "Peta")
    for item, answered in (("sus-11", "3"), ("quality", "3"), ("sus-1", "9"), ("sus-1", "many")):
        data = {"item": item, "said": answered}
        assert client.post("/closing/answer", data=data).status_code == 400
    assert client.post("/closing/", data={"sus-1": "9"}).status_code == 400
    assert closing_answers(web_database)[0].usability[0] is None
