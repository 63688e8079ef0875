from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient

from relevansi.db.engine import Database
from relevansi.db.tables.runs import LongWork
from relevansi.services.proof_packs import packs
from relevansi.services.workers import jobs
from relevansi.services.workers.loop import LEASE_TIME
from relevansi.web.frame.access import now
from relevansi.web.frame.workers import workers
from tests.page import Page
from tests.services.proof_packs.packs import verified
from tests.stored_studies import open_study
from tests.web.conftest import PART, judge

WAIT = 60


def test_a_small_pack_is_the_answer_itself(client: FlaskClient, run_id: str) -> None:
    judge(client, run_id, 1)
    address = f"/runs/{run_id}/proof-pack.zip?rule=majority"

    assert address in client.get(f"/runs/{run_id}?rule=majority").text
    assert "/study/proof-pack.zip" in Page(client.get("/study/standing")).links()
    response = client.get(address)
    assert response.content_type == "application/zip"
    assert f"proof_pack_{run_id}.zip" in response.headers["Content-Disposition"]
    verification = verified(response.data)
    assert (verification.equal, verification.rule) == (True, "majority")
    assert verification.runs == [run_id]
    assert verified(client.get("/study/proof-pack.zip").data).equal
    assert client.get("/runs/unknown/proof-pack.zip").status_code == 404
    assert client.get(f"/runs/{run_id}/proof-pack.zip?rule=best").status_code == 400


def test_without_a_run_there_is_no_pack(client: FlaskClient) -> None:
    for page in ("/runs/", "/study/standing"):
        assert "/study/proof-pack.zip" not in client.get(page).text
    assert client.get("/study/proof-pack.zip").status_code == 404


def test_a_large_pack_is_made_in_the_background_until_a_verdict_changes(
    app: Flask, client: FlaskClient, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "LONG_FROM", 1)
    address = f"/runs/{run_id}/proof-pack.zip?rule=majority"
    page = client.get(address).headers["Location"]
    assert workers(app).is_idle(WAIT)
    assert client.get(address).headers["Location"] == page
    response = client.get(f"{page}/file")

    assert response.content_type == "application/zip"
    assert f"proof_pack_{run_id}.zip" in response.headers["Content-Disposition"]
    assert verified(response.data).equal
    judge(client, run_id, 1)
    assert client.get(address).headers["Location"] != page
    assert client.get(page).status_code == 404


def test_a_link_from_another_site_begins_no_pack(
    client: FlaskClient, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_id
    monkeypatch.setattr(packs, "LONG_FROM", 1)
    elsewhere = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    response = client.get("/study/proof-pack.zip", headers=elsewhere)

    assert "Location" not in response.headers
    assert "Go on" in response.text


def test_a_job_shows_how_far_it_is_and_can_be_cancelled(
    app: Flask, client: FlaskClient, web_database: Database, run_id: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    assert run_id
    monkeypatch.setattr(packs, "LONG_FROM", 1)
    assert workers(app).finish(WAIT)  # nothing is begun any more
    page = client.get("/study/proof-pack.zip").headers["Location"]
    html = Page(client.get(page))
    assert html.one("[hx-trigger='every 1s']")["hx-get"] == page
    assert html.links("noscript a") == [page]
    assert client.get(f"{page}/file").status_code == 404
    with web_database.writing() as session:
        row = session.get_one(LongWork, page.rpartition("/")[2])
        row.state, row.attempt, row.steps_done, row.steps = "asking", 1, 3, 10
        row.alive_until = now() + LEASE_TIME
        session.commit()
    assert Page(client.get(page, headers=PART)).has("progress[value='3'][max='10']")

    assert client.post(f"{page}/give-up").status_code == 303
    assert client.get(page).status_code == 404


def test_a_job_that_waited_for_a_server_is_done_or_fails_with_a_remedy(
    app: Flask, client: FlaskClient, web_database: Database, run_id: str
) -> None:
    with open_study(web_database) as (session, study):
        orders = [{"run": run, "rule": "majority"} for run in (run_id, "gone")]
        packed, failed = [jobs.enqueue(session, study, jobs.PACK, order, now()) for order in orders]
    workers(app).serve()
    assert workers(app).is_idle(WAIT)

    assert client.get(f"/files/{packed}/file").content_type == "application/zip"
    assert "Try again" in client.get(f"/files/{failed}", headers=PART).text
