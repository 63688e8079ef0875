from __future__ import annotations

import csv
import io
import json
import re
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from relevansi.db.engine import Database
from relevansi.db.tables.evaluations import CardDecision, GoldVersion
from relevansi.db.tables.runs import Run
from relevansi.importers.runs import json_runs
from relevansi.records import EmptyOutcome, QueryState, Relevance
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.study import studies
from relevansi.web.gold import constraints
from tests.conftest import NOW
from tests.page import Page
from tests.services.gold.gold_files import GOLD, gold_bytes, listing, stored_file, v2_file
from tests.services.runs.runs import click, store
from tests.services.statements import statements_of
from tests.stored_studies import made_once, open_study
from tests.web import visitors
from tests.web.comparisons.test_comparisons import selection
from tests.web.conftest import PART, count
from tests.web.frame.test_hostile_texts import HOSTILE, check, texts
from tests.web.rating import blind_study
from tests.web.rating.blind_study import set_study


@pytest.fixture(name="address")
def _address(web_database: Database) -> str:
    return f"/constraints/{stored(web_database)}"


def test_a_gold_file_is_asked_for(client: FlaskClient, web_database: Database) -> None:
    address = f"/constraints/{stored(web_database, with_gold=False)}"
    assert address in Page(client.get(address.replace("constraints", "runs"))).links()
    assert Page(client.get(address)).has("#no-gold")
    for part in ("1", "constraints.json", "people/"):
        assert client.get(f"{address}/{part}").status_code == 404

    response = client.post(f"{address}/gold", data={"file": (BytesIO(gold_bytes()), "g.json")})

    assert (response.status_code, response.location) == (303, address)
    assert "Checked against g.json, version 1" in Page(client.get(address))


def test_figures_matrix_categories_and_questions_are_shown(
    client: FlaskClient, address: str
) -> None:
    page = Page(client.get(address))

    assert "Threshold T = 0.6" in page
    assert "Mean CPR 0.4500 5" in page  # (1 + 3/4 + 1/2) / 5
    assert "TP 1 Questions: Question 1" in page
    assert "FN 1 Questions: Question 2" in page
    assert "FP 0" in page
    assert "TN 1 Questions: Question 3" in page
    assert "area 2 1.0000 2 of 2 3 0.7500" in page
    assert "2 cards wait for a person" in page
    assert page.has("#about-mean_cpr")  # what the figure means
    assert "0.4833" in client.get(f"{address}?missing=left-out").text  # (1 + 3/4 + 2/3) / 5


def test_a_question_shows_every_cards_marks(client: FlaskClient, address: str) -> None:
    page = Page(client.get(f"{address}/1"))

    assert "✗ Fail Price Rp 2 billion · too high asked: at most Rp 1 billion" in page
    assert "? Missing Property type - · the card does not say asked: house" in page
    assert "✓ Pass Location Cemara · “cemara” is in it" in page
    assert "Not asked: Bedrooms, Floors" in page
    assert "within 2 km of 3.6000, 98.7000" in page


def test_a_distance_where_both_have_a_point(client: FlaskClient, web_database: Database) -> None:
    point = {"verified": True, "api_data": {"latitude": 3.61, "longitude": 98.7}}
    run_id = stored(web_database, {1: [listing("a", location="Helvetia") | point], 2: [], 3: []})

    text = client.get(f"/constraints/{run_id}/1").text
    assert "1.11\N{NO-BREAK SPACE}km away" in text  # 0.01° of 111.2 km


def test_an_override_is_made_undone_and_listed(client: FlaskClient, address: str) -> None:
    data = {"subject": "price", "outcome": "pass", "reason": "typing error"}
    response = client.post(f"{address}/1/1", data=data)
    assert (response.status_code, response.location) == (303, f"{address}/1#card-2")
    page = Page(client.get(f"{address}/1"))
    assert "by hand; without that: Fail" in page
    assert "typing error" in page
    assert "0.5000" in Page(client.get(address))  # (1 + 1 + 1/2) / 5

    undo = page.one("form[action$='/undo']")["action"]
    part = Page(client.post(undo, headers=PART))
    assert [*part.partials] == ["#card-2", "#outcome", "#summary", "#status"]
    assert part.is_part
    assert "2 decisions on this card" in part
    assert "0.4500" in part
    assert client.post(undo).status_code == 409  # it is no longer the last


def test_a_missing_reason_is_asked_for_and_nothing_is_stored(
    client: FlaskClient, web_database: Database, address: str
) -> None:
    data = {"subject": "price", "outcome": "pass", "reason": " "}
    for headers in ({}, PART):
        response = client.post(f"{address}/1/1", data=data, headers=headers)

        assert response.status_code == 422
        assert Page(response).has("[aria-invalid=true]")
        assert "Please fill this in." in response.text
    assert count(web_database, CardDecision) == 0


@pytest.mark.parametrize(
    ("path", "status"),
    [
        *(("/1/9", 404), ("/9/0", 404), ("/1/99999999999999999999", 404), ("/1/0", 400)),
        *(("/decisions/999999999/undo", 409), ("/decisions/99999999999999999999/undo", 404)),
        *(("/gold", 400), ("/manual-input", 400)),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_stored(
    client: FlaskClient, web_database: Database, address: str, path: str, status: int
) -> None:
    subject = "rank" if status == 400 else "price"
    data = {"subject": subject, "outcome": "pass", "reason": "x"}
    assert client.post(address + path, data=data).status_code == status
    assert count(web_database, CardDecision) == 0
    assert count(web_database, GoldVersion) == 1


def test_decisions_come_in_by_a_file_and_go_out_again(client: FlaskClient, address: str) -> None:
    document: dict[str, Any] = {
        "constraint_overrides": {"1": {"1": {"price": "pass"}}},
        "manual_evaluations": {"2": {"0": {"result": "fail", "comment": "no"}}},
    }
    file = (BytesIO(json.dumps(document).encode()), "manual_input.json")
    response = client.post(f"{address}/manual-input", data={"file": file})
    assert response.status_code == 303
    assert "2 decisions of the file were new" in client.get(response.location).text
    out = client.get(f"{address}/manual_input.json").get_json()
    assert {key: out[key] for key in document} == document

    in_part = {"constraint_overrides": {"1": {"2": {"price": "na"}, "8": {"price": "pass"}}}}
    file = (BytesIO(json.dumps(in_part).encode()), "m.json")
    response = client.post(f"{address}/manual-input", data={"file": file})
    assert response.status_code == 200
    assert "1 decision was taken in" in response.text
    assert "constraint_overrides.1.8" in response.text


@pytest.mark.parametrize("to", ["gold", "manual-input"])
def test_a_file_of_another_shape_is_refused_by_its_name(
    client: FlaskClient, web_database: Database, address: str, to: str
) -> None:
    for data in (b"no json", b"{}"):
        response = client.post(f"{address}/{to}", data={"file": (BytesIO(data), "x.json")})
        assert response.status_code == 422
        assert "x.json" in Page(response)
    assert count(web_database, GoldVersion) == 1


def test_the_evaluation_is_taken_away_as_json_and_tables(client: FlaskClient, address: str) -> None:
    document = client.get(f"{address}/constraints.json").get_json()
    assert document["confusion_matrix"]["tp"] == 1
    assert document["mean_cpr"] == 0.45

    questions = list(csv.DictReader(io.StringIO(client.get(f"{address}/constraints.csv").text)))
    assert [line["confusion_category"] for line in questions] == ["TP", "FN", "TN"]
    assert [line["mean_cpr"] for line in questions] == ["0.75", "0", ""]  # no cards: undefined
    cards = list(csv.DictReader(io.StringIO(client.get(f"{address}/constraint_cards.csv").text)))
    assert [line["price"] for line in cards] == ["pass", "fail", "pass", "na", "na"]
    assert [line["manual_result"] for line in cards] == ["", "", "", "pending", "pending"]


def test_people_stand_beside_the_constraints(
    client: FlaskClient, web_database: Database, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constraints, "FIRST_SHOWN", 1)
    assert "Nobody has judged a card" in client.get(f"{address}/people/").text
    judge_all(web_database, address.rpartition("/")[2])

    page = Page(client.get(f"{address}/people/"))
    meaning = "Of the cards that meet everything, those that people"
    assert "Meets everything 1 0" in page
    assert "Does not 2 0" in page
    assert f"Precision {meaning} call relevant. 1.0000 1" in page
    assert "✗ 0.5000" in page.one("ol.numbered[start='1']")
    assert "✗ 0.7500" in page.one("details.fold ol.numbered[start='2']")  # all but the furthest
    assert page.count("ol.numbered") == 2
    assert "Machine: ✗ 0.7500 ( ✗ Price: Rp 2 billion )" in page


@texts(long=False)
def test_hostile_text_is_only_text(client: FlaskClient, web_database: Database, name: str) -> None:
    hostile = HOSTILE[name].encode(errors="replace").decode().replace("\x00", "")
    listed = listing("a", name=hostile, location=hostile, property_type=hostile)
    run_id = stored(web_database, {1: [listed], 2: [listed], 3: []})
    address, rating = f"/constraints/{run_id}", f"/runs/{run_id}/queries"
    first = GOLD["questions"][0]
    rules = {"property_type": hostile, "location": {"keywords": [hostile]}}
    changed = first | {"question": hostile or "x", "category": hostile, "constraints": rules}
    data = gold_bytes(questions=[changed, *GOLD["questions"][1:]], version=hostile)
    client.post(f"{address}/gold", data={"file": (BytesIO(data), f"{hostile[:20]}.json")})
    reason = {"subject": "location", "outcome": "fail", "reason": hostile or "x"}
    assert client.post(f"{address}/1/0", data=reason).status_code == 303
    comment = {"subject": "card", "outcome": "pass", "reason": hostile}
    assert client.post(f"{address}/2/0", data=comment).status_code == 303

    judge_all(web_database, run_id)
    for place in (address, *(f"{address}/{part}" for part in ("1", "2", "people/")), f"{rating}/1"):
        response = client.get(place)
        assert response.status_code == 200
        check(response.text, place)
    check(client.get(f"{rating}/2").text, rating)
    for file in ("constraints.csv", "constraint_cards.csv"):
        rows = csv.reader(io.StringIO(client.get(f"{address}/{file}").text))
        assert not [cell for row in rows for cell in row if re.match(r"^[\t ]*[=+@]", cell)]


@pytest.fixture(name="both")
def _both(web_database: Database) -> tuple[str, str]:
    """Two V2 runs: CPRs 1, 3/4, 1/2, 0, 0 (two cards wait) against one card of 3/4."""
    decoded = json.loads(v2_file({1: [listing("b", price=2_000_000_000)], 2: [], 3: []}))
    with open_study(web_database) as (session, study):
        first, second = (
            store(session, study, json_runs.read("results.json", data)).id
            for data in (v2_file(), json.dumps(decoded | {"method": "api_only"}).encode())
        )
    return first, second


def test_runs_are_compared_under_v2(client: FlaskClient, both: tuple[str, str]) -> None:
    """Mean CPR 2.25 / 5 = 0.45 against 0.75; both meet question 1 (3/4 each: no difference).

    Question 2 has data: both miss it (FN); question 3 has none: TN for both.
    """
    details, report = (f"/comparisons/{where}" for where in (selection(both, part="details"), ""))
    assert f"/constraints/{both[0]}" in Page(client.get(details)).links()
    document = client.get(f"{report}report.json{selection(both)}").get_json()
    assert document["constraints"] is None
    file = (BytesIO(gold_bytes()), "gold.json")
    client.post(f"/constraints/{both[0]}/gold", data={"file": file})

    page = Page(client.get(details))
    assert "Price 0.67 0.00" in page
    assert page.text.count("F1 0.67 met not met has data 1 TP 1 FN no data 0 FP 1 TN FN: 2") == 2
    assert f"/constraints/{both[1]}" in page.links()
    assert "2 cards wait for a decision by hand: Question 2" in page
    document = client.get(f"{report}report.json{selection(both)}").get_json()
    first, second = document["constraints"]["runs"]
    assert (first["mean_cpr"], second["mean_cpr"]) == (0.45, 0.75)
    assert first["pending"] == {"2": 2}
    client.set_cookie("language", "id")
    assert "0,67" in client.get(details).text


@made_once
def stored(
    database: Database,
    listed: dict[int, list[dict[str, object]]] | None = None,
    *,
    with_gold: bool = True,
) -> str:
    """Store the made-up run, or one that lists these properties; return its id."""
    with open_study(database) as (session, study):
        owner = studies.raters(session, study)[0]
        return stored_file(session, study, owner, v2_file(listed), with_gold=with_gold)


def judge_all(database: Database, run_id: str) -> None:
    """Have the owner judge every card of a run, and call its empty lists right."""
    with database.writing() as session:
        owner = studies.raters(session, studies.open_or_make(session, NOW))[0]
        for query in session.get_one(Run, run_id).queries:
            place = session, owner, run_id, query.query_id
            for result in query.results:
                event = click(f"{query.id}-{result.rank}")
                judgments.judge(*place, result.rank, Relevance.RELEVANT, event)
            if query.state == QueryState.EMPTY:
                rating = AnswerRating(empty_outcome=EmptyOutcome.CORRECT_EMPTY)
                judgments.rate(*place, rating, click(str(query.id)))
        session.commit()


OVERRIDE = {"subject": "price", "outcome": "pass", "reason": "typing error"}
SECRETS = ("hybrid", "api_only", "results.json", "of_hybrid.json", "misreads")


@pytest.fixture(name="run_id")
def _run_id(web_database: Database) -> str:
    return stored(web_database)


@pytest.fixture(name="judged")
def _judged(web_database: Database, run_id: str) -> str:
    """The address of the rating page of question 1, whose cards are judged."""
    judge_all(web_database, run_id)
    return f"/runs/{run_id}/queries/1"


@pytest.fixture(name="blind_ids")
def _blind_ids(web_database: Database, run_id: str) -> list[str]:
    """Two runs of one question set, so that raters are blind, and marks shown."""
    document = json.loads(v2_file({1: [listing("a"), listing("f")], 2: [], 3: []}))
    data = json.dumps(document | {"method": "api_only"}).encode()
    with open_study(web_database) as (session, study):
        read = json_runs.read("results.json", data)
        second = store(session, study, read).id
    set_study(web_database, badges_while_blind=True, repeat_percent=0)
    return [run_id, second]


def marks_of(page: Page | TestResponse, number: int) -> str:
    """Return the words of the marks below a card."""
    parsed = page if isinstance(page, Page) else Page(page)
    return parsed.one(f"#badges-{number}").text


def place_of(page: TestResponse, title: str) -> tuple[int, str]:
    """Return the number and the name of a card in a blind task by its title."""
    (result,) = (card for card in Page(page).all("[id^=card-]") if title in card)
    return int(result["id"].removeprefix("card-")), result.values("[name=card]")[0]


def begin(client: FlaskClient) -> str:
    """Return the address of what is next for a blind rater, who has judged its cards."""
    address = str(client.get("/rate/").headers["Location"])
    blind_study.judge_all(client, address)
    return address


def test_each_card_has_its_marks_by_word_value_and_rule(client: FlaskClient, judged: str) -> None:
    page = Page(client.get(judged))
    first, second, third = (marks_of(page, rank) for rank in (1, 2, 3))

    assert "✓ Pass Property type house" in first
    assert "“cemara” in its place, name or address, or within 2 km of" in first
    assert "✗ Fail Price Rp 2 billion" in second
    assert "asked: at most Rp 1 billion · too high" in second
    assert "? Missing Property type -" in third
    assert "Bedrooms -" not in page  # not asked


def test_a_page_without_gold_has_no_byte_of_it(client: FlaskClient, web_database: Database) -> None:
    run_id = stored(web_database, with_gold=False)
    address = f"/runs/{run_id}/queries/2"
    before = client.get(address, headers=PART).data
    with statements_of(web_database) as statements:
        assert b"badges" not in client.get(address).data
    tables = ("gold_versions", "card_decisions")
    about_gold = [text for text in statements if any(f"FROM {t}" in text[:120] for t in tables)]
    assert len(about_gold) == 1
    gold = gold_bytes(questions=GOLD["questions"][:1])  # which does not ask question 2
    client.post(f"/constraints/{run_id}/gold", data={"file": (BytesIO(gold), "g.json")})

    assert client.get(address, headers=PART).data == before
    assert Page(client.get(f"/runs/{run_id}/queries/1")).has("#badges-1")


def test_an_override_moves_figures(client: FlaskClient, judged: str, run_id: str) -> None:
    assert "Mean pass rate 0.7500 over 3 cards, T = 0.6" in Page(client.get(judged))

    response = client.post(f"{judged}/results/2/decision", data=OVERRIDE)
    page = Page(client.get(judged))
    marks = marks_of(page, 2)

    assert (response.status_code, response.location) == (303, f"{judged}#badges-2")
    assert "✓ Pass Price Rp 2 billion · by hand" in marks
    assert "by hand; without that: Fail" in marks
    assert re.search(r"Pemilik, [^:]+:\d\d: typing error", marks)
    assert "Mean pass rate 0.8333 over 3 cards" in page  # (1 + 1 + 1/2) / 3
    assert "0.5000" in client.get(f"/constraints/{run_id}").text  # (1 + 1 + 1/2) / 5
    back = {"subject": "price", "outcome": ""}
    part = Page(client.post(f"{judged}/results/2/decision", data=back, headers=PART))
    here = '#question[data-query="1"]'
    assert [*part.partials] == [f"{here} #badges-2", f"{here} #checked", "#status"]
    assert part.is_part
    for words in ("✗ Fail Price", "Override 2 decisions", "Price: taken back"):
        assert words in marks_of(part, 2)


def test_a_card_has_its_marks_only_once_judged(client: FlaskClient, run_id: str) -> None:
    """The page asks for those of its card after the verdict; one taken back takes them away."""
    address = f"/runs/{run_id}/queries/1"
    page = Page(client.get(address))
    assert [marks_of(page, rank) for rank in (1, 2, 3)] == [""] * 3
    assert "Mean pass rate" not in page

    parts = []
    for rank in (1, 2, 3):
        data = {"relevance": "1", "event_id": f"e{rank}"}
        response = client.post(f"{address}/results/{rank}/judgment", data=data, headers=PART)
        assert b"badges" not in response.data
        parts.append(Page(client.get(f"{address}/constraints?card={rank}", headers=PART)))
    assert "✓ Pass Property type house" in marks_of(parts[0], 1)
    assert not parts[0].has("#badges-2")
    assert ["Mean pass rate" in part for part in parts] == [False, False, True]
    taken_back = {"relevance": "", "event_id": "e4"}
    client.post(f"{address}/results/2/judgment", data=taken_back, headers=PART)
    assert marks_of(client.get(address), 2) == ""
    assert "Mean pass rate" not in client.get(address).text
    empty = f"/runs/{run_id}/queries/3"
    assert "Confusion matrix" not in client.get(empty).text
    outcome = {"empty_outcome": "correct_empty", "event_id": "e5"}
    client.post(f"{empty}/rating", data=outcome, headers=PART)
    assert "Confusion matrix" in client.get(f"{empty}/constraints", headers=PART).text


def test_an_override_needs_a_reason(
    client: FlaskClient, web_database: Database, judged: str
) -> None:
    data = OVERRIDE | {"reason": " ", "subject": "location"}
    for headers in ({}, PART):
        response = client.post(f"{judged}/results/2/decision", data=data, headers=headers)

        assert response.status_code == 422
        assert Page(response).count("[aria-invalid=true]") == 1
        assert Page(response).has("option[value=location][selected]")
    for place, refused, status in (
        *(("1/results/9", OVERRIDE, 404), ("9/results/1", OVERRIDE, 404)),
        ("1/results/1", OVERRIDE | {"subject": "rank"}, 400),
    ):
        address = f"{judged.removesuffix('1')}{place}/decision"
        assert client.post(address, data=refused).status_code == status
    assert count(web_database, CardDecision) == 0


def test_switched_off_nothing_of_a_mark_is_sent_and_nothing_decided(
    client: FlaskClient, web_database: Database, blind_ids: list[str]
) -> None:
    assert "blind raters see constraint badges" in client.get(f"/runs/{blind_ids[0]}").text
    address = begin(client)
    _, key = place_of(client.get(address), "Rumah b")
    set_study(web_database, badges_while_blind=False)

    for headers in ({}, PART):
        page = client.get(address, headers=headers).text
        assert "badges" not in page
        assert "Constraints" not in page
        decision = OVERRIDE | {"card": key}
        response = client.post(f"{address}/decision", data=decision, headers=headers)
        assert response.status_code == 404
    assert count(web_database, CardDecision) == 0
    assert "blind raters saw constraint badges" in client.get(f"/runs/{blind_ids[0]}").text


def test_a_blind_decision_holds_for_every_run(client: FlaskClient, blind_ids: list[str]) -> None:
    address = str(client.get("/rate/").headers["Location"])
    page = client.get(address)
    number, key = place_of(page, "Rumah a")
    assert marks_of(page, number) == ""
    verdict = {"card": key, "relevance": "1", "event_id": "e1"}
    client.post(f"{address}/judgment", data=verdict, headers=PART)
    response = client.get(f"{address}/constraints?card={key}", headers=PART)
    assert "✓ Pass Price Rp 900 million" in marks_of(response, number)

    data = {"card": key, "subject": "price", "outcome": "fail", "reason": "a down payment"}
    response = client.post(f"{address}/decision", data=data)

    assert (response.status_code, response.location) == (303, f"{address}#badges-{number}")
    assert "✗ Fail Price Rp 900 million · by hand" in marks_of(client.get(address), number)
    for run_id in blind_ids:
        evaluation = Page(client.get(f"/constraints/{run_id}/1"))
        assert "while rating blind Price: Fail – a down payment" in evaluation
    response = client.post(f"{address}/decision", data=data | {"outcome": "pass"}, headers=PART)
    task = address.rpartition("/")[2]
    here = f'#question[data-query="{task}"] #badges-{number}'
    assert [*Page(response).partials] == [here, "#status"]
    for headers in ({}, PART):
        response = client.post(f"{address}/decision", data=data | {"reason": ""}, headers=headers)
        assert response.status_code == 422


def test_decisions_tell_a_blind_rater_no_run(client: FlaskClient, blind_ids: list[str]) -> None:
    """Though reasons of others and names of files on record tell all of it."""
    decision = OVERRIDE | {"reason": "hybrid misreads it"}
    assert client.post(f"/constraints/{blind_ids[0]}/1/1", data=decision).status_code == 303
    manual = {"constraint_overrides": {"1": {"0": {"location": "fail"}}}}
    file = (BytesIO(json.dumps(manual).encode()), "of_hybrid.json")
    client.post(f"/constraints/{blind_ids[0]}/manual-input", data={"file": file})
    received = []
    for _ in range(3):
        address = begin(client)
        page = client.get(address)
        received += [page.data, client.get(address, headers=PART).data]
        for step, key in enumerate(dict.fromkeys(blind_study.keys(page))):
            decided = {"card": key, "subject": "floors", "outcome": "na", "reason": "a mistake"}
            for headers in ({}, PART):
                response = client.post(f"{address}/decision", data=decided, headers=headers)
                received += [response.data, str(response.headers).encode()]
            verdict = {"card": key, "relevance": "1", "event_id": f"{address}{step}"}
            client.post(f"{address}/judgment", data=verdict)
        for key in blind_study.keys(client.get(address), "answer"):
            rating = {"answer": key, "quality": "3", "event_id": f"{address}{key}"}
            client.post(f"{address}/rating", data=rating)
        empty = {"empty_outcome": "correct_empty", "event_id": f"{address}e"}
        client.post(f"{address}/rating", data=empty)

    everything = b"\n".join(received)
    assert b"by hand" in everything
    assert b"a mistake" in everything
    for secret in (*blind_ids, *SECRETS):
        assert secret.encode() not in everything, secret
    assert not re.search(rb"data-rank|/constraints/|/queries/|query_id|query_key", everything)
    assert not re.search(rb'name="rank"|results/\d', everything)


def test_a_rater_decides_on_cards_of_their_own_tasks_alone(
    app: Flask, web_database: Database, blind_ids: list[str]
) -> None:
    visitors.lock(web_database)
    ani, budi = visitors.invited(app, "Ani"), visitors.invited(app, "Budi")
    theirs, others = begin(ani), begin(budi)
    _, key = place_of(ani.get(theirs), "Rumah b")

    assert ani.post(f"{theirs}/decision", data=OVERRIDE | {"card": key}).status_code == 303
    assert ani.post(f"{others}/decision", data=OVERRIDE | {"card": key}).status_code == 404
    for run_id in blind_ids:
        for place in (f"runs/{run_id}/queries/1/results/1/decision", f"constraints/{run_id}/1/0"):
            assert ani.post(f"/{place}", data=OVERRIDE).status_code == 403
    assert count(web_database, CardDecision) == 1  # one run lists "b"
    page = budi.get(others)
    number, key = place_of(page, "Rumah b")
    assert re.search("Ani, .*: typing error", marks_of(page, number))  # whose decision counts
    again = OVERRIDE | {"outcome": "fail", "reason": "it says 2 bn", "card": key}
    budi.post(f"{others}/decision", data=again)
    marks = marks_of(budi.get(others), number)
    assert re.search("✗ Fail Price .*Budi, .*: it says 2 bn.*Override 2 decisions", marks)
