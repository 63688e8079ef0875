"""The page of the rating plan, without questions too, and the settled orders where they are."""

from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.services.runs.runs import card, query
from tests.web import places
from tests.web.conftest import stored
from webapp.db.engine import Database

PAGE = "/study/planning"


def test_a_study_without_questions_says_so(client: FlaskClient) -> None:
    page = client.get(PAGE)
    assert page.status_code == 200
    assert "There are no questions yet." in page.text


def test_a_plan_can_be_made_before_there_are_questions(client: FlaskClient) -> None:
    page = client.get(PAGE, query_string={"deviation": "0.3", "difference": "0.1"}).text

    assert "A difference of 0.10 takes 73 questions" in page
    assert "<svg" in page


def test_each_question_set_has_a_plan_of_its_own(
    client: FlaskClient, web_database: Database
) -> None:
    for text in ("Question", "Another"):
        stored(web_database, [query(n, card("a"), text=f"{text} {n}") for n in range(1, 4)])
    client.post(f"{PAGE}/1/sample", data={"kind": "fixed", "size": "2"})

    assert "It drew 2 of 3 questions at random." in client.get(f"{PAGE}?set=1").text
    newest = client.get(PAGE).text
    assert "All questions are rated, in their usual order." in newest
    assert "Question set B" in newest
    assert client.get(f"{PAGE}?set=9").status_code == 404


def compared(database: Database) -> tuple[str, str]:
    """Store two runs of two questions, a card of its own in each."""
    first, second = (
        stored(database, [query(n, card(f"{method}{n}")) for n in (1, 2)], method=method)
        for method in ("hybrid", "api_only")
    )
    return first, second


def judge(client: FlaskClient, run: str, number: int, said: str) -> None:
    address = f"/runs/{run}/queries/{number}/results/1/judgment"
    data = {"relevance": said, "event_id": f"{run}-{number}"}
    assert client.post(address, data=data).status_code == 303


def test_what_is_settled_is_on_the_plan_the_progress_page_and_the_comparison(
    client: FlaskClient, web_database: Database
) -> None:
    first, second = compared(web_database)
    comparison = f"/comparisons/?runs={first}&runs={second}&part=settled"
    places = (PAGE, "/study/standing", comparison)
    for place in places:
        page = client.get(place).text
        assert "No order is settled yet: the open cards can still change every one." in page, place
        assert "The rest depends on 4 cards in 2 questions: 1, 2." in page, place
    assert "The questions that can change most: 1, 2." in client.get(PAGE).text
    for number in (1, 2):
        judge(client, first, number, "1")
    judge(client, second, 1, "0")

    for place in places:
        page = client.get(place).text
        assert "Every order is settled: no card that is still open can change it." in page, place
        assert "settled: Hybrid is ahead" in page, place
        assert "Judged so far: 3 of 4 distinct cards and empty lists." in page, place

    found = client.get(f"/comparisons/report.json?runs={first}&runs={second}").json
    assert found is not None
    assert found["settled"][0] == {
        "runs": [first, second],
        "figure": "mean_precision_at_5",
        "settled": True,
        "ahead": first,
        "min": 0.5,  # 1 - 0 and 1 - 1
        "max": 1.0,
        "n": 2,
        "open_cards": 0,
        "questions": [],
        "judged": 3,
        "of": 4,
        "rule": None,  # rated in the usual order
    }
    markdown = client.get(f"/comparisons/report.markdown?runs={first}&runs={second}").text
    assert "Every order is settled" in markdown


def test_one_run_has_nothing_to_settle(client: FlaskClient, run_id: str) -> None:
    assert run_id
    assert "settled-title" not in client.get(PAGE).text
    assert "settled-title" not in client.get("/study/standing").text


def test_an_entered_deviation_says_what_the_questions_can_show(
    client: FlaskClient, run_id: str
) -> None:
    assert run_id
    wish = {"figure": "mrr", "difference": "0,15", "power": "80", "deviation": "0.28"}
    page = client.get("/study/planning", query_string=wish).text
    # statsmodels: 30 questions, see tests/metrics/planning/test_power.py.
    assert "A difference of 0.15 takes 30 questions at a power of 80%, tested at 5%." in page
    assert "With 1 question you can show" not in page  # one question shows nothing
    assert '<svg xmlns="http://www.w3.org/2000/svg"' in page
    assert 'id="table-plan"' in page


def test_before_anything_is_rated_the_page_says_what_is_missing(
    client: FlaskClient, run_id: str
) -> None:
    assert run_id
    page = client.get("/study/planning").text
    assert "Nothing is known yet of how much two runs differ" in page
    assert 'id="table-plan"' not in page


def test_a_wrong_value_is_named_at_its_field(client: FlaskClient, run_id: str) -> None:
    assert run_id
    wish = {"difference": "much", "raters": "0", "figure": "none", "power": "1", "pair": "a~b"}
    page = client.get("/study/planning", query_string=wish)
    assert page.status_code == 200
    assert page.text.count('aria-invalid="true"') == 2
    assert "This value cannot be used here." in page.text
    assert "This number is too small or too large." in page.text


@pytest.mark.parametrize(
    ("path", "says", "leads_to"),
    [
        ("/study/planning", "How many judgments are enough", "/runs/import"),
    ],
)
def test_an_empty_page_says_what_will_stand_there_and_how_to_get_it(
    app: Flask, path: str, says: str, leads_to: str
) -> None:
    places.assert_explained(app, path, says, leads_to)
