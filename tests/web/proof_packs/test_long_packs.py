"""A large pack has a page that shows how far it is; one may leave and come back."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.services.proof_packs.packs import verified
from tests.web.workers.progress_pages import Asked, assert_place
from webapp.db.engine import Database
from webapp.db.tables.runs import LongWork
from webapp.services.proof_packs import packs
from webapp.services.study import studies
from webapp.services.workers import jobs
from webapp.services.workers.loop import ALIVE
from webapp.web.frame.access import now
from webapp.web.frame.workers import workers

WAIT = 60
PART = {"HX-Request-Type": "partial"}


@pytest.fixture(autouse=True)
def _long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "LONG_FROM", 1)


@pytest.fixture(name="nobody_works")
def _nobody_works(app: Flask) -> None:
    """Nothing is begun any more."""
    assert workers(app).finish(WAIT)


def asked(client: FlaskClient, address: str) -> str:
    """Return the address of the page to which asking for a pack leads."""
    answer = client.get(address)
    assert answer.status_code == 303
    return answer.headers["Location"]


def test_a_large_pack_is_made_beside_the_requests_and_waits(
    app: Flask, client: FlaskClient, run_id: str
) -> None:
    page = asked(client, f"/runs/{run_id}/proof-pack.zip?rule=majority")
    assert workers(app).is_idle(WAIT)
    part = client.get(page, headers=PART).text

    assert f"Download proof_pack_{run_id}.zip" in part
    assert "hx-get" not in part
    assert "<html" not in part
    answer = client.get(f"{page}/file")
    assert answer.content_type == "application/zip"
    assert f"proof_pack_{run_id}.zip" in answer.headers["Content-Disposition"]
    found = verified(answer.data)
    assert (found.equal, found.rule, found.runs) == (True, "majority", (run_id,))


def test_the_same_link_leads_back_until_a_verdict_changes(
    app: Flask, client: FlaskClient, run_id: str
) -> None:
    page = asked(client, "/study/proof-pack.zip")
    assert workers(app).is_idle(WAIT)
    assert asked(client, "/study/proof-pack.zip") == page

    client.post(f"/runs/{run_id}/queries/1/results/1/judgment", data={"relevance": "1"})

    assert asked(client, "/study/proof-pack.zip") != page
    assert client.get(page).status_code == 404


@pytest.mark.usefixtures("nobody_works", "run_id")
def test_an_open_file_asks_after_itself_and_works_without_a_script(client: FlaskClient) -> None:
    page = asked(client, "/study/proof-pack.zip")
    text = client.get(page).text

    assert f'hx-get="{page}" hx-trigger="every 1s"' in text
    assert f'<noscript><a href="{page}">Look now</a></noscript>' in text
    assert "It begins in a moment." in text
    assert client.get(f"{page}/file").status_code == 404


@pytest.mark.usefixtures("nobody_works", "run_id")
def test_how_far_it_is_is_shown(client: FlaskClient, web_database: Database) -> None:
    page = asked(client, "/study/proof-pack.zip")
    with web_database.writing() as session:
        row = session.get_one(LongWork, page.rpartition("/")[2])
        row.state, row.attempt, row.steps_done, row.steps = "asking", 1, 3, 10
        row.alive_until = now() + ALIVE
        session.commit()
    part = client.get(page, headers=PART).text

    assert '<progress value="3" max="10"' in part
    assert "It is being made: 3 of 10 steps done." in part


def test_a_failure_has_its_remedy(app: Flask, client: FlaskClient, web_database: Database) -> None:
    with web_database.writing() as session:
        study = studies.open_or_make(session, now())
        wanted = {"run": "gone", "rule": "majority"}
        work_id = jobs.enqueue(session, study, "proof pack", wanted, now())
        session.commit()
    client.get(f"/files/{work_id}")  # looking at it has it go on
    assert workers(app).is_idle(WAIT)
    part = client.get(f"/files/{work_id}", headers=PART).text

    assert "This study has no run gone" in part
    assert "Try again" in part


@pytest.mark.usefixtures("nobody_works", "run_id")
def test_it_can_be_given_up(client: FlaskClient) -> None:
    page = asked(client, "/study/proof-pack.zip")

    assert client.post(f"{page}/give-up").status_code == 303
    assert client.get(page).status_code == 404


@pytest.mark.usefixtures("run_id")
def test_a_link_of_another_site_begins_no_work(client: FlaskClient) -> None:
    elsewhere = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    answer = client.get("/study/proof-pack.zip", headers=elsewhere)

    assert "Location" not in answer.headers
    assert "Go on" in answer.text


@pytest.mark.usefixtures("nobody_works")
@pytest.mark.parametrize(
    ("kind", "wanted", "at"),
    [
        ("proof pack", {"run": None, "rule": "majority"}, "/runs/"),
        ("reading", {"names": ["a.json"], "tokens": ["a"]}, "/runs/import"),
    ],
)
def test_its_page_is_in_the_menu_where_it_was_begun(
    client: FlaskClient, web_database: Database, kind: str, wanted: dict[str, Any], at: str
) -> None:
    assert_place(client, web_database, Asked(kind, wanted), at=at, back=at)


def test_a_server_that_starts_goes_on_with_what_was_left(
    app: Flask, client: FlaskClient, web_database: Database, run_id: str
) -> None:
    with web_database.writing() as session:
        study = studies.open_or_make(session, now())
        wanted = {"run": run_id, "rule": "majority"}
        work_id = jobs.enqueue(session, study, "proof pack", wanted, now())
        session.commit()
    workers(app).serve()
    assert workers(app).is_idle(WAIT)

    assert verified(client.get(f"/files/{work_id}/file").data).equal
