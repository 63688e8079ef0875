from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from relevansi.db.engine import Database
from relevansi.services.study import studies
from tests.page import Page
from tests.services.gold.gold_files import GOLD, stored_run
from tests.stored_studies import open_study
from tests.web.frame.test_hostile_texts import HOSTILE, check, texts


def gold_of(database: Database, *, with_gold: bool = True) -> str:
    with open_study(database) as (session, study):
        owner = studies.raters(session, study)[0]
        run = stored_run(session, study, owner, with_gold=with_gold)
        return f"/gold/{run.question_set_id}"


def document(client: FlaskClient, address: str) -> dict[str, Any]:
    return dict(client.get(f"{address}/questions.json").get_json())


def take_in(client: FlaskClient, address: str, value: Any) -> TestResponse:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return client.post(f"{address}/import", data={"file": (BytesIO(data), "gold.json")})


@pytest.fixture(name="address")
def _address(web_database: Database) -> str:
    """The address of the made-up set's gold questions."""
    return gold_of(web_database)


def test_a_file_that_was_taken_in_is_given_back_with_what_nothing_reads(
    client: FlaskClient, address: str
) -> None:
    full = {**GOLD["questions"][0], "notes": "kept"}
    price = {"target": 1_234_567_891, "tolerance": 0.123456, "currency": "IDR"}
    full["constraints"] = {**full["constraints"], "price": price, "garage": 1}
    file = {"threshold_t": 0.65, "questions": [full]}

    assert take_in(client, address, file).status_code == 303
    assert document(client, address) == file
    assert take_in(client, address, file).status_code == 303  # changes nothing
    assert client.get(f"{address}/questions.json?version=3").status_code == 404
    assert "Threshold T = 0.65" in client.get(address).text


def test_every_problem_of_a_refused_file_is_told_with_its_line(
    client: FlaskClient, address: str
) -> None:
    first, second, third = (json.dumps(entry) for entry in GOLD["questions"])
    wrong = (second.replace("has_data", "some").replace("no_data", "some"), '{"id": 3}')
    response = take_in(
        client, address, f'{{"questions": [\n{first},\n{",".join(wrong)}]}}'.encode()
    )

    assert response.status_code == 422
    page = Page(response)
    assert "line 3, questions[1].expected_result" in page
    assert "line 3, questions[2].question is missing" in page
    assert third not in client.get(f"{address}/questions.json?version=2").text
    assert client.get(f"{address}/questions.json?version=2").status_code == 404


def test_an_older_version_is_put_in_force_again(client: FlaskClient, address: str) -> None:
    before = document(client, address)
    take_in(client, address, {**before, "threshold_t": 0.25})

    client.post(f"{address}/restore", data={"version": "1"})

    assert document(client, address) == before
    assert client.get(f"{address}/questions.json?version=2").get_json()["threshold_t"] == 0.25
    assert "3. gold.json" in Page(client.get(address))


def test_a_set_without_gold_questions_gives_a_file_to_begin_with(
    client: FlaskClient, web_database: Database
) -> None:
    address = gold_of(web_database, with_gold=False)
    assert address in client.get("/gold/").text

    starter = document(client, address)
    questions = [question["question"] for question in starter["questions"]]

    assert questions == [question["question"] for question in GOLD["questions"]]
    assert client.get(f"{address}/questions.json?version=1").status_code == 404
    assert take_in(client, address, starter).status_code == 303
    assert document(client, address) == starter


@texts()
def test_hostile_text_is_only_text(client: FlaskClient, address: str, name: str) -> None:
    hostile = HOSTILE[name].encode(errors="replace").decode().replace("\x00", "")
    question = {"question": hostile or "x", "category": hostile, "expected_result": "has_data"}
    rules = {"property_type": hostile, "location": {"keywords": [hostile]}}
    check(take_in(client, address, {"questions": [{**question, "id": hostile}]}).text, "refused")
    take_in(client, address, {"questions": [{**question, "id": 1, "constraints": rules}]})

    for page in ("/gold/", address):
        response = client.get(page)
        assert response.status_code == 200
        check(response.text, page)
