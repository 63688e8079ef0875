"""Constraint marks on both rating pages: read, overridden, kept from who should not see them."""

from __future__ import annotations

import json
import re
from html import unescape
from io import BytesIO

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.conftest import NOW
from tests.services.gold.gold_files import GOLD, gold_bytes, listing, v2_file
from tests.services.statements import counted
from tests.web import visitors
from tests.web.conftest import PART, WAYS
from tests.web.frame.test_hostile_texts import HOSTILE, check
from tests.web.gold.gold_pages import judge_all, n_rows, stored, text_of, words
from tests.web.rating import blind_study
from tests.web.rating.blind_study import set_study
from webapp.db.engine import Database
from webapp.db.tables.evaluations import CardDecision
from webapp.importers.runs import json_runs
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels
from webapp.services.study import studies

OVERRIDE = {"subject": "price", "outcome": "pass", "reason": "typing error"}
SECRETS = ("hybrid", "api_only", "results.json", "of_hybrid.json", "misreads")
LATER = "Constraints: after your verdict"


@pytest.fixture(name="run_id")
def _run_id(web_database: Database) -> str:
    return stored(web_database)


@pytest.fixture(name="page")
def _page(web_database: Database, run_id: str) -> str:
    """The address of the rating page of question 1, whose cards are judged."""
    judge_all(web_database, run_id)
    return f"/runs/{run_id}/queries/1"


@pytest.fixture(name="blind_ids")
def _blind_ids(web_database: Database, run_id: str) -> list[str]:
    """Two runs of one question set, so that raters are blind, and marks shown."""
    document = json.loads(v2_file({1: [listing("a"), listing("f")], 2: [], 3: []}))
    data = json.dumps(document | {"method": "api_only"}).encode()
    with web_database.writing() as session:
        study = studies.open_or_make(session, NOW)
        read = json_runs.read("results.json", data)
        other = imports.store(session, study, read, Labels(), NOW).id
        session.commit()
    set_study(web_database, badges_while_blind=True, repeat_percent=0)
    return [run_id, other]


def marks_of(html: str, number: int) -> str:
    """Return the words of the marks below a card."""
    found = re.search(rf'<div id="badges-{number}"[^>]*>(.*?)</div>', html, re.DOTALL)
    assert found is not None
    return words(found[1])


def place_of(html: str, title: str) -> tuple[int, str]:
    """Return the number and the name of a card in a blind task by its title."""
    articles = re.findall(r"<article.*?</article>", html, re.DOTALL)
    found = next(article for article in articles if title in article)
    (number,) = re.findall(r'<article id="card-(\d+)"', found)
    return int(number), str(re.findall(r'name="card" value="(\w+)"', found)[0])


def begin(client: FlaskClient) -> str:
    """Return the address of what is next for a blind rater, who has judged its cards."""
    address = str(client.get("/rate/").headers["Location"])
    blind_study.judge_all(client, address)
    return address


def targets(html: str) -> list[str]:
    return re.findall(r"<hx-partial hx-target=.([^>]+?). hx-swap", unescape(html))


def test_each_card_has_its_marks_by_word_value_and_rule(client: FlaskClient, page: str) -> None:
    html = client.get(page).text

    assert "✓ Pass Property type house" in marks_of(html, 1)
    assert "✗ Fail Price Rp 2 billion" in marks_of(html, 2)
    assert "asked: at most Rp 1 billion · too high" in marks_of(html, 2)
    assert "? Missing Property type -" in marks_of(html, 3)
    assert "“cemara” in its place, name or address, or within 2 km of" in marks_of(html, 1)
    assert "Bedrooms -" not in text_of(html)  # not asked


def test_a_page_without_gold_has_no_byte_of_it(client: FlaskClient, web_database: Database) -> None:
    run_id = stored(web_database, with_gold=False)
    page = f"/runs/{run_id}/queries/2"
    before = client.get(page, headers=PART).data
    with counted(web_database) as statements:
        assert b"badges" not in client.get(page).data
    asked = ("gold_versions", "card_decisions")
    assert len([one for one in statements if any(f"FROM {t}" in one[:120] for t in asked)]) == 1
    one = gold_bytes(questions=GOLD["questions"][:1])  # which does not ask question 2
    client.post(f"/constraints/{run_id}/gold", data={"file": (BytesIO(one), "g.json")})

    assert client.get(page, headers=PART).data == before
    assert b'id="badges-1"' in client.get(f"/runs/{run_id}/queries/1").data


def test_an_override_moves_figures(client: FlaskClient, page: str, run_id: str) -> None:
    assert "Mean pass rate 0.7500 over 3 cards, T = 0.6" in text_of(client.get(page).text)

    answer = client.post(f"{page}/results/2/decision", data=OVERRIDE)
    html = client.get(page).text

    assert (answer.status_code, answer.location) == (303, f"{page}#badges-2")
    assert "✓ Pass Price Rp 2 billion · by hand" in marks_of(html, 2)
    assert "by hand; without that: Fail" in marks_of(html, 2)
    assert re.search(r"Pemilik, [^:]+:\d\d: typing error", marks_of(html, 2))
    assert "Mean pass rate 0.8333 over 3 cards" in text_of(html)  # (1 + 1 + 1/2) / 3
    assert "0.5000" in client.get(f"/constraints/{run_id}").text  # (1 + 1 + 1/2) / 5
    back = {"subject": "price", "outcome": ""}
    part = client.post(f"{page}/results/2/decision", data=back, headers=PART)
    here = '#question[data-query="1"]'
    assert targets(part.text) == [f"{here} #badges-2", f"{here} #checked", "#status"]
    assert "<html" not in part.text
    assert "✗ Fail Price" in marks_of(part.text, 2)
    assert "Override 2 decisions" in marks_of(part.text, 2)
    assert "Price: taken back" in marks_of(part.text, 2)


def test_a_card_has_its_marks_only_once_judged(client: FlaskClient, run_id: str) -> None:
    """The answer to the verdict brings those of its card; a verdict taken back takes them away."""
    page = f"/runs/{run_id}/queries/1"
    html = client.get(page).text
    assert [marks_of(html, rank) for rank in (1, 2, 3)] == [LATER] * 3
    assert "Mean pass rate" not in html

    answers = []
    for rank in (1, 2, 3):
        data = {"relevance": "1", "event_id": f"e{rank}"}
        answer = client.post(f"{page}/results/{rank}/judgment", data=data, headers=PART)
        answers.append(answer.text)
    assert "✓ Pass Property type house" in marks_of(answers[0], 1)
    assert 'id="badges-2"' not in answers[0]
    assert ["Mean pass rate" in answer for answer in answers] == [False, False, True]
    taken_back = {"relevance": "", "event_id": "e4"}
    answer = client.post(f"{page}/results/2/judgment", data=taken_back, headers=PART)
    assert marks_of(answer.text, 2) == LATER
    assert "Mean pass rate" not in client.get(page).text
    empty = f"/runs/{run_id}/queries/3"
    assert "Confusion matrix" not in client.get(empty).text
    said = {"empty_outcome": "correct_empty", "event_id": "e5"}
    assert "Confusion matrix" in client.post(f"{empty}/rating", data=said, headers=PART).text


@pytest.mark.parametrize("headers", WAYS)
def test_a_missing_reason_is_asked_for_and_nothing_is_stored(
    client: FlaskClient, web_database: Database, page: str, headers: dict[str, str]
) -> None:
    data = OVERRIDE | {"reason": " ", "subject": "location"}
    answer = client.post(f"{page}/results/2/decision", data=data, headers=headers)

    assert answer.status_code == 422
    assert answer.text.count('aria-invalid="true"') == 1
    assert '<option value="location" selected>' in answer.text
    for place, refused, status in (
        *(("1/results/9", OVERRIDE, 404), ("9/results/1", OVERRIDE, 404)),
        ("1/results/1", OVERRIDE | {"subject": "rank"}, 400),
    ):
        address = f"{page.removesuffix('1')}{place}/decision"
        assert client.post(address, data=refused, headers=headers).status_code == status
    assert n_rows(web_database, CardDecision) == 0


@pytest.mark.parametrize("name", [name for name in HOSTILE if "long" not in name])
def test_hostile_text_is_only_text(client: FlaskClient, web_database: Database, name: str) -> None:
    hostile = HOSTILE[name].encode(errors="replace").decode().replace("\x00", "")
    listed = listing("a", location=hostile, property_type=hostile)
    run_id = stored(web_database, {1: [listed], 2: [listed], 3: []})
    asked = {"property_type": hostile, "location": {"keywords": [hostile]}}
    first = GOLD["questions"][0] | {"constraints": asked}
    data = gold_bytes(questions=[first, *GOLD["questions"][1:]])
    client.post(f"/constraints/{run_id}/gold", data={"file": (BytesIO(data), "g.json")})
    judge_all(web_database, run_id)
    for query_id, said in ((1, ("location", "fail")), (2, ("card", "pass"))):
        place = f"/runs/{run_id}/queries/{query_id}"
        decided = {"subject": said[0], "outcome": said[1], "reason": hostile or "x"}
        assert client.post(f"{place}/results/1/decision", data=decided).status_code == 303
        check(client.get(place).text, place)


@pytest.mark.parametrize("headers", WAYS)
def test_switched_off_nothing_of_a_mark_is_sent_and_nothing_decided(
    client: FlaskClient, web_database: Database, blind_ids: list[str], headers: dict[str, str]
) -> None:
    assert "blind raters see constraint badges" in client.get(f"/runs/{blind_ids[0]}").text
    address = begin(client)
    _, key = place_of(client.get(address).text, "Rumah b")
    set_study(web_database, badges_while_blind=False)

    page = client.get(address, headers=headers).text
    assert "badges" not in page
    assert "Constraints" not in page
    answer = client.post(f"{address}/decision", data=OVERRIDE | {"card": key}, headers=headers)
    assert answer.status_code == 404
    assert n_rows(web_database, CardDecision) == 0
    assert "blind raters saw constraint badges" in client.get(f"/runs/{blind_ids[0]}").text


def test_a_blind_decision_holds_for_every_run(client: FlaskClient, blind_ids: list[str]) -> None:
    address = str(client.get("/rate/").headers["Location"])
    html = client.get(address).text
    number, key = place_of(html, "Rumah a")
    assert marks_of(html, number) == LATER
    verdict = {"card": key, "relevance": "1", "event_id": "e1"}
    answer = client.post(f"{address}/judgment", data=verdict, headers=PART)
    assert "✓ Pass Price Rp 900 million" in marks_of(answer.text, number)

    data = {"card": key, "subject": "price", "outcome": "fail", "reason": "a down payment"}
    answer = client.post(f"{address}/decision", data=data)

    assert (answer.status_code, answer.location) == (303, f"{address}#badges-{number}")
    assert "✗ Fail Price Rp 900 million · by hand" in marks_of(client.get(address).text, number)
    for run_id in blind_ids:
        shown = text_of(client.get(f"/constraints/{run_id}/1").text)
        assert "while rating blind Price: Fail – a down payment" in shown
    answer = client.post(f"{address}/decision", data=data | {"outcome": "pass"}, headers=PART)
    task = address.rpartition("/")[2]
    assert targets(answer.text) == [f'#question[data-query="{task}"] #badges-{number}', "#status"]
    for headers in ({}, PART):
        asked = client.post(f"{address}/decision", data=data | {"reason": ""}, headers=headers)
        assert asked.status_code == 422


@pytest.mark.parametrize("headers", WAYS)
def test_nothing_leaks(client: FlaskClient, blind_ids: list[str], headers: dict[str, str]) -> None:
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
        for step, key in enumerate(dict.fromkeys(blind_study.keys(html))):
            decided = {"card": key, "subject": "floors", "outcome": "na", "reason": "a mistake"}
            answer = client.post(f"{address}/decision", data=decided, headers=headers)
            received += [answer.data, str(answer.headers).encode()]
            verdict = {"card": key, "relevance": "1", "event_id": f"{address}{step}"}
            client.post(f"{address}/judgment", data=verdict)
        for key in blind_study.keys(client.get(address).text, "answer"):
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


def test_who_may_decide(app: Flask, web_database: Database, blind_ids: list[str]) -> None:
    visitors.lock(web_database)
    ani, budi = visitors.invited(app, "Ani"), visitors.invited(app, "Budi")
    theirs, others = begin(ani), begin(budi)
    _, key = place_of(ani.get(theirs).text, "Rumah b")

    assert ani.post(f"{theirs}/decision", data=OVERRIDE | {"card": key}).status_code == 303
    assert ani.post(f"{others}/decision", data=OVERRIDE | {"card": key}).status_code == 404
    for run_id in blind_ids:
        for place in (f"runs/{run_id}/queries/1/results/1/decision", f"constraints/{run_id}/1/0"):
            assert ani.post(f"/{place}", data=OVERRIDE).status_code == 403
    assert n_rows(web_database, CardDecision) == 1  # one run lists "b"
    html = budi.get(others).text
    number, key = place_of(html, "Rumah b")
    assert re.search("Ani, .*: typing error", marks_of(html, number))  # whose decision counts
    again = OVERRIDE | {"outcome": "fail", "reason": "it says 2 bn", "card": key}
    budi.post(f"{others}/decision", data=again)
    shown = marks_of(budi.get(others).text, number)
    assert re.search("✗ Fail Price .*Budi, .*: it says 2 bn.*Override 2 decisions", shown)
