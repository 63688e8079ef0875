"""The pages of constraints: read, decided on, taken away, with and without a script."""

from __future__ import annotations

import csv
import io
import json
import re
from io import BytesIO

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select

from tests.conftest import NOW
from tests.services.gold.gold_files import GOLD, gold_bytes, listing, stored_run, v2_file
from tests.services.runs.runs import click
from tests.web.conftest import PART, WAYS, made_once
from tests.web.frame.test_hostile_texts import HOSTILE, check
from webapp.db.engine import Database
from webapp.db.tables.evaluations import CardDecision, GoldVersion
from webapp.db.tables.runs import Run
from webapp.importers.runs import json_runs
from webapp.records import Relevance
from webapp.services.gold import gold
from webapp.services.judging import events
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels
from webapp.services.study import studies
from webapp.web.gold import constraints


@made_once
def checked(database: Database, *, with_gold: bool = True) -> str:
    """Return the address of the made-up run's constraints."""
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        owner = studies.raters(session, study)[0]
        run_id = stored_run(session, study, owner, with_gold=with_gold).id
        session.commit()
    return f"/constraints/{run_id}"


@pytest.fixture(name="page")
def _page(web_database: Database) -> str:
    return checked(web_database)


def n_rows(database: Database, table: type) -> int:
    with database.reading() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def text_of(html: str) -> str:
    return " ".join(
        re.sub("<[^>]+>", " ", html.split("<main")[1].split("</main>", maxsplit=1)[0]).split()
    )


def test_a_run_leads_to_its_constraints(client: FlaskClient, page: str) -> None:
    assert f'href="{page}"' in client.get(page.replace("constraints", "runs")).text


def test_without_gold_questions_their_file_is_asked_for(
    client: FlaskClient, web_database: Database
) -> None:
    page = checked(web_database, with_gold=False)
    assert "There are no gold questions yet" in client.get(page).text
    assert client.get(f"{page}/1").status_code == 404
    assert client.get(f"{page}/constraints.json").status_code == 404
    assert client.get(f"{page}/people/").status_code == 404

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


def test_missing_is_left_out_where_that_is_asked_for(client: FlaskClient, page: str) -> None:
    assert "0.4833" in client.get(f"{page}?missing=left-out").text  # (1 + 3/4 + 2/3) / 5


def test_a_question_shows_every_card_s_badges_by_word_and_sign(
    client: FlaskClient, page: str
) -> None:
    shown = text_of(client.get(f"{page}/1").text)

    assert "✗ Fail Price Rp 2 billion · too high asked: at most Rp 1 billion" in shown
    assert "? Missing Property type - · the card does not say asked: house" in shown
    assert "✓ Pass Location Cemara · “cemara” is in it" in shown
    assert "Not asked: Bedrooms, Floors" in shown
    assert "within 2 km of 3.6000, 98.7000" in shown


def test_a_distance_is_shown_where_both_have_a_point(
    client: FlaskClient, web_database: Database
) -> None:
    listed = listing("a", location="Helvetia") | {
        "verified": True,
        "api_data": {"latitude": 3.61, "longitude": 98.7},
    }
    page = with_listed(web_database, {1: [listed], 2: [], 3: []})

    shown = client.get(f"{page}/1").text
    assert "Helvetia · 1.11 km away" in text_of(shown)  # 0.01° of 111.2 km
    assert "1.11\N{NO-BREAK SPACE}km away" in shown


def with_listed(database: Database, listed: dict[int, list[dict[str, object]]]) -> str:
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        owner = studies.raters(session, study)[0]
        read = json_runs.read("results.json", v2_file(listed))
        run = session.get_one(Run, imports.store(session, study, read, Labels(), NOW).id)
        gold.import_file(session, owner, run.question_set_id, "g.json", gold_bytes(), NOW)
        address = f"/constraints/{run.id}"
        session.commit()
    return address


def test_an_override_is_made_undone_and_every_step_is_listed(
    client: FlaskClient, page: str
) -> None:
    data = {"subject": "price", "outcome": "pass", "reason": "typing error"}
    answer = client.post(f"{page}/1/1", data=data)
    assert (answer.status_code, answer.location) == (303, f"{page}/1#card-2")
    html = client.get(f"{page}/1").text
    assert "by hand; without that: Fail" in text_of(html)
    assert "typing error" in html
    assert "0.5000" in client.get(page).text  # (1 + 1 + 1/2) / 5

    undo = re.search(rf'action="({page}/decisions/\d+/undo)"', html)
    assert undo is not None
    assert client.post(undo[1]).location == f"{page}/1#card-2"

    assert "2 decisions on this card" in text_of(client.get(f"{page}/1").text)
    assert "0.4500" in client.get(page).text
    assert client.post(undo[1]).status_code == 409  # it is no longer the last


def test_with_a_script_an_override_answers_with_the_parts_it_changed(
    client: FlaskClient, page: str
) -> None:
    data = {"subject": "price", "outcome": "pass", "reason": "typing error"}
    answer = client.post(f"{page}/1/1", data=data, headers=PART)

    assert '<hx-partial hx-target="#card-2"' in answer.text
    assert '<hx-partial hx-target="#summary"' in answer.text
    assert '<hx-partial hx-target="#card-1"' not in answer.text
    assert "<html" not in answer.text
    assert "0.5000" in answer.text


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


def test_cards_of_a_manual_question_are_passed_and_failed(client: FlaskClient, page: str) -> None:
    assert "A person decides on every card" in client.get(f"{page}/2").text
    for card, outcome in ((0, "pass"), (1, "pass")):
        client.post(f"{page}/2/{card}", data={"subject": "card", "outcome": outcome})
    shown = text_of(client.get(f"{page}/2").text)

    assert "Passed by a person" in shown
    assert "Successful · TP" in shown


@pytest.mark.parametrize(
    ("path", "data", "status"),
    [
        ("/1/9", {"subject": "price", "outcome": "pass", "reason": "x"}, 404),
        ("/9/0", {"subject": "price", "outcome": "pass", "reason": "x"}, 404),
        ("/1/0", {"subject": "rank", "outcome": "pass", "reason": "x"}, 400),
        ("/1/0", {"subject": "card", "outcome": "na", "reason": "x"}, 400),
        ("/1/99999999999999999999", {"subject": "price", "outcome": "", "reason": ""}, 404),
        ("/decisions/999999999/undo", {}, 409),
        ("/decisions/99999999999999999999/undo", {}, 404),
        ("/gold", {}, 400),
        ("/manual-input", {}, 400),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_stored(
    client: FlaskClient,
    web_database: Database,
    page: str,
    path: str,
    data: dict[str, str],
    status: int,
) -> None:
    assert client.post(page + path, data=data).status_code == status
    assert n_rows(web_database, CardDecision) == 0
    assert n_rows(web_database, GoldVersion) == 1


def test_decisions_come_in_by_a_file_and_go_out_again(client: FlaskClient, page: str) -> None:
    document = {
        "constraint_overrides": {"1": {"1": {"price": "pass"}}},
        "manual_evaluations": {"2": {"0": {"result": "fail", "comment": "no"}}},
    }
    file = (BytesIO(json.dumps(document).encode()), "manual_input.json")
    answer = client.post(f"{page}/manual-input", data={"file": file})
    assert answer.status_code == 303
    assert "2 decisions of the file were new" in client.get(answer.location).text

    out = client.get(f"{page}/manual_input.json").get_json()
    assert {key: out[key] for key in document} == document


def test_a_file_of_decisions_in_part_wrong_says_what_and_keeps_the_rest(
    client: FlaskClient, page: str
) -> None:
    document = {"constraint_overrides": {"1": {"1": {"price": "pass"}, "8": {"price": "pass"}}}}
    file = (BytesIO(json.dumps(document).encode()), "m.json")
    answer = client.post(f"{page}/manual-input", data={"file": file})

    assert answer.status_code == 200
    assert "1 decision was taken in" in answer.text
    assert "constraint_overrides.1.8" in answer.text


@pytest.mark.parametrize("to", ["gold", "manual-input"])
@pytest.mark.parametrize("data", [b"", b"no json", b"{}", b"[" * 5000])
def test_a_file_that_is_something_else_is_refused_with_words(
    client: FlaskClient, web_database: Database, page: str, to: str, data: bytes
) -> None:
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


def judged(database: Database, page: str, *verdicts: Relevance) -> None:
    """Let the owner judge the first cards of question 1."""
    run_id = page.rpartition("/")[2]
    with database.writing() as session:
        study = studies.current(session)
        assert study is not None
        owner = studies.raters(session, study)[0]
        for rank, verdict in enumerate(verdicts, start=1):
            events.judge(session, owner, run_id, 1, rank, verdict, click(f"v{rank}"))
        session.commit()


def test_people_stand_beside_the_constraints(
    client: FlaskClient, web_database: Database, page: str
) -> None:
    assert "Nobody has judged a card" in client.get(f"{page}/people/").text
    judged(web_database, page, Relevance.RELEVANT, Relevance.RELEVANT)

    shown = text_of(client.get(f"{page}/people/").text)
    assert "Meets everything 1 0" in shown
    assert "Does not 1 0" in shown
    assert (
        "Precision Of the cards that meet everything, those that people call relevant. 1.0000 1"
        in shown
    )
    assert "Machine: ✗&nbsp;0.7500 ( ✗ Price: Rp 2 billion )" in shown


def test_a_phone_folds_all_but_the_cards_that_are_furthest_apart(
    client: FlaskClient, web_database: Database, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constraints, "FIRST_SHOWN", 1)
    judged(web_database, page, Relevance.NOT_RELEVANT, Relevance.RELEVANT)

    first, folded = client.get(f"{page}/people/").text.split('<details class="fold">')

    assert "✓&nbsp;1.0000" in first.partition('<ol class="apart" start="1">')[2]
    assert "and 1 more" in folded
    assert "✗&nbsp;0.7500" in folded.partition('<ol class="apart" start="2">')[2]


@pytest.mark.parametrize("name", [name for name in HOSTILE if "long" not in name])
def test_hostile_text_is_only_text(client: FlaskClient, web_database: Database, name: str) -> None:
    hostile = HOSTILE[name].encode(errors="replace").decode().replace("\x00", "")
    listed = listing("a", name=hostile, location=hostile, property_type=hostile)
    page = with_listed(web_database, {1: [listed], 2: [listed], 3: []})
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
