"""The page of the rating plan: a rule is chosen and ended there, each with a plain sentence."""

from __future__ import annotations

from flask.testing import FlaskClient

from tests.services.runs.runs import card, query
from tests.web.conftest import stored
from webapp.db.engine import Database
from webapp.services.planning import rules
from webapp.services.study import studies

PAGE = "/study/planning"


def test_a_study_without_questions_says_so(client: FlaskClient) -> None:
    page = client.get(PAGE)
    assert page.status_code == 200
    assert "There are no questions yet." in page.text


def test_the_owner_chooses_by_effect_and_ends_it(client: FlaskClient, run_id: str) -> None:
    assert run_id
    page = client.get(PAGE).text
    assert "All questions are rated, in their usual order." in page
    assert 'aria-current="page">Rating plan</a>' in page

    chosen = client.post(f"{PAGE}/1/rule", data={"kind": "by_effect"}, follow_redirects=True)

    assert chosen.request.full_path == f"{PAGE}?set=1"
    assert "<strong>By effect.</strong>" in chosen.text
    assert "before the first verdict; seed " in chosen.text
    ended = client.post(f"{PAGE}/1/rule/end", follow_redirects=True).text
    assert "All questions are rated, in their usual order." in ended
    assert "1 earlier rule" in ended
    assert "ended after 0 verdicts" in ended


def test_after_a_verdict_the_page_says_why_a_rule_is_too_late(
    client: FlaskClient, run_id: str
) -> None:
    address = f"/runs/{run_id}/queries/1/results/1/judgment"
    client.post(address, data={"relevance": "1", "event_id": "first"})

    page = client.get(PAGE).text
    assert "People have given 1 verdict on these questions." in page
    assert "Rate by effect" not in page
    refused = client.post(f"{PAGE}/1/rule", data={"kind": "by_effect"})
    assert refused.status_code == 409
    assert "This rule can no longer be chosen" in refused.text


def test_what_no_page_sends_is_refused(client: FlaskClient, run_id: str) -> None:
    assert run_id
    assert client.post(f"{PAGE}/1/rule", data={"kind": "best"}).status_code == 400
    assert client.post(f"{PAGE}/9/rule", data={"kind": "by_effect"}).status_code == 404
    assert client.post(f"{PAGE}/1/rule/end").status_code == 404
    assert client.get(f"{PAGE}?set=9").status_code == 404
    assert client.get(f"{PAGE}/1/rule").location == f"{PAGE}?set=1"


def test_each_question_set_has_a_plan_of_its_own(
    client: FlaskClient, web_database: Database
) -> None:
    stored(web_database, [query(1, card("a"))])
    stored(web_database, [query(1, card("a"), text="Another")])
    client.post(f"{PAGE}/1/rule", data={"kind": "by_effect"})

    assert "<strong>By effect.</strong>" in client.get(f"{PAGE}?set=1").text
    newest = client.get(PAGE).text
    assert "<strong>By effect.</strong>" not in newest
    assert "Question set B" in newest
    with web_database.reading() as session:
        study = studies.current(session)
        assert study is not None
        first, second = rules.question_sets(session, study)
        assert rules.in_force(session, first.id) is not None
        assert rules.in_force(session, second.id) is None
