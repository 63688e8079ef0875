"""Badges on both rating pages: read, overridden, kept from who should not see them."""

from __future__ import annotations

import json
import re
from html import unescape
from io import BytesIO

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from tests.conftest import NOW
from tests.services.gold.gold_files import GOLD, gold_bytes, listing
from tests.services.statements import counted
from tests.web import visitors
from tests.web.conftest import PART, WAYS
from tests.web.frame.test_hostile_texts import HOSTILE, check
from tests.web.gold.badged_pages import (
    OVERRIDE,
    badges_of,
    begin,
    judge_all,
    key_of,
    number_of,
    shown_blind,
    stored,
    take_gold,
)
from tests.web.gold.test_constraints import n_rows, text_of, with_listed
from tests.web.rating.blind_study import set_study
from webapp.db.engine import Database
from webapp.db.tables.evaluations import CardDecision
from webapp.services.study import assignments, studies

SECRETS = ("hybrid", "api_only", "results.json", "of_hybrid.json", "misreads")


@pytest.fixture(name="run_id")
def _run_id(web_database: Database) -> str:
    """The made-up run of ``gold_files`` with its gold questions."""
    return stored(web_database)


@pytest.fixture(name="page")
def _page(web_database: Database, run_id: str) -> str:
    """The address of the rating page of question 1, whose cards are judged."""
    judge_all(web_database, run_id)
    return f"/runs/{run_id}/queries/1"


@pytest.fixture(name="blind_ids")
def _blind_ids(web_database: Database, run_id: str) -> list[str]:
    """Two runs of one question set, so that raters are blind, and badges shown."""
    return [run_id, shown_blind(web_database)]


# ---- a run's page -----------------------------------------------------------------------


def test_each_card_has_its_badges_by_word_sign_value_and_rule(
    client: FlaskClient, page: str
) -> None:
    html = client.get(page).text

    assert "✓ Pass Property type house" in badges_of(html, 1)
    assert "✗ Fail Price Rp 2 billion" in badges_of(html, 2)
    assert "asked: at most Rp 1 billion · too high" in badges_of(html, 2)
    assert "? Missing Property type -" in badges_of(html, 3)
    assert "“cemara” in its place, name or address, or within 2 km of" in badges_of(html, 1)
    assert "Bedrooms -" not in text_of(html)  # not asked


def test_a_distance_stands_in_its_badge(client: FlaskClient, web_database: Database) -> None:
    point = {"verified": True, "api_data": {"latitude": 3.61, "longitude": 98.7}}
    listed = listing("a", location="Helvetia") | point
    address = with_listed(web_database, {1: [listed], 2: [], 3: []})

    judge_all(web_database, address.rpartition("/")[2])
    html = client.get(f"/runs/{address.rpartition('/')[2]}/queries/1").text

    assert "✓ Pass Location Helvetia · 1.11 km away" in badges_of(html, 1)  # 0.01° of 111.2 km


def test_a_page_without_gold_questions_has_no_byte_of_it(
    client: FlaskClient, web_database: Database
) -> None:
    run_id = stored(web_database, with_gold=False)
    page = f"/runs/{run_id}/queries/2"
    before = client.get(page, headers=PART).data
    assert b"badges" not in client.get(page).data
    take_gold(web_database, run_id, questions=GOLD["questions"][:1])  # none asks question 2

    assert client.get(page, headers=PART).data == before
    assert b'id="badges-1"' in client.get(f"/runs/{run_id}/queries/1").data


def test_without_gold_questions_the_page_costs_one_statement_more(
    client: FlaskClient, web_database: Database
) -> None:
    page = f"/runs/{stored(web_database, with_gold=False)}/queries/1"
    client.get(page)
    with counted(web_database) as statements:
        client.get(page)

    asked = ("gold_versions", "card_decisions")
    apart = [one for one in statements if any(f"FROM {table}" in one[:120] for table in asked)]
    assert len(apart) == 1


def test_an_override_without_a_script_goes_back_to_its_card_and_moves_the_figures(
    client: FlaskClient, page: str, run_id: str
) -> None:
    assert "Mean pass rate 0.7500 over 3 cards, T = 0.6" in text_of(client.get(page).text)

    answer = client.post(f"{page}/results/2/decision", data=OVERRIDE)
    html = client.get(page).text

    assert (answer.status_code, answer.location) == (303, f"{page}#badges-2")
    assert "✓ Pass Price Rp 2 billion · by hand" in badges_of(html, 2)
    assert "by hand; without that: Fail" in badges_of(html, 2)
    assert re.search(r"Pemilik, [^:]+:\d\d: typing error", badges_of(html, 2))
    assert "Mean pass rate 0.8333 over 3 cards" in text_of(html)  # (1 + 1 + 1/2) / 3
    assert "0.5000" in client.get(f"/constraints/{run_id}").text  # (1 + 1 + 1/2) / 5


def test_an_override_with_a_script_answers_with_its_badges_and_the_figures(
    client: FlaskClient, page: str
) -> None:
    answer = client.post(f"{page}/results/2/decision", data=OVERRIDE, headers=PART)

    assert answer.status_code == 200
    places = re.findall(r"<hx-partial hx-target=.([^>]+?). hx-swap", unescape(answer.text))
    here = '#question[data-query="1"]'
    assert places == [f"{here} #badges-2", f"{here} #checked", "#status"]
    assert "0.8333" in answer.text
    assert "<html" not in answer.text


def test_a_card_has_its_badges_and_a_question_its_result_only_once_judged(
    client: FlaskClient, run_id: str
) -> None:
    """The answer to the verdict brings those of its card; a verdict taken back takes them away."""
    page = f"/runs/{run_id}/queries/1"
    html = client.get(page).text
    for rank in (1, 2, 3):
        assert badges_of(html, rank) == "Constraints: after your verdict"
    assert "Mean pass rate" not in html

    answers = []
    for rank in (1, 2, 3):
        data = {"relevance": "1", "event_id": f"e{rank}"}
        answer = client.post(f"{page}/results/{rank}/judgment", data=data, headers=PART)
        answers.append(unescape(answer.text))
    assert "✓ Pass Property type house" in badges_of(answers[0], 1)
    assert 'id="badges-2"' not in answers[0]
    assert ["Mean pass rate" in answer for answer in answers] == [False, False, True]
    assert "✗ Fail Price Rp 2 billion" in badges_of(client.get(page).text, 2)

    taken_back = {"relevance": "", "event_id": "e4"}
    answer = client.post(f"{page}/results/2/judgment", data=taken_back, headers=PART)
    assert badges_of(answer.text, 2) == "Constraints: after your verdict"
    assert "Mean pass rate" not in client.get(page).text


def test_the_result_of_an_empty_list_is_shown_once_it_is_judged(
    client: FlaskClient, run_id: str
) -> None:
    """It says whether there should be data: what the rater is asked."""
    page = f"/runs/{run_id}/queries/3"
    assert "Confusion matrix" not in client.get(page).text
    said = {"empty_outcome": "correct_empty", "event_id": "e1"}
    answer = client.post(f"{page}/rating", data=said, headers=PART)

    assert "Confusion matrix" in answer.text
    assert "Confusion matrix" in client.get(page).text


def test_a_blind_rater_s_verdict_brings_the_badges_of_its_card(
    client: FlaskClient, blind_ids: list[str]
) -> None:
    assert blind_ids
    address = str(client.get("/rate/").headers["Location"])
    html = client.get(address).text
    number, key = number_of(html, "Rumah a"), key_of(html, "Rumah a")
    assert badges_of(html, number) == "Constraints: after your verdict"
    data = {"card": key, "relevance": "1", "event_id": "e1"}
    answer = client.post(f"{address}/judgment", data=data, headers=PART)

    assert "✓ Pass Price Rp 900 million" in badges_of(unescape(answer.text), number)


def test_success_and_cell_move_with_the_last_manual_card(
    client: FlaskClient, page: str, run_id: str
) -> None:
    page = page.removesuffix("1") + "2"
    assert "… Waits for a person" in badges_of(client.get(page).text, 1)
    assert "✗ Not successful" in text_of(client.get(page).text)
    for rank in (1, 2):
        data = {"subject": "card", "outcome": "pass", "reason": "near a school"}
        client.post(f"{page}/results/{rank}/decision", data=data)

    shown = text_of(client.get(page).text)

    assert "✓ Passed by a person Pemilik," in shown
    assert 'value="near a school"' in client.get(page).text
    assert "Success ✓ Successful Confusion matrix TP" in shown
    assert "TP 2" in text_of(client.get(f"/constraints/{run_id}").text)


@pytest.mark.parametrize("headers", WAYS)
def test_a_missing_reason_is_asked_for_and_nothing_is_stored(
    client: FlaskClient, web_database: Database, page: str, headers: dict[str, str]
) -> None:
    data = OVERRIDE | {"reason": " ", "subject": "location"}
    answer = client.post(f"{page}/results/2/decision", data=data, headers=headers)

    assert answer.status_code == 422
    assert answer.text.count('aria-invalid="true"') == 1
    assert '<option value="location" selected>' in answer.text
    assert "Please fill this in." in badges_of(answer.text, 2)
    assert n_rows(web_database, CardDecision) == 0


def test_as_computed_takes_an_override_back_and_every_step_is_told(
    client: FlaskClient, page: str
) -> None:
    client.post(f"{page}/results/2/decision", data=OVERRIDE)
    client.post(f"{page}/results/2/decision", data={"subject": "price", "outcome": ""})
    shown = badges_of(client.get(page).text, 2)

    assert "✗ Fail Price" in shown
    assert "Override 2 decisions" in shown
    assert "Price: taken back" in shown
    assert "Price: Pass – typing error" in shown


@pytest.mark.parametrize(
    ("path", "data", "status"),
    [
        ("/queries/1/results/9/decision", OVERRIDE, 404),
        ("/queries/9/results/1/decision", OVERRIDE, 404),
        ("/queries/1/results/1/decision", OVERRIDE | {"subject": "rank"}, 400),
        ("/queries/1/results/1/decision", {"subject": "card", "outcome": "na"}, 400),
        ("/queries/1/results/99999999999999999999/decision", OVERRIDE, 404),
    ],
)
@pytest.mark.parametrize("headers", WAYS)
def test_what_cannot_be_is_refused_in_words(
    client: FlaskClient,
    web_database: Database,
    run_id: str,
    path: str,
    data: dict[str, str],
    status: int,
    headers: dict[str, str],
) -> None:
    answer = client.post(f"/runs/{run_id}{path}", data=data, headers=headers)

    assert answer.status_code == status
    assert "Traceback" not in answer.text
    assert n_rows(web_database, CardDecision) == 0


@pytest.mark.parametrize("name", [name for name in HOSTILE if "long" not in name])
def test_hostile_text_is_only_text(client: FlaskClient, web_database: Database, name: str) -> None:
    hostile = HOSTILE[name].encode(errors="replace").decode().replace("\x00", "")
    listed = listing("a", location=hostile, property_type=hostile)
    address = with_listed(web_database, {1: [listed], 2: [listed], 3: []})
    run_id = address.rpartition("/")[2]
    asked = {"property_type": hostile, "location": {"keywords": [hostile]}}
    first = GOLD["questions"][0] | {"constraints": asked}
    data = gold_bytes(questions=[first, *GOLD["questions"][1:]])
    client.post(f"{address}/gold", data={"file": (BytesIO(data), "g.json")})
    judge_all(web_database, run_id)
    for query_id, said in ((1, ("location", "fail")), (2, ("card", "pass"))):
        place = f"/runs/{run_id}/queries/{query_id}"
        decided = {"subject": said[0], "outcome": said[1], "reason": hostile or "x"}
        assert client.post(f"{place}/results/1/decision", data=decided).status_code == 303
        check(client.get(place).text, place)


# ---- a blind rater's page ---------------------------------------------------------------


def test_a_run_s_page_says_when_blind_raters_saw_badges(
    client: FlaskClient, web_database: Database, run_id: str
) -> None:
    assert "constraint badges" not in client.get(f"/runs/{run_id}").text
    set_study(web_database, badges_while_blind=True)
    assert "blind raters see constraint badges" in client.get(f"/runs/{run_id}").text
    set_study(web_database, badges_while_blind=False)

    assert "blind raters saw constraint badges" in client.get(f"/runs/{run_id}").text
    with web_database.reading() as session:
        study = studies.current(session)
        assert study is not None
        times = assignments.exposure(session, study).badged
        assert [(time.since, time.until) for time in times] == [(NOW, NOW)]


@pytest.mark.parametrize("headers", WAYS)
def test_switched_off_nothing_of_a_badge_is_sent_and_nothing_decided(
    client: FlaskClient, web_database: Database, blind_ids: list[str], headers: dict[str, str]
) -> None:
    assert blind_ids
    address = begin(client)
    key = key_of(client.get(address).text, "Rumah b")
    set_study(web_database, badges_while_blind=False)

    assert "badges" not in client.get(address, headers=headers).text
    assert "Constraints" not in client.get(address, headers=headers).text
    answer = client.post(f"{address}/decision", data=OVERRIDE | {"card": key}, headers=headers)

    assert answer.status_code == 404
    assert n_rows(web_database, CardDecision) == 0


def test_switched_on_a_card_has_its_badges_and_a_decision_holds_for_every_run(
    client: FlaskClient, blind_ids: list[str]
) -> None:
    address = begin(client)
    html = client.get(address).text
    number, key = number_of(html, "Rumah a"), key_of(html, "Rumah a")
    assert "✓ Pass Price Rp 900 million" in badges_of(html, number)

    data = {"card": key, "subject": "price", "outcome": "fail", "reason": "a down payment"}
    answer = client.post(f"{address}/decision", data=data)

    assert (answer.status_code, answer.location) == (303, f"{address}#badges-{number}")
    assert "✗ Fail Price Rp 900 million · by hand" in badges_of(client.get(address).text, number)
    for run_id in blind_ids:
        shown = text_of(client.get(f"/constraints/{run_id}/1").text)
        assert "while rating blind Price: Fail – a down payment" in shown


def test_a_blind_decision_with_a_script_answers_with_its_badges_alone(
    client: FlaskClient, blind_ids: list[str]
) -> None:
    assert blind_ids
    address = begin(client)
    html = client.get(address).text
    number, key = number_of(html, "Rumah b"), key_of(html, "Rumah b")
    answer = client.post(f"{address}/decision", data=OVERRIDE | {"card": key}, headers=PART)

    places = re.findall(r"<hx-partial hx-target=.([^>]+?). hx-swap", unescape(answer.text))
    task = address.rpartition("/")[2]
    assert places == [f'#question[data-query="{task}"] #badges-{number}', "#status"]
    refused = OVERRIDE | {"card": key, "reason": ""}
    for headers in ({}, PART):
        asked = client.post(f"{address}/decision", data=refused, headers=headers)
        assert asked.status_code == 422
        assert "Please fill this in." in badges_of(asked.text, number)


@pytest.mark.parametrize("headers", WAYS)
def test_badges_tell_a_blind_rater_no_run_no_method_no_file_and_no_rank(
    client: FlaskClient, blind_ids: list[str], headers: dict[str, str]
) -> None:
    """Though reasons of others and names of files on record tell all of it."""
    said = OVERRIDE | {"reason": "hybrid misreads it"}
    assert client.post(f"/constraints/{blind_ids[0]}/1/1", data=said).status_code == 303
    manual = {"constraint_overrides": {"1": {"0": {"location": "fail"}}}}
    file = (BytesIO(json.dumps(manual).encode()), "of_hybrid.json")
    client.post(f"/constraints/{blind_ids[0]}/manual-input", data={"file": file})
    received = []
    for _ in range(3):
        address = begin(client)
        html = client.get(address).text
        received += [html.encode(), client.get(address, headers=headers).data]
        for step, key in enumerate(dict.fromkeys(re.findall(r'name="card" value="(\w+)"', html))):
            decided = {"card": key, "subject": "floors", "outcome": "na", "reason": "a mistake"}
            answer = client.post(f"{address}/decision", data=decided, headers=headers)
            received += [answer.data, str(answer.headers).encode()]
            verdict = {"card": key, "relevance": "1", "event_id": f"{address}{step}"}
            client.post(f"{address}/judgment", data=verdict)
        for key in re.findall(r'name="answer" value="(\w+)"', client.get(address).text):
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


def test_an_invited_rater_decides_on_their_cards_and_nowhere_else(
    app: Flask, web_database: Database, blind_ids: list[str]
) -> None:
    visitors.lock(web_database)
    ani, budi = visitors.invited(app, "Ani"), visitors.invited(app, "Budi")
    theirs, others = begin(ani), begin(budi)
    html = ani.get(theirs).text
    key, number = key_of(html, "Rumah b"), number_of(html, "Rumah b")

    assert ani.post(f"{theirs}/decision", data=OVERRIDE | {"card": key}).status_code == 303
    assert ani.post(f"{others}/decision", data=OVERRIDE | {"card": key}).status_code == 404
    for run_id in blind_ids:
        for place in (f"runs/{run_id}/queries/1/results/1/decision", f"constraints/{run_id}/1/0"):
            assert ani.post(f"/{place}", data=OVERRIDE).status_code == 403
    assert n_rows(web_database, CardDecision) == 1  # one run lists "b"
    again = OVERRIDE | {"outcome": "fail", "reason": "it says 2 bn", "card": ""}
    html = budi.get(others).text
    number, key = number_of(html, "Rumah b"), key_of(html, "Rumah b")
    assert re.search("Ani, .*: typing error", badges_of(html, number))  # whose decision stands
    budi.post(f"{others}/decision", data=again | {"card": key})
    shown = badges_of(budi.get(others).text, number)

    assert re.search("✗ Fail Price .*Budi, .*: it says 2 bn.*Override 2 decisions", shown)
    with web_database.reading() as session:
        by = session.scalars(select(func.count(CardDecision.rater_id.distinct())))
        assert by.all() == [2]


def test_the_switch_is_off_at_first_and_logged(client: FlaskClient, web_database: Database) -> None:
    assert not re.search(r'name="badges_while_blind"[^>]*checked', client.get("/study/").text)
    form = {"name": "S", "repeat_percent": "5", "badges_while_blind": "1"}
    assert client.post("/study/", data=form).status_code == 303

    assert re.search(r'name="badges_while_blind"[^>]*checked', client.get("/study/").text)
    with web_database.reading() as session:
        study = studies.current(session)
        assert study is not None
        assert study.badges_while_blind
