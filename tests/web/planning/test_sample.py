"""A sample on the page of the rating plan: drawn, extended, closed, and named in a comparison."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from tests.services.runs.runs import card, query
from tests.web.conftest import stored
from webapp.db.engine import Database

PAGE = "/study/planning"


@pytest.fixture(name="runs")
def _runs(web_database: Database) -> tuple[str, str]:
    """Two runs of six questions, each with a card of its own."""
    found = []
    for method in ("api", "hybrid"):
        queries = [query(n, card(f"{method}{n}"), text=f"Question {n}") for n in range(1, 7)]
        found.append(stored(web_database, queries, method=method))
    return found[0], found[1]


def test_a_sample_is_drawn_extended_and_closed(client: FlaskClient, runs: tuple[str, str]) -> None:
    page = client.get(PAGE).text
    assert "Draw the sample" in page
    drawn = {"kind": "fixed", "size": "3"}

    page = client.post(f"{PAGE}/1/sample", data=drawn, follow_redirects=True).text

    assert "It drew 3 of 6 questions at random." in page
    assert "0 of 3 questions drawn are rated; the other questions are not asked." in page
    page = client.post(f"{PAGE}/1/sample/more", data={"more": "3"}, follow_redirects=True).text
    assert "It drew 6 of 6 questions at random." in page
    assert "How many more to draw" not in page

    for run_id, relevance in zip(runs, "10", strict=True):
        for n in range(1, 7):
            address = f"/runs/{run_id}/queries/{n}/results/1/judgment"
            client.post(address, data={"relevance": relevance, "event_id": f"{run_id}{n}"})

    page = client.get(PAGE).text
    assert "6 of 6 questions drawn are rated" in page
    assert "[1.00; 1.00]" in page  # the api's MRR, all questions drawn
    compared = client.get("/comparisons/", query_string={"runs": [*runs]}).text
    assert "Sampled questions" in compared
    report = client.get("/comparisons/report.json", query_string={"runs": [*runs]}).json
    assert report is not None
    assert report["sample"]["rule"]["n"] == 6

    page = client.post(f"{PAGE}/1/rule/end", follow_redirects=True).text
    assert "End this rule" not in page
    assert "1 earlier rule" in page
    assert "ended after 12 verdicts" in page
    assert "It drew 6 of 6 questions at random." in page


def test_a_fixed_sample_leaves_questions_unasked_in_the_comparison(
    client: FlaskClient, runs: tuple[str, str]
) -> None:
    wish = {"kind": "fixed", "size": "2", "stratified": "1"}
    page = client.post(f"{PAGE}/1/sample", data=wish, follow_redirects=True).text
    assert "The figures follow when all are: the size was fixed." in page

    compared = client.get("/comparisons/", query_string={"runs": [*runs]}).text

    assert "Not asked, as the study" in compared
    run = client.get(f"/runs/{runs[0]}").text
    assert run.count("not put to raters") == 4
    assert run.count('<span class="tag open">') == 2


def test_after_a_verdict_no_sample_is_offered(client: FlaskClient, runs: tuple[str, str]) -> None:
    address = f"/runs/{runs[0]}/queries/1/results/1/judgment"
    client.post(address, data={"relevance": "1", "event_id": "first"})
    page = client.get(PAGE).text
    assert "A sample is drawn before the first verdict" in page
    assert "Draw the sample" not in page
    refused = client.post(f"{PAGE}/1/sample", data={"kind": "fixed", "size": "2"})
    assert refused.status_code == 409


def test_what_cannot_be_drawn_is_refused(client: FlaskClient, runs: tuple[str, str]) -> None:
    assert runs
    wish = {"kind": "fixed", "size": "7"}
    assert client.post(f"{PAGE}/1/sample", data=wish).status_code == 422
    assert client.post(f"{PAGE}/9/sample", data=wish).status_code == 404
    for wish in ({"kind": "fixed"}, {"kind": "sequence", "size": "2"}):
        assert client.post(f"{PAGE}/1/sample", data=wish).status_code == 400
    assert client.post(f"{PAGE}/1/sample/more", data={"more": "1"}).status_code == 404
    assert client.post(f"{PAGE}/1/rule/end").status_code == 404
    client.post(f"{PAGE}/1/sample", data={"kind": "fixed", "size": "2"})
    other = {"more": "1", "category": "none"}
    assert client.post(f"{PAGE}/1/sample/more", data=other).status_code == 422
    assert client.get(f"{PAGE}/1/sample/more").location == f"{PAGE}?set=1#sample"


def test_what_was_not_drawn_is_missing_on_no_page(
    client: FlaskClient, runs: tuple[str, str]
) -> None:
    client.post(f"{PAGE}/1/sample", data={"kind": "fixed", "size": "2"})
    run_id = runs[0]
    table = client.get(f"/runs/{run_id}").text
    assert "4 questions are not asked" in table
    assert table.count("not put to raters · not counted") == 4
    assert "Over 0 complete of 2 questions" in table
    assert "6 questions (2 in the sample)" in client.get("/runs/").text
    figures = client.get(f"/runs/{run_id}/metrics.json").json
    assert figures is not None
    (asked, left_out) = figures["queries"], figures["not_asked"]
    assert (len(asked), len(left_out), figures["n_queries"]) == (2, 4, 2)
    rated = client.get(f"/runs/{run_id}/export.csv").text.splitlines()
    assert [int(line.split(",")[0]) for line in rated[1:]] == [one["query_id"] for one in asked]


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
    inside = [one["query_id"] for one in figures["queries"]]
    remark = "This question was not drawn into the sample"

    page = client.get(f"/runs/{run_id}").text
    assert "Over all 4 questions of the run the coverage is 0.75" in page  # 3 lists of 4
    page = client.get(f"/runs/{run_id}/queries/{outside[0]}").text
    assert remark in page
    assert "Not part of the sample" in page
    assert "<title>Question" in page  # without a number
    page = client.get(f"/runs/{run_id}/queries/{inside[0]}").text
    assert remark not in page
    assert "Question 1 of 2" in page
    following = f"/runs/{run_id}/queries/{inside[1]}"
    assert f'rel="next" data-walk aria-keyshortcuts="l" href="{following}"' in page
    assert f'href="/runs/{run_id}/queries/{inside[0]}' in client.get("/runs/").text  # go on there


def test_a_sample_that_reached_its_aim_stays_one(
    client: FlaskClient, runs: tuple[str, str]
) -> None:
    client.post(f"{PAGE}/1/sample", data={"kind": "fixed", "size": "2"})
    asked = client.get(f"/runs/{runs[0]}/metrics.json").json
    assert asked is not None
    for run_id in runs:
        for one in asked["queries"]:
            address = f"/runs/{run_id}/queries/{one['query_id']}/results/1/judgment"
            client.post(address, data={"relevance": "1", "event_id": f"{run_id}{one['query_id']}"})

    page = client.post(f"{PAGE}/1/rule/end", follow_redirects=True).text

    assert "It reached its aim on" in page
    assert client.get(f"/runs/{runs[0]}/metrics.json").json["not_asked"] == asked["not_asked"]  # type: ignore[index]


def test_a_sample_stopped_early_leaves_no_question_out(
    client: FlaskClient, runs: tuple[str, str]
) -> None:
    client.post(f"{PAGE}/1/sample", data={"kind": "fixed", "size": "2"})

    page = client.post(f"{PAGE}/1/rule/end", follow_redirects=True).text

    assert "All questions are rated, in their usual order." in page
    assert "not_asked" not in (client.get(f"/runs/{runs[0]}/metrics.json").json or {})


def test_a_blind_study_opens_a_question_outside_the_sample_for_its_owner(
    client: FlaskClient, runs: tuple[str, str]
) -> None:
    client.post(f"{PAGE}/1/sample", data={"kind": "fixed", "size": "2"})
    figures = client.get(f"/runs/{runs[0]}/metrics.json").json
    assert figures is not None
    (inside, other) = (one["query_id"] for one in figures["queries"])
    outside = figures["not_asked"][0]
    shown = client.get(f"/comparisons/questions/{outside}", query_string={"runs": [*runs]}).text
    assert "This question was not drawn into the sample" in shown
    page = client.get(f"/comparisons/questions/{inside}", query_string={"runs": [*runs]}).text
    assert "This question was not drawn into the sample" not in page
    assert f'rel="next" href="/comparisons/questions/{other}?' in page


def test_the_file_without_a_server_says_what_is_not_asked(
    client: FlaskClient, web_database: Database
) -> None:
    queries = [query(n, card(f"api{n}"), text=f"Question {n}") for n in range(1, 7)]
    run_id, _ = (stored(web_database, queries, method=method) for method in ("api", "hybrid"))
    client.post("/study/planning/1/sample", data={"kind": "fixed", "size": "2"})

    page = client.get(f"/runs/{run_id}/offline.html").text

    assert "4 questions are not asked" in page
    assert page.count('<template id="prose-') == 2
