"""Runs as pages: the list, one run, its labels, its exports, its deletion."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient
from msgspec.structs import replace
from sqlalchemy import select

from tests.conftest import NOW
from tests.services.runs.runs import card, query
from tests.web.conftest import stored
from webapp.config import resource
from webapp.db.engine import Database
from webapp.db.tables.judging import Event
from webapp.records import QueryState
from webapp.services.runs import samples
from webapp.web.runs.runs import FORMATS


def test_the_first_page_of_a_new_study_offers_three_ways_to_begin(client: FlaskClient) -> None:
    page = client.get("/").text

    assert 'type="file"' in page
    assert "relevansi demo" in page
    assert "relevansi collect" in page


def test_the_first_page_says_what_needs_doing(client: FlaskClient, run_id: str) -> None:
    page = client.get("/").text

    assert "1 run waits for judgments." in page
    assert f"/runs/{run_id}/queries/1" in page


def test_a_run_says_how_it_stands(client: FlaskClient, run_id: str) -> None:
    page = client.get(f"/runs/{run_id}").text

    # d of question 2 is asked once; one empty list; the failed call misses its quality alone.
    left = "6 cards and 1 empty list left in 5 questions\u00a0· 5\u00a0without\u00a0quality"
    assert left in page
    assert left in client.get("/").text.replace("5 without", "5\u00a0without")
    assert "The call failed" in page
    assert "not counted" in page


def test_the_owner_moves_a_run_in_the_list(client: FlaskClient, web_database: Database) -> None:
    first = stored(web_database, [query(1, card("a"))], method="api")
    second = stored(web_database, [query(1, card("b"))], method="hybrid")

    def listed(address: str) -> list[str]:
        return re.findall(r'<h2><a href="/runs/(\w+)"', client.get(address).text)

    assert listed("/runs/") == [first, second]
    moved = client.post(f"/runs/{second}/move", data={"direction": "up"})

    assert (moved.status_code, moved.location) == (303, f"/runs/#run-{second}")
    assert listed("/runs/") == listed("/") == [second, first]
    ticks = re.findall(r'name="runs" value="(\w+)"', client.get("/comparisons/").text)
    assert ticks == [second, first]
    assert client.post(f"/runs/{first}/move", data={"direction": "left"}).status_code == 400


def test_a_run_is_rated_to_the_end_once_every_answer_has_its_quality(
    client: FlaskClient, web_database: Database
) -> None:
    """An empty list, a failed call and an unreadable answer, which has none."""
    states = {2: QueryState.FAILED, 3: QueryState.UNREADABLE}
    queries = [query(number, state=states.get(number)) for number in (1, 2, 3)]
    address = f"/runs/{stored(web_database, queries)}"
    client.post(f"{address}/queries/1/rating", data={"empty_outcome": "correct_empty"})

    for left in ("2 answers have no quality yet", "1 answer has no quality yet"):
        for page in (address, "/runs/", "/", f"{address}/queries/3"):
            html = client.get(page).text
            assert left in html, page
            assert "ated to the end" not in html, page
        waiting = int(re.findall(r"data-next-open=\"(\d)\"", html)[0])
        client.post(f"{address}/queries/{waiting}/rating", data={"quality": "0"})
    assert "This run is rated to the end" in client.get(address).text
    unreadable = client.get(f"{address}/queries/3").text
    assert "Rated to the end" in unreadable
    assert 'name="quality"' not in unreadable
    assert 'name="notes"' in unreadable


def test_a_finished_run_offers_its_export_and_the_next_run(
    client: FlaskClient, web_database: Database
) -> None:
    done = stored(web_database, [query(1, card("a"))])
    waiting = stored(web_database, [query(1, card("a"), text="Other")], method="api_only")
    client.post(f"/runs/{done}/queries/1/results/1/judgment", data={"relevance": "unsure"})
    client.post(f"/runs/{done}/queries/1/rating", data={"quality": "3"})

    page = client.get(f"/runs/{done}").text

    assert "This run is rated to the end" in page
    assert "You marked 1 card &#34;cannot tell&#34;" in page
    assert f"/runs/{done}/export.csv" in page
    assert f"/runs/{waiting}/queries/1" in page


def test_a_run_says_how_long_the_chatbot_took_where_its_file_does(
    client: FlaskClient, web_database: Database
) -> None:
    timed = [
        replace(query(n, card("a")), extra={"latency_ms": took})
        for n, took in ((1, 2000), (2, 4000))
    ]
    known = client.get(f"/runs/{stored(web_database, timed)}").text
    unknown = client.get(f"/runs/{stored(web_database, [query(1, card('a'), text='Other')])}").text

    assert "over 2 answers" in known
    assert "<dd>3.0\xa0sec</dd>" in known  # P50 and mean of 2 and 4 seconds
    assert "<dd>3.9\xa0sec</dd>" in known  # P95: 2 + 0.95 x 2
    assert "Response time" not in unknown


@pytest.mark.parametrize("name", FORMATS.values())
def test_a_run_can_be_taken_away_in_every_form(client: FlaskClient, run_id: str, name: str) -> None:
    client.post(f"/runs/{run_id}/queries/1/results/1/judgment", data={"relevance": "1"})

    answer = client.get(f"/runs/{run_id}/{name}")

    assert answer.status_code == 200
    assert run_id in answer.headers["Content-Disposition"]
    assert answer.data


def test_files_are_named_with_their_day_and_figures_have_four_decimals(
    client: FlaskClient, web_database: Database
) -> None:
    run = stored(web_database, [query(1, card("a"), card("b"), card("c"))])
    for rank, said in ((1, "0"), (2, "0"), (3, "1")):
        address = f"/runs/{run}/queries/1/results/{rank}/judgment"
        client.post(address, data={"relevance": said})

    named = client.get(f"/runs/{run}/export.csv").headers["Content-Disposition"]
    found = client.get(f"/runs/{run}/metrics.json").get_json()

    # The file states no time, so that the day is that of the import.
    assert f"evaluation_rated_20260301_{run}.csv" in named
    assert found["figures"]["mrr"]["value"] == 0.3333  # the third is relevant: 1/3
    assert found["queries"][0]["overall_precision"] == 0.3333


def test_the_rated_csv_has_the_methods_header(client: FlaskClient, run_id: str) -> None:
    lines = client.get(f"/runs/{run_id}/export.csv").text.splitlines()

    assert lines[0].startswith("query_id,question,category,results_count,relevant_count,")
    assert len(lines) == 7


def test_labels_change_and_the_files_own_stay(client: FlaskClient, run_id: str) -> None:
    answer = client.post(
        f"/runs/{run_id}/labels", data={"search_method": "vector_only", "llm": "gpt"}
    )

    assert answer.status_code == 303
    page = client.get(f"/runs/{run_id}?part=files").text
    assert "Vector Only · gpt" in page
    assert "The file says: hybrid" in page


def test_deleting_says_first_what_goes_and_what_stays(client: FlaskClient, run_id: str) -> None:
    for number in (1, 6):  # question 6 depends on its conversation
        address = f"/runs/{run_id}/queries/{number}/results/1/judgment"
        client.post(address, data={"relevance": "1"})

    asked = client.get(f"/runs/{run_id}/delete").text
    client.post(f"/runs/{run_id}/delete")

    assert "1 judgment on a question that depends on its conversation" in asked
    assert "1 judgment on a property: it counts for every run that shows it" in asked
    assert client.get(f"/runs/{run_id}").status_code == 404


def test_the_sample_is_named_on_the_first_page_and_removed_by_a_confirmed_button(
    client: FlaskClient, web_database: Database
) -> None:
    """Its three runs and the owner's invented verdicts go, the own run stays."""
    with web_database.writing() as session:
        samples.load(session, resource("seeds"), NOW)
        session.commit()
    own = stored(web_database, [query(1, card("a"))])
    asked = client.get("/runs/sample").text

    assert 'href="/runs/sample"' in client.get("/").text
    assert client.get("/runs/").text.count('class="run"') == 4
    assert 'action="/runs/sample"' in asked
    assert "Blind rating, which the sample had switched off, is automatic again" in asked
    assert client.post("/runs/sample").location == "/"
    page = client.get("/").text
    assert page.count('class="run"') == 1
    assert f"/runs/{own}/queries/1" in page
    assert 'href="/runs/sample"' not in page
    assert client.get("/runs/sample").location == "/"
    with web_database.reading() as session:
        assert session.scalars(select(Event.event_id)).all() == []


def test_an_own_study_gets_no_sample_by_any_form(client: FlaskClient) -> None:
    assert client.post("/sample").status_code == 404
    assert client.post("/runs/sample").status_code == 303
    assert 'class="run"' not in client.get("/runs/").text


def test_the_owner_of_a_study_that_is_not_blind_goes_on_where_the_first_page_says(
    client: FlaskClient, web_database: Database
) -> None:
    run = stored(web_database, [query(1, card("a")), query(2)])

    assert client.get("/rate/").location == f"/runs/{run}/queries/1"
    client.post(f"/runs/{run}/queries/1/results/1/judgment", data={"relevance": "1"})
    client.post(f"/runs/{run}/queries/1/rating", data={"quality": "5"})
    assert client.get("/rate/").location == f"/runs/{run}/queries/2"
    outcome = {"empty_outcome": "correct_empty", "quality": "0"}
    client.post(f"/runs/{run}/queries/2/rating", data=outcome)
    assert client.get("/rate/").location == "/"
    assert "Everything that was imported is rated." in client.get("/").text
