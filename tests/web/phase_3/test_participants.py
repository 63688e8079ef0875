"""Coming into phase 3: by a link and by consent, with a pseudonym, and back again."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from tests.web import visitors
from tests.web.phase_3.participants import consent_form, opened, taking_part
from webapp.db.engine import Database
from webapp.db.tables.base import Base
from webapp.db.tables.phase_3 import Participant, ParticipantLink
from webapp.i18n import speaking
from webapp.services.phase_3 import user_studies
from webapp.services.phase_3.links import PseudonymTaken
from webapp.services.study import studies
from webapp.web.frame import access
from webapp.web.frame.access import now

NOBODY = "http://127.0.0.1:9"


@pytest.fixture(name="link")
def _link(web_database: Database) -> str:
    return opened(web_database, NOBODY)


@pytest.fixture(name="stranger")
def _stranger(app: Flask) -> FlaskClient:
    return visitors.browser(app, elsewhere=True)


def count(database: Database, table: type) -> int:
    with database.reading() as session:
        return session.query(table).count()


def test_opening_a_link_shows_the_consent_and_stores_nobody(
    stranger: FlaskClient, web_database: Database, link: str
) -> None:
    page = stranger.get(link).text

    assert "It is voluntary." in page
    assert "Version 1 of this text" in page
    assert count(web_database, Participant) == 0
    for secret in ("hybrid", "demo", NOBODY):
        assert secret not in page


def test_the_consent_is_in_the_reader_s_language(stranger: FlaskClient, link: str) -> None:
    page = stranger.get(link, headers={"Accept-Language": "id"}).text

    assert "sukarela" in page
    assert "voluntary" not in page


def test_who_agrees_is_in_and_is_shown_the_way_back_once(
    app: Flask, web_database: Database, link: str
) -> None:
    client = taking_part(app, link, elsewhere=True)
    page = client.get("/ask/").text
    back = re.search(r"https?://[^/]+(/take-part/[\w-]+)", page)

    assert back is not None
    assert back[1] not in client.get("/ask/").text
    other = visitors.browser(app, elsewhere=True)
    assert "Welcome back" in other.get(back[1]).text
    answer = other.post(back[1], data={"pseudonym": "x", "decision": "yes"})
    assert answer.headers["Location"] == "/ask/"
    assert other.get("/ask/").status_code == 200
    assert count(web_database, Participant) == 1


def test_a_doubled_consent_is_one_participant(
    stranger: FlaskClient, web_database: Database, link: str
) -> None:
    form = consent_form(stranger.get(link).text) | {"decision": "yes"}
    for _tap in range(2):
        assert stranger.post(link, data=form).status_code == 303

    assert count(web_database, Participant) == 1


def test_declining_ends_kindly_and_leaves_a_count(
    stranger: FlaskClient, web_database: Database, link: str
) -> None:
    links = count(web_database, ParticipantLink)
    answer = stranger.post(link, data={"decision": "no"}, follow_redirects=True)

    assert "That is perfectly all right" in answer.text
    assert count(web_database, Participant) == 0
    assert count(web_database, ParticipantLink) == links
    with web_database.reading() as session:
        phase = user_studies.find(session, studies.open_or_make(session, now()))
        assert phase is not None
        assert phase.declined == 1
    assert stranger.get("/ask/").status_code == 401


def declined(database: Database) -> int:
    with database.reading() as session:
        phase = user_studies.find(session, studies.open_or_make(session, now()))
        assert phase is not None
        return phase.declined


def test_those_who_decline_are_counted_once_however_often_they_say_so(
    app: Flask, stranger: FlaskClient, web_database: Database, link: str
) -> None:
    form = consent_form(stranger.get(link).text) | {"decision": "no"}
    for _click in range(3):
        assert stranger.post(link, data=form).status_code == 303
    again = consent_form(stranger.get(link).text) | {"decision": "no"}
    stranger.post(link, data=again)
    visitors.browser(app).post(link, data=form)  # the same page, before the cookie came
    assert declined(web_database) == 1

    visitors.browser(app).post(link, data={"decision": "no"})
    assert declined(web_database) == 2
    agreed = consent_form(stranger.get(link).text) | {"decision": "yes"}
    stranger.post(link, data=agreed)  # who takes part after all did not decline
    stranger.post(link, data=again)
    assert declined(web_database) == 1


def test_a_script_with_everybodys_link_ends_at_the_cap_of_its_address(
    app: Flask, web_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = opened(web_database, NOBODY, most_newcomers=3)
    for _ in range(3):
        back = taking_part(app, link)
    client = visitors.browser(app)
    form = consent_form(client.get(link).text) | {"decision": "yes"}

    refused = client.post(link, data=form)

    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "3600")
    assert "Many people have just begun from this network" in refused.text
    indonesian = {"Accept-Language": "id"}
    theirs = consent_form(client.get(link, headers=indonesian).text) | {"decision": "yes"}
    in_indonesian = client.post(link, data=theirs, headers=indonesian).text
    assert "Banyak orang baru saja mulai dari jaringan ini" in in_indonesian
    assert count(web_database, Participant) == 3
    for _ in range(5):
        visitors.browser(app).post(link, data={"decision": "no"})
    assert declined(web_database) == 3
    assert back.get("/ask/").status_code == 200
    assert taking_part(app, link, elsewhere=True).get("/ask/").status_code == 200
    later = now() + timedelta(hours=1)
    monkeypatch.setattr(access, "now", lambda: later)
    form = consent_form(client.get(link).text) | {"decision": "yes"}  # another name: it was drawn
    assert client.post(link, data=form).status_code == 303


def test_nothing_that_is_stored_names_the_address_a_participant_came_from(
    app: Flask, web_database: Database, link: str
) -> None:
    client = taking_part(app, link, elsewhere=True)
    client.post("/ask/", data={"question": "Rumah?"})

    with web_database.reading() as session:
        stored = [str(tuple(row)) for table in Base.metadata.tables.values()
                  for row in session.execute(select(table))]  # fmt: skip
    assert stored
    assert [row for row in stored if "192.0.2.7" in row] == []


def test_nobody_agrees_to_a_text_they_have_not_read(
    stranger: FlaskClient, web_database: Database, link: str
) -> None:
    form = consent_form(stranger.get(link).text) | {"decision": "yes"}
    with web_database.writing() as session:
        study = studies.open_or_make(session, now())
        user_studies.write_consent(session, study, {"id": "Baru", "en": "Entirely new"}, now())
        session.commit()
    answer = stranger.post(link, data=form)

    assert answer.status_code == 409
    assert "Entirely new" in answer.text
    assert "read it again" in answer.text
    assert count(web_database, Participant) == 0


@pytest.mark.parametrize(
    ("pseudonym", "said"),
    [("", "Please fill this in."), ("x" * 41, "too long"), ("Melati", "Somebody else")],
)
def test_a_pseudonym_that_cannot_be_is_asked_for_again_with_all_that_was_typed(
    app: Flask, link: str, pseudonym: str, said: str
) -> None:
    first = visitors.browser(app)
    form = consent_form(first.get(link).text) | {"pseudonym": "Melati", "decision": "yes"}
    assert first.post(link, data=form).status_code == 303
    second = visitors.browser(app)
    form = consent_form(second.get(link).text) | {"pseudonym": pseudonym, "decision": "yes"}
    answer = second.post(link, data=form)

    assert answer.status_code == 422
    assert said in answer.text
    assert consent_form(answer.text)["personal"] == form["personal"]


def test_two_who_were_offered_the_same_pseudonym_both_come_in(
    app: Flask, link: str, web_database: Database
) -> None:
    """Both pages were opened before either of them agreed."""
    first, second = visitors.browser(app), visitors.browser(app)
    same = {"pseudonym": "Melati", "offered": "Melati", "decision": "yes"}
    forms = [consent_form(one.get(link).text) | same for one in (first, second)]

    answers = [one.post(link, data=form) for one, form in zip((first, second), forms, strict=True)]

    assert [answer.status_code for answer in answers] == [303, 303]
    with web_database.reading() as session:
        names = session.scalars(select(Participant.pseudonym)).all()
    assert len(set(names)) == 2
    assert "Melati" in names


@pytest.mark.parametrize("language", ["en", "id"])
def test_a_pseudonym_that_is_taken_is_refused_in_the_same_words_later(
    app: Flask, link: str, language: str
) -> None:
    first, second = (visitors.browser(app) for _ in "12")
    for client, name in ((first, "Melati"), (second, "Kenari")):
        form = consent_form(client.get(link).text) | {"pseudonym": name, "decision": "yes"}
        assert client.post(link, data=form).status_code == 303
    with speaking(language):
        said = str(PseudonymTaken())

    answer = second.post("/take-part/pseudonym", data={"pseudonym": "Melati"})
    told = {"Accept-Language": language}

    assert said in second.get(answer.headers["Location"], headers=told).text


def test_a_pseudonym_can_be_changed_later(app: Flask, link: str) -> None:
    client = taking_part(app, link)

    assert client.post("/take-part/pseudonym", data={"pseudonym": "Bulan"}).status_code == 303
    assert "Bulan" in client.get("/ask/").text


def test_one_more_way_back_is_shown_when_asked_for(app: Flask, link: str) -> None:
    page = taking_part(app, link).post("/take-part/link").text

    assert re.search(r"/take-part/[\w-]{32}", page)
    assert "<svg" in page


@pytest.mark.parametrize("path", ["/take-part/unknown", "/take-part/" + "x" * 32])
def test_wrong_links_let_nobody_in_and_keep_nobody_from_a_right_one(
    stranger: FlaskClient, link: str, path: str
) -> None:
    assert {stranger.get(path).status_code for _ in range(250)} == {404}
    assert stranger.post(path, data={"decision": "yes"}).status_code == 404

    assert stranger.get(link).status_code == 200


def test_a_device_handed_on_belongs_to_the_last_who_agreed(app: Flask, link: str) -> None:
    client = taking_part(app, link)
    first = re.search(
        r'class="rater"><span class="vh">[^<]*</span>([^<]+)', client.get("/ask/").text
    )
    assert first is not None
    page = client.get(link).text
    assert "On this device" in page
    client.post(link, data=consent_form(page) | {"decision": "yes", "pseudonym": "Fajar"})

    assert "Fajar" in client.get("/ask/").text


def test_whoever_takes_part_on_the_owner_s_device_is_not_the_owner(
    app: Flask, web_database: Database, link: str
) -> None:
    visitors.lock(web_database)
    owner = visitors.owner(app)
    owner.post(link, data=consent_form(owner.get(link).text) | {"decision": "yes"})

    assert owner.get("/ask/").status_code == 200
    refused = owner.get("/runs/")
    assert refused.status_code == 403
    assert "Your questions and their answers are on your own page." in refused.text
    assert "first page" not in refused.text


def test_while_it_is_closed_nobody_new_comes_in(
    app: Flask, stranger: FlaskClient, web_database: Database, link: str
) -> None:
    client = taking_part(app, link)
    opened(web_database, NOBODY, is_open=False)
    page = stranger.get(link).text

    assert "not open at the moment" in page
    assert 'value="yes"' not in page
    answer = client.post("/ask/", data={"question": "Rumah?"})
    assert answer.status_code == 409
    assert "accepts no further questions" in client.get("/ask/").text
