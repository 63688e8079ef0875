from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from relevansi.db.engine import Database
from relevansi.services.study import studies
from tests.page import Page
from tests.services.planning.helped import BY_MACHINE, BY_PEOPLE, drawn, machine, study_of_two_runs
from tests.services.planning.helped import judge as judge_all
from tests.services.runs.runs import card, query
from tests.stored_studies import open_study
from tests.web.conftest import judge, stored

PAGE = "/study/planning"


def section(client: FlaskClient, part: str, address: str = PAGE) -> str:
    return Page(client.get(address)).one(f"#{part}, section:has(> #{part})").text


def test_a_plan_can_be_made_before_there_are_questions(client: FlaskClient) -> None:
    empty = Page(client.get(PAGE)).one("main")
    assert "How many questions are enough" in empty
    assert "/runs/import" in empty.links()
    page = Page(client.get(PAGE, query_string={"deviation": "0.3", "difference": "0,1"}))

    # G*Power, see tests/cli/planning/test_planning.py.
    assert "A difference of 0.10 takes 73 questions" in page
    assert page.has("#table-plan")


def test_a_wrong_value_is_named_at_its_field(client: FlaskClient, run_id: str) -> None:
    assert run_id
    assert not Page(client.get(PAGE)).has("#table-plan")  # nothing is rated yet
    wish = {"difference": "much", "raters": "0", "figure": "none", "power": "1", "pair": "a~b"}
    response = client.get(PAGE, query_string=wish)
    assert response.status_code == 200
    assert Page(response).count("[aria-invalid=true]") == Page(response).count(".error") == 2


def test_each_question_set_has_a_plan_of_its_own(
    client: FlaskClient, web_database: Database
) -> None:
    for text in ("Question", "Another"):
        stored(web_database, [query(n, card("a"), text=f"{text} {n}") for n in range(1, 4)])
    client.post(f"{PAGE}/1/sample", data={"kind": "fixed", "size": "2"})

    assert "It drew 2 of 3 questions at random." in section(client, "sample", f"{PAGE}?set=1")
    newest = client.get(PAGE).text
    assert "Draw the sample" in newest
    assert "Question set B" in newest
    assert client.get(f"{PAGE}?set=9").status_code == 404


@pytest.fixture(name="runs")
def _runs(web_database: Database) -> tuple[str, str]:
    first, second = (
        stored(
            web_database,
            [query(n, card(f"{method}{n}"), text=f"Question {n}") for n in range(1, 7)],
            method=method,
        )
        for method in ("hybrid", "api")
    )
    return first, second


def test_what_is_settled_is_on_the_plan_the_progress_page_and_the_comparison(
    client: FlaskClient, runs: tuple[str, str]
) -> None:
    selection = f"runs={runs[0]}&runs={runs[1]}"
    where = (PAGE, "/study/standing")
    comparison = f"/comparisons/?{selection}&part=details"
    for place in where:
        assert "12 cards in 6 questions: 1, 2, 3, 4, 5, 6" in client.get(place).text, place
    assert "The questions that can change most: 1, 2." in section(client, "settled")
    assert "0 of 4 orders are fixed." in client.get(comparison).text
    for number in range(1, 7):
        judge(client, runs[0], number)
    judge(client, runs[1], 1, relevance="0")

    for place in where:
        page = client.get(place).text
        assert "order fixed: Hybrid above" in page, place
        assert "Judged so far: 7 of 12 distinct cards and empty lists." in page, place
    assert "0 of 4 orders are fixed." not in client.get(comparison).text
    json = client.get(f"/comparisons/report.json?{selection}").json
    assert json is not None
    assert json["settled"][0] == {
        "runs": [*runs],
        "figure": "mean_precision_at_5",
        "settled": True,
        "ahead": runs[0],
        "equal": False,
        "min": pytest.approx(1 / 6),  # 1 - 0 once of six, and 1 - 1
        "max": 1.0,
        "n": 6,
        "open_cards": 0,
        "questions": [],
        "judged": 7,
        "of": 12,
    }


def test_a_sample_is_drawn_and_closed(client: FlaskClient, runs: tuple[str, str]) -> None:
    page = client.get(PAGE).text
    assert "Draw the sample" in page
    drawn = {"kind": "fixed", "size": "6"}

    page = client.post(f"{PAGE}/1/sample", data=drawn, follow_redirects=True).text

    assert "It drew 6 of 6 questions at random." in page
    assert "0 of 6 questions drawn are rated; the other questions are not asked." in page

    for run_id, relevance in zip(runs, "10", strict=True):
        for n in range(1, 7):
            judge(client, run_id, n, relevance=relevance)

    page = client.get(PAGE).text
    assert "6 of 6 questions drawn are rated" in page
    assert "[1.00; 1.00]" in page  # the first run's MRR, all questions drawn
    query = {"runs": [*runs], "part": "details"}
    compared = client.get("/comparisons/", query_string=query).text
    assert "Sampled questions" in compared
    report = client.get("/comparisons/report.json", query_string={"runs": [*runs]}).json
    assert report is not None
    assert report["sample"]["rule"]["n"] == 6

    page = client.post(f"{PAGE}/1/rule/end", follow_redirects=True).text
    assert "End this rule" not in page
    assert "1 earlier rule" in page
    assert "ended after 12 verdicts" in page
    assert "It drew 6 of 6 questions at random." in page


def test_what_cannot_be_drawn_is_refused(client: FlaskClient, runs: tuple[str, str]) -> None:
    wish = {"kind": "fixed", "size": "7"}
    assert client.post(f"{PAGE}/1/sample", data=wish).status_code == 422
    assert client.post(f"{PAGE}/9/sample", data=wish).status_code == 404
    for wish in ({"kind": "fixed"}, {"kind": "sequence", "size": "2"}):
        assert client.post(f"{PAGE}/1/sample", data=wish).status_code == 400
    assert client.post(f"{PAGE}/1/rule/end").status_code == 404
    client.post(f"{PAGE}/1/sample", data={"kind": "fixed", "size": "2"})
    assert client.get(f"{PAGE}/1/sample").location == f"{PAGE}?set=1#sample"
    client.post(f"{PAGE}/1/rule/end")
    judge(client, runs[0], 1)
    assert "Draw the sample" not in client.get(PAGE).text
    wish = {"kind": "fixed", "size": "2"}
    assert client.post(f"{PAGE}/1/sample", data=wish).status_code == 409


def test_a_question_outside_the_sample_opens_by_its_address_and_says_so(
    client: FlaskClient, web_database: Database
) -> None:
    queries = [query(n, card(f"a{n}"), text=f"Question {n}") for n in range(1, 4)]
    queries.append(query(4, text="Question 4"))  # an empty list
    run_id = stored(web_database, queries)  # one run: it is rated openly
    client.post(f"{PAGE}/1/sample", data={"kind": "machine_help", "size": "2"})
    figures = client.get(f"/runs/{run_id}/metrics.json").json
    assert figures is not None
    outside = figures["not_asked"]
    inside = [figure["query_id"] for figure in figures["queries"]]
    remark = "Outside the sample"

    page = client.get(f"/runs/{run_id}").text
    assert "Over all 4 questions of the run the coverage is 0.75" in page  # 3 lists of 4
    assert "2 questions are not asked" in client.get(f"/runs/{run_id}/offline.html").text
    page = client.get(f"/runs/{run_id}/queries/{outside[0]}").text
    assert remark in page
    assert Page(page).one("title").text.startswith("Question")  # without a number
    sampled = Page(client.get(f"/runs/{run_id}/queries/{inside[0]}"))
    assert remark not in sampled
    assert "Question 1 of 2" in sampled
    following = f"/runs/{run_id}/queries/{inside[1]}"
    assert sampled.links("[rel=next][data-walk][aria-keyshortcuts=l]") == [following]
    go_on = f"a[href^='/runs/{run_id}/queries/{inside[0]}']"
    assert Page(client.get("/runs/")).has(go_on)


def rated(database: Database, *, sample: bool = False, unjudged: int = 0) -> None:
    with open_study(database) as (session, study):
        owner = studies.raters(session, study)[0]
        runs = study_of_two_runs(session, study)
        if sample:
            drawn(session, owner, runs[0])
        machines = machine(session, study), machine(session, study, "Other")
        by_machine = {n: letters for n, letters in BY_MACHINE.items() if n <= 8 - unjudged}
        for run in runs:
            judge_all(session, machines[0], run, by_machine)
            judge_all(session, owner, run, BY_PEOPLE)
        judge_all(session, machines[1], runs[0], {1: "10"})


def test_figures_stand_beside_those_of_people_alone_with_the_rule(
    client: FlaskClient, web_database: Database
) -> None:
    rated(web_database, sample=True)

    words = section(client, "machine_help")

    assert "Rule: People with a machine's help, chosen" in words
    assert "seed 1936. It drew 4 of 8 questions at random." in words
    assert "It was chosen before the first verdict." in words
    assert "Not valid" not in words
    # P@5: people 1, 1/2, 1/2, 1; the machine 1, 1/2, 0, 1 and 1/2, 1, 0, 1/2: cov 3/32, var 39/224,
    # weight 7/26, so 3/4 + 7/26 x (1/2 - 5/8).
    assert re.search(r"Precision@5, Hybrid 0\.72 \[0\.\d+; 0\.\d+\] 0\.75 \[0\.\d+;", words)
    assert " 0.27 " in words
    assert "4 of 8" in words


def test_a_machine_with_cards_left_is_said_to_have_them_and_another_can_be_chosen(
    client: FlaskClient, web_database: Database
) -> None:
    rated(web_database, sample=True, unjudged=2)

    page = Page(client.get(PAGE))
    words = section(client, "machine_help")

    assert "Mesin has cards left in 2 of 8 questions." in words
    assert "The machine has cards left." in words
    of_second = section(client, "machine_help", page.link("Other"))
    assert "Other has cards left in 8 of 8 questions." in of_second
