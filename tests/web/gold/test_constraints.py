"""The pages of constraints: read, decided on, taken away, with and without a script."""

from __future__ import annotations

import csv
import io
import json
import re
from io import BytesIO
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.conftest import NOW
from tests.services.gold.gold_files import GOLD, gold_bytes, listing, v2_file
from tests.web.comparisons.test_comparisons import address
from tests.web.conftest import PART, WAYS
from tests.web.frame.test_hostile_texts import HOSTILE, check
from tests.web.gold.gold_pages import judge_all, n_rows, stored, text_of, words
from webapp.db.engine import Database
from webapp.db.tables.evaluations import CardDecision, GoldVersion
from webapp.importers.runs import json_runs
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels
from webapp.services.study import studies
from webapp.web.gold import constraints


@pytest.fixture(name="page")
def _page(web_database: Database) -> str:
    return f"/constraints/{stored(web_database)}"


def test_a_gold_file_is_asked_for(client: FlaskClient, web_database: Database) -> None:
    page = f"/constraints/{stored(web_database, with_gold=False)}"
    assert f'href="{page}"' in client.get(page.replace("constraints", "runs")).text
    assert 'id="no-gold"' in client.get(page).text
    for part in ("1", "constraints.json", "people/"):
        assert client.get(f"{page}/{part}").status_code == 404

    answer = client.post(f"{page}/gold", data={"file": (BytesIO(gold_bytes()), "g.json")})

    assert (answer.status_code, answer.location) == (303, page)
    assert "Checked against g.json, version 1" in text_of(client.get(page).text)


def test_figures_matrix_categories_and_questions_are_shown(client: FlaskClient, page: str) -> None:
    html = client.get(page).text
    shown = text_of(html)

    assert "Threshold T = 0.6" in shown
    assert "Mean CPR 0.4500 5" in shown  # (1 + 3/4 + 1/2) / 5
    assert "TP 1 Questions: Question 1" in shown
    assert "FN 1 Questions: Question 2" in shown
    assert "FP 0" in shown
    assert "TN 1 Questions: Question 3" in shown
    assert "area 2 1.0000 2 of 2 3 0.7500" in shown
    assert "2 cards wait for a person" in shown
    assert 'id="about-mean_cpr"' in html  # what the figure means
    assert "0.4833" in client.get(f"{page}?missing=left-out").text  # (1 + 3/4 + 2/3) / 5


def test_a_question_shows_every_cards_marks(client: FlaskClient, page: str) -> None:
    shown = text_of(client.get(f"{page}/1").text)

    assert "✗ Fail Price Rp 2 billion · too high asked: at most Rp 1 billion" in shown
    assert "? Missing Property type - · the card does not say asked: house" in shown
    assert "✓ Pass Location Cemara · “cemara” is in it" in shown
    assert "Not asked: Bedrooms, Floors" in shown
    assert "within 2 km of 3.6000, 98.7000" in shown


def test_a_distance_where_both_have_a_point(client: FlaskClient, web_database: Database) -> None:
    point = {"verified": True, "api_data": {"latitude": 3.61, "longitude": 98.7}}
    run_id = stored(web_database, {1: [listing("a", location="Helvetia") | point], 2: [], 3: []})

    shown = client.get(f"/constraints/{run_id}/1").text
    assert "1.11\N{NO-BREAK SPACE}km away" in shown  # 0.01° of 111.2 km


def test_an_override_is_made_undone_and_listed(client: FlaskClient, page: str) -> None:
    data = {"subject": "price", "outcome": "pass", "reason": "typing error"}
    answer = client.post(f"{page}/1/1", data=data)
    assert (answer.status_code, answer.location) == (303, f"{page}/1#card-2")
    html = client.get(f"{page}/1").text
    assert "by hand; without that: Fail" in text_of(html)
    assert "typing error" in html
    assert "0.5000" in client.get(page).text  # (1 + 1 + 1/2) / 5

    (undo,) = re.findall(rf'action="({page}/decisions/\d+/undo)"', html)
    part = client.post(undo, headers=PART).text
    assert re.findall('hx-target="(#[^"]+)"', part) == [
        "#card-2",
        "#outcome",
        "#summary",
        "#status",
    ]
    assert "<html" not in part
    assert "2 decisions on this card" in part
    assert "0.4500" in part
    assert client.post(undo).status_code == 409  # it is no longer the last


@pytest.mark.parametrize("headers", WAYS)
def test_a_missing_reason_is_asked_for_and_nothing_is_stored(
    client: FlaskClient, web_database: Database, page: str, headers: dict[str, str]
) -> None:
    data = {"subject": "price", "outcome": "pass", "reason": " "}
    answer = client.post(f"{page}/1/1", data=data, headers=headers)

    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.text
    assert "Please fill this in." in answer.text
    assert n_rows(web_database, CardDecision) == 0


@pytest.mark.parametrize(
    ("path", "status"),
    [
        *(("/1/9", 404), ("/9/0", 404), ("/1/99999999999999999999", 404), ("/1/0", 400)),
        *(("/decisions/999999999/undo", 409), ("/decisions/99999999999999999999/undo", 404)),
        *(("/gold", 400), ("/manual-input", 400)),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_stored(
    client: FlaskClient, web_database: Database, page: str, path: str, status: int
) -> None:
    subject = "rank" if status == 400 else "price"
    data = {"subject": subject, "outcome": "pass", "reason": "x"}
    assert client.post(page + path, data=data).status_code == status
    assert n_rows(web_database, CardDecision) == 0
    assert n_rows(web_database, GoldVersion) == 1


def test_decisions_come_in_by_a_file_and_go_out_again(client: FlaskClient, page: str) -> None:
    document: dict[str, Any] = {
        "constraint_overrides": {"1": {"1": {"price": "pass"}}},
        "manual_evaluations": {"2": {"0": {"result": "fail", "comment": "no"}}},
    }
    file = (BytesIO(json.dumps(document).encode()), "manual_input.json")
    answer = client.post(f"{page}/manual-input", data={"file": file})
    assert answer.status_code == 303
    assert "2 decisions of the file were new" in client.get(answer.location).text
    out = client.get(f"{page}/manual_input.json").get_json()
    assert {key: out[key] for key in document} == document

    in_part = {"constraint_overrides": {"1": {"2": {"price": "na"}, "8": {"price": "pass"}}}}
    file = (BytesIO(json.dumps(in_part).encode()), "m.json")
    answer = client.post(f"{page}/manual-input", data={"file": file})
    assert answer.status_code == 200
    assert "1 decision was taken in" in answer.text
    assert "constraint_overrides.1.8" in answer.text


@pytest.mark.parametrize("to", ["gold", "manual-input"])
def test_another_file(client: FlaskClient, web_database: Database, page: str, to: str) -> None:
    for data in (b"", b"no json", b"{}", b"[" * 5000):
        answer = client.post(f"{page}/{to}", data={"file": (BytesIO(data), "x.json")})
        assert answer.status_code == 422
        assert "x.json" in text_of(answer.text)
    assert n_rows(web_database, GoldVersion) == 1


def test_the_evaluation_is_taken_away_as_json_and_tables(client: FlaskClient, page: str) -> None:
    document = client.get(f"{page}/constraints.json").get_json()
    assert document["confusion_matrix"]["tp"] == 1
    assert document["mean_cpr"] == 0.45

    questions = list(csv.DictReader(io.StringIO(client.get(f"{page}/constraints.csv").text)))
    assert [line["confusion_category"] for line in questions] == ["TP", "FN", "TN"]
    assert [line["mean_cpr"] for line in questions] == ["0.75", "0", ""]  # no cards: undefined
    cards = list(csv.DictReader(io.StringIO(client.get(f"{page}/constraint_cards.csv").text)))
    assert [line["price"] for line in cards] == ["pass", "fail", "pass", "na", "na"]
    assert [line["manual_result"] for line in cards] == ["", "", "", "pending", "pending"]


def test_people_stand_beside_the_constraints(
    client: FlaskClient, web_database: Database, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constraints, "FIRST_SHOWN", 1)
    assert "Nobody has judged a card" in client.get(f"{page}/people/").text
    judge_all(web_database, page.rpartition("/")[2])

    html = client.get(f"{page}/people/").text
    shown, meaning = text_of(html), "Of the cards that meet everything, those that people"
    assert "Meets everything 1 0" in shown
    assert "Does not 2 0" in shown
    assert f"Precision {meaning} call relevant. 1.0000 1" in shown
    first, folded = html.split('<details class="fold">')  # all but the furthest apart
    assert "✗&nbsp;0.5000" in first.partition('<ol class="apart" start="1">')[2]
    assert "✗&nbsp;0.7500" in folded.partition('<ol class="apart" start="2">')[2]
    assert "Machine: ✗ 0.7500 ( ✗ Price: Rp 2 billion )" in shown


@pytest.mark.parametrize("name", [name for name in HOSTILE if "long" not in name])
def test_hostile_text_is_only_text(client: FlaskClient, web_database: Database, name: str) -> None:
    hostile = HOSTILE[name].encode(errors="replace").decode().replace("\x00", "")
    listed = listing("a", name=hostile, location=hostile, property_type=hostile)
    page = f"/constraints/{stored(web_database, {1: [listed], 2: [listed], 3: []})}"
    first = GOLD["questions"][0]
    asked = {"property_type": hostile, "location": {"keywords": [hostile]}}
    changed = first | {"question": hostile or "x", "category": hostile, "constraints": asked}
    data = gold_bytes(questions=[changed, *GOLD["questions"][1:]], version=hostile)
    client.post(f"{page}/gold", data={"file": (BytesIO(data), f"{hostile[:20]}.json")})
    reason = {"subject": "location", "outcome": "fail", "reason": hostile or "x"}
    assert client.post(f"{page}/1/0", data=reason).status_code == 303
    comment = {"subject": "card", "outcome": "pass", "reason": hostile}
    assert client.post(f"{page}/2/0", data=comment).status_code == 303

    for place in ("", "/1", "/2", "/people/"):
        answer = client.get(page + place)
        assert answer.status_code == 200
        check(answer.text, place)
    for file in ("constraints.csv", "constraint_cards.csv"):
        rows = csv.reader(io.StringIO(client.get(f"{page}/{file}").text))
        assert not [cell for row in rows for cell in row if re.match(r"^[\t ]*[=+@]", cell)]


@pytest.fixture(name="both")
def _both(web_database: Database) -> tuple[str, str]:
    """Two V2 runs: CPRs 1, 3/4, 1/2, 0, 0 (two cards wait) against one card of 3/4."""
    other = json.loads(v2_file({1: [listing("b", price=2_000_000_000)], 2: [], 3: []}))
    with web_database.writing() as session:
        study = studies.open_or_make(session, NOW)
        first, second = (
            imports.store(session, study, json_runs.read("results.json", data), Labels(), NOW).id
            for data in (v2_file(), json.dumps(other | {"method": "api_only"}).encode())
        )
        session.commit()
    return first, second


def test_runs_are_compared_under_v2(client: FlaskClient, both: tuple[str, str]) -> None:
    """Mean CPR 2.25 / 5 = 0.45 against 0.75; both meet question 1 (3/4 each: no difference).

    Question 2 has data: both miss it (FN); question 3 has none: TN for both.
    """
    page, report = (f"/comparisons/{where}" for where in (address(both, part="constraints"), ""))
    assert f'href="/constraints/{both[0]}"' in client.get(page).text
    document = client.get(f"{report}report.json{address(both)}").get_json()
    assert document["constraints"] is None
    file = (BytesIO(gold_bytes()), "gold.json")
    client.post(f"/constraints/{both[0]}/gold", data={"file": file})

    html = client.get(page).text
    shown = words(html)
    assert "Mean CPR 0.4500 n = 5 0.7500 n = 1" in shown
    assert "Strict success ratio 0.2000 n = 5 0.0000 n = 1" in shown
    assert "Query success rate 0.6667 n = 3 0.6667 n = 3" in shown
    assert "Per-constraint accuracy (PCA): Price 0.6667 n = 3 0.0000 n = 1" in shown
    assert "Hybrid waits for decisions by hand on the cards of question 2: until" in shown
    assert "Hybrid and API Only are equal" in shown
    assert "TP: has data, met 1" in shown
    assert f'href="/constraints/{both[1]}"' in html
    document = client.get(f"{report}report.json{address(both)}").get_json()
    first, second = document["constraints"]["runs"]
    assert (first["mean_cpr"], second["mean_cpr"]) == (0.45, 0.75)
    assert first["pending"] == {"2": 2}
    client.set_cookie("language", "id")
    assert "0,4500" in client.get(page).text
