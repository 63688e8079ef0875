"""Clicks on the blind page: with and without a script, refused, repeated and undone."""

from __future__ import annotations

import re
from html import unescape

import pytest
from flask.testing import FlaskClient

from tests.conftest import NOW
from tests.services.runs.runs import query
from tests.web.conftest import PART, WAYS, stored
from tests.web.rating.blind_study import (
    begin,
    judge_all,
    keys,
    places,
    shown,
    stage,
    target,
)
from webapp.db.engine import Database
from webapp.services.rating import tasks
from webapp.services.study import studies


@pytest.mark.usefixtures("run_ids")
def test_a_verdict_without_a_script_goes_back_to_its_card(client: FlaskClient) -> None:
    address = begin(client)
    key = keys(client.get(address).text)[1]

    answer = client.post(f"{address}/judgment", data={"card": key, "relevance": "0"})

    assert answer.status_code == 303
    assert answer.location == f"{address}#card-2"
    form = re.search(r'id="card-2".*?</article>', client.get(address).text, re.DOTALL)
    assert form is not None
    assert 'value="0" aria-pressed="true"' in form[0]


@pytest.mark.usefixtures("run_ids")
def test_the_last_verdict_without_a_script_leads_to_what_follows(client: FlaskClient) -> None:
    address = begin(client)
    for key in keys(client.get(address).text):
        answer = client.post(f"{address}/judgment", data={"card": key, "relevance": "0"})
    assert answer.location == f"{address}#below"

    key = keys(client.get(address).text, "answer")[1]
    answer = client.post(f"{address}/rating", data={"answer": key, "quality": "2"})
    assert answer.location == f"{address}#answers"


@pytest.mark.usefixtures("run_ids")
def test_on_a_page_from_before_more_was_pooled_each_verdict_stands_on_its_own_card(
    client: FlaskClient, web_database: Database
) -> None:
    address = begin(client)
    before = client.get(address).text
    stored(web_database, [query(1, *(shown(f"new {n}") for n in range(9)))], method="late")
    moved = [
        key for key, at in places(client.get(address).text).items() if at != places(before).get(key)
    ]

    assert set(moved) & set(keys(before))
    for key in keys(before):
        data = {"card": key, "relevance": "1"}
        answer = client.post(f"{address}/judgment", data=data, headers=PART)
        assert re.search(rf"{target(key)} \.stands", unescape(answer.text))
        assert f'data-card="{key}"' in before


@pytest.mark.usefixtures("run_ids")
def test_a_click_with_a_script_answers_with_what_it_changed(client: FlaskClient) -> None:
    address = begin(client)
    first, *rest = keys(client.get(address).text)
    data = {"relevance": "1", "device": "phone", "sequence": "1", "event_id": "e1"}

    answer = client.post(f"{address}/judgment", data=data | {"card": first}, headers=PART)

    assert answer.status_code == 200
    assert re.search(rf'{target(first)} \.stands.*?data-stands="1"', unescape(answer.text))
    assert len(answer.data) <= 15_000
    assert "<html" not in answer.text
    assert [f'id="{part}"' in answer.text for part in ("walk", "below", "end")] == [True] * 3
    assert stage(answer.text) == "cards"
    for number, key in enumerate(rest):
        again = {"relevance": "1", "event_id": f"r{number}", "card": key, "onward": "1"}
        answer = client.post(f"{address}/judgment", data=again, headers=PART)
    assert stage(answer.text) == "answers"
    assert len(keys(answer.text, "answer")) == 3


@pytest.mark.usefixtures("run_ids")
def test_going_on_too_early_without_a_script_leads_back_to_the_card(client: FlaskClient) -> None:
    address = begin(client)
    key = keys(client.get(address).text)[0]

    answer = client.post(f"{address}/judgment", data={"card": key, "relevance": "1", "onward": "1"})

    assert answer.status_code == 303
    assert answer.location == f"{address}#card-1"


@pytest.mark.usefixtures("run_ids")
def test_going_on_leads_to_the_next_question_once_this_one_is_done(client: FlaskClient) -> None:
    address = begin(client)
    judge_all(client, address)
    answers = keys(client.get(address).text, "answer")
    for number, key in enumerate(answers, start=1):
        said = {"answer": key, "quality": "5", "onward": "1"}
        answer = client.post(f"{address}/rating", data=said, headers=PART)
        assert answer.status_code == (303 if number == len(answers) else 200)

    assert re.fullmatch(r"/rate/[\w-]+", answer.location)
    assert answer.location not in (address, "/rate/")
    assert answer.location == begin(client)


@pytest.mark.usefixtures("run_ids")
def test_the_same_event_twice_changes_nothing_and_another_meaning_is_refused(
    client: FlaskClient,
) -> None:
    address = begin(client)
    first, second, *_ = keys(client.get(address).text)
    data = {"card": first, "relevance": "1", "event_id": "e"}
    for _ in range(2):
        assert client.post(f"{address}/judgment", data=data).status_code == 303

    answer = client.post(f"{address}/judgment", data=data | {"card": second}, headers=PART)

    assert answer.status_code == 409
    assert 'hx-target="#notices"' in answer.text


@pytest.mark.usefixtures("run_ids")
def test_an_absent_field_of_a_rating_is_left_alone(client: FlaskClient) -> None:
    address = begin(client)
    judge_all(client, address)
    key = keys(client.get(address).text, "answer")[0]
    client.post(f"{address}/rating", data={"answer": key, "quality": "4", "notes": "first"})

    client.post(f"{address}/rating", data={"answer": key, "notes": "second"})

    html = client.get(address).text
    assert re.search(r'id="quality-A-4"[^>]* checked', html)
    assert "\nsecond</textarea>" in html


@pytest.mark.parametrize("headers", WAYS)
@pytest.mark.parametrize(
    ("part", "data", "status"),
    [
        ("", None, 404),
        ("/judgment", {"card": "x", "relevance": "1"}, 404),
        ("/judgment", {"relevance": "1"}, 404),
        ("/judgment", {"card": "x", "relevance": "yes"}, 400),
        ("/rating", {"answer": "x", "quality": "1"}, 404),
        ("/rating", {"quality": "1"}, 404),
        ("/rating", {"answer": "x", "quality": "6"}, 400),
        ("/rating", {"empty_outcome": "correct_empty"}, 400),
    ],
)
@pytest.mark.usefixtures("run_ids")
def test_what_is_not_there_to_rate_is_refused_in_words(
    client: FlaskClient,
    part: str,
    data: dict[str, str] | None,
    status: int,
    headers: dict[str, str],
) -> None:
    """An unknown card or answer, none at all, a value that cannot be, no empty list."""
    address = begin(client) if data else "/rate/not-given"
    answer = (
        client.post(address + part, data=data, headers=headers)
        if data
        else client.get(address, headers=headers)
    )

    assert answer.status_code == status
    assert ("<html" in answer.text) == (headers == {})


@pytest.mark.parametrize("headers", WAYS)
@pytest.mark.usefixtures("run_ids")
def test_another_rater_s_task_is_nowhere_to_be_found(
    client: FlaskClient, web_database: Database, headers: dict[str, str]
) -> None:
    with web_database.writing() as session:
        study = studies.open_or_make(session, NOW)
        other = studies.add_rater(session, study, "Budi", NOW)
        task = tasks.next_task(session, other, NOW)
        assert task is not None
        task_id, key = task.id, tasks.key(task, tasks.things(session, task)[0].id)
        session.commit()

    assert client.get(f"/rate/{task_id}", headers=headers).status_code == 404
    said = {"card": key, "relevance": "1"}
    answer = client.post(f"/rate/{task_id}/judgment", data=said, headers=headers)
    assert answer.status_code == 404
    assert "You were given nothing to rate at this address" in answer.text


@pytest.mark.usefixtures("run_ids")
def test_changed_content_shows_before_and_now_and_can_be_confirmed(client: FlaskClient) -> None:
    """The card with the other price shows the verdict as soon as it was given."""
    address = begin(client)
    html = client.get(address).text
    assert "You judged this property before" not in html
    titles = re.findall(r'id="title-\d+".*?<bdi>([A-Z])</bdi></h2>', html, re.DOTALL)
    places = [number for number, title in enumerate(titles) if title == "A"]
    first, second = (keys(html)[place] for place in places)

    data = {"card": first, "relevance": "0"}
    answer = client.post(f"{address}/judgment", data=data, headers=PART)

    assert answer.text.count("You judged this property before with other content: Not") == 1
    assert answer.text.count("<dt>price</dt>") == 1
    assert {"Rp\xa01,000,000,000", "Rp\xa02,000,000,000"} <= set(
        re.findall(r"<(?:s|b) dir=\"auto\">([^<]+)</", answer.text)
    )
    assert "Confirm: Not relevant" in answer.text
    client.post(f"{address}/judgment", data={"card": second, "relevance": "0"})
    assert "Confirm:" not in client.get(address).text


@pytest.mark.usefixtures("run_ids")
def test_undo_shows_where_it_happened_in_whichever_task(client: FlaskClient) -> None:
    address = begin(client)
    key = keys(client.get(address).text)[0]
    client.post(f"{address}/judgment", data={"card": key, "relevance": "1"})

    answer = client.post("/rate/undo", data={"event_id": "u1"})

    assert answer.location == address
    assert 'aria-pressed="true"' not in client.get(address).text


@pytest.mark.parametrize("headers", WAYS)
@pytest.mark.usefixtures("run_ids")
def test_undo_with_nothing_left_says_so(client: FlaskClient, headers: dict[str, str]) -> None:
    answer = client.post("/rate/undo", headers=headers)

    assert answer.status_code == (200 if headers else 303)
    assert not headers or "There is nothing left to undo." in answer.text
