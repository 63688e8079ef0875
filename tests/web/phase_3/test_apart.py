"""Participants' questions and verdicts appear in no run, rater or figure of the study."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient

from relevansi.config import resource
from relevansi.db.engine import Database
from relevansi.records import Relevance
from relevansi.services.judging import judgments
from relevansi.services.phase_3 import questionnaires
from relevansi.web.frame import access
from tests.conftest import NOW
from tests.page import Page
from tests.services.phase_3.participants import ask_question, opened, taking_part
from tests.services.runs.runs import click
from tests.stored_studies import open_study
from tests.web import visitors
from tests.web.conftest import QUERIES, in_english, stored
from tests.web.phase_3 import participants
from tests.web.roles import assert_closed, refused_at_open_doors, stored_by_links_from_elsewhere

SEEDS = resource("seeds") / "runs"
PAGES = ("/", "/runs/", "/raters/", "/study/standing", "/study/assignments/", "/agreement",
         "/adjudications/", "/history/", "/history/events.csv", "/comparisons/", "/runs/import",
         "/study/")  # fmt: skip


def phase_3(database: Database) -> None:
    """Let two people take part, whose questions are the study's own in their very words."""
    with open_study(database) as (session, study):
        opened(session, study)
        for name in ("Melati", "Jati"):
            person = taking_part(session, study, name)
            rater, later = person.rater, NOW + timedelta(minutes=1)
            assert rater is not None
            position = ask_question(session, person, "Question 1", now=later)
            assert person.run_id is not None
            verdict, event = Relevance.RELEVANT, click(f"c{name}", minute=2)
            judgments.judge(session, rater, person.run_id, position, 1, verdict, event)
            questionnaires.answer(session, rater, "sus 1", "5", click(f"s{name}", minute=3))


def test_every_page_of_the_study_stays_equal(
    app: Flask, web_database: Database, run_id: str
) -> None:
    second_run = stored(web_database, QUERIES, method="vector_only")
    visitors.lock(web_database)
    owner, ani = visitors.owner(app), visitors.invited(app, "Ani")
    task = ani.get("/rate/").headers["Location"]
    addresses = [
        *PAGES,
        *(f"/runs/{run}" for run in (run_id, second_run)),
        *(f"/runs/{run_id}/{name}" for name in ("metrics.json", "export.csv", "export.json")),
        f"/comparisons/?runs={run_id}&runs={second_run}",
    ]

    def pages() -> dict[str, bytes]:
        responses = {address: owner.get(address) for address in addresses}
        responses |= {f"Ani: {path}": ani.get(path) for path in ("/", task, "/history/")}
        assert {response.status_code for response in responses.values()} == {200}
        return {address: _timeless(response.data) for address, response in responses.items()}

    before = pages()
    phase_3(web_database)
    after = pages()

    assert [address for address, page in before.items() if page != after[address]] == []


def _timeless(page: bytes) -> bytes:
    """Return a page without the time of day at which it was shown."""
    return re.sub(rb"\d{1,2}:\d\d", b"", page)


def test_a_later_run_joins_no_participant_s_questions(app: Flask, web_database: Database) -> None:
    phase_3(web_database)
    run_id = stored(web_database, QUERIES[:1])
    page = in_english(app).get(f"/runs/{run_id}")  # nobody is signed in: links were made

    assert page.status_code == 303
    visitors.lock(web_database)
    text = visitors.owner(app).get(f"/runs/{run_id}/queries/1").text
    assert "Question 1" in text
    assert "rumah-cemara" not in text


@pytest.fixture(name="participant")
def _participant(app: Flask, run_id: str) -> FlaskClient:
    """A participant of a study with a run, the owner's password and two raters."""
    assert run_id
    visitors.lock(app.extensions["database"])
    link = participants.opened(app.extensions["database"], participants.NOBODY)
    return participants.taking_part(app, link)


def test_doors_open_and_close_as_listed(app: Flask, participant: FlaskClient, run_id: str) -> None:
    assert refused_at_open_doors(app, participant, "participant") == []
    assert_closed(app, participant, "participant", run_id)


def test_foreign_links_store_nothing(app: Flask, participant: FlaskClient, run_id: str) -> None:
    assert stored_by_links_from_elsewhere(app, participant, run_id) == {"own_questions.look"}


def test_pages_say_whose_they_are_by_a_name_that_says_nothing_else(app: Flask, run_id: str) -> None:
    """Owner, rater and participant differ, a stranger has none; the same page to page."""
    visitors.lock(app.extensions["database"])
    link = participants.opened(app.extensions["database"], participants.NOBODY)
    responses = [
        visitors.owner(app).get(f"/runs/{run_id}/queries/1"),
        visitors.invited(app, "Ani").get("/history/"),
        participants.taking_part(app, link).get("/ask/"),
    ]
    stranger = visitors.browser(app).get("/sign-in")

    keys = [response.headers[access.RATER] for response in responses]
    assert [Page(response)["data-rater"] for response in responses] == keys
    assert all(re.fullmatch("[0-9a-f]{16}", key) for key in keys)
    assert len(set(keys)) == 3
    assert Page(stranger)["data-rater"] == ""
    assert access.RATER not in stranger.headers


def test_pages_for_everybody_lead_a_participant_to_their_own(participant: FlaskClient) -> None:
    lost, help_page = Page(participant.get("/nothing")), Page(participant.get("/help/"))

    assert "/ask/" in lost.links()
    assert "/runs/" not in lost.links()
    assert "/help/participants" in help_page.links("footer a")
