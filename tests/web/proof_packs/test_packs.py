"""The proof pack is offered where runs and figures are, and is the command line's."""

from __future__ import annotations

from flask.testing import FlaskClient

from tests.services.proof_packs.packs import verified
from webapp.db.engine import Database
from webapp.services.proof_packs import packs
from webapp.services.runs import reports
from webapp.services.study import studies


def test_the_pack_of_a_run_follows_the_rule_of_the_page(client: FlaskClient, run_id: str) -> None:
    client.post(f"/runs/{run_id}/queries/1/results/1/judgment", data={"relevance": "1"})
    page = client.get(f"/runs/{run_id}?part=exports&rule=majority").text
    answer = client.get(f"/runs/{run_id}/proof-pack.zip?rule=majority")

    assert f"/runs/{run_id}/proof-pack.zip?rule=majority" in page
    assert answer.content_type == "application/zip"
    assert f"proof_pack_{run_id}.zip" in answer.headers["Content-Disposition"]
    found = verified(answer.data)
    assert (found.equal, found.rule, found.runs) == (True, "majority", (run_id,))


def test_the_pack_of_the_study_is_the_services(
    client: FlaskClient, web_database: Database, run_id: str
) -> None:
    assert run_id
    answer = client.get("/study/proof-pack.zip")
    with web_database.reading() as session:
        study = studies.current(session)
        assert study is not None
        file = packs.of_study(session, study, reports.rule_of(session, study))

    assert answer.data == file.data
    assert verified(answer.data).equal


def test_it_is_offered_once_there_is_a_run(client: FlaskClient) -> None:
    for page in ("/runs/", "/study/standing"):
        assert "/study/proof-pack.zip" not in client.get(page).text
    assert client.get("/study/proof-pack.zip").status_code == 404


def test_pages_that_list_runs_or_raters_offer_it(client: FlaskClient, run_id: str) -> None:
    assert run_id
    for page in ("/runs/", "/study/standing"):
        text = client.get(page).text
        assert 'href="/study/proof-pack.zip"' in text
        assert "It names the raters" in text


def test_unknown_runs_and_rules_are_told(client: FlaskClient, run_id: str) -> None:
    assert client.get("/runs/unknown/proof-pack.zip").status_code == 404
    assert client.get(f"/runs/{run_id}/proof-pack.zip?rule=best").status_code == 400
