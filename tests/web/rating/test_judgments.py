"""The rating page and every click on it, with a script and without one."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

import pytest
from flask import Flask
from flask.testing import FlaskClient

from relevansi.db.engine import Database
from relevansi.i18n import speaking
from relevansi.records import EmptyOutcome, Relevance
from relevansi.services.judging.answer_ratings import KEEP, AnswerRating
from relevansi.web.frame.forms import UnusableForm, validated_form
from relevansi.web.rating import clicks
from relevansi.web.rating.clicks import BlindRatingForm, RatingForm, VerdictForm
from tests.page import Page
from tests.services.rating.particulars import LISTED, v2_answer
from tests.services.runs.runs import card, query
from tests.services.statements import statements_of
from tests.web.conftest import PART, WAYS, judge, stored
from tests.web.frame.test_hostile_texts import HOSTILE, check, imported, texts
from tests.web.rating.blind_study import begin, keys, place, set_study, verdicts_in

MOVING = ("numbers",)
MOST_IN_A_CLICK = 6_000
MOST_STATEMENTS = 8
NOW_MS = "1772355600000"  # 2026-03-01 09:00 UTC


def pressed(client: FlaskClient, run_id: str, rank: int) -> list[str]:
    page = Page(client.get(place(run_id, 1)))
    return page.values(f"#rank-{rank} [aria-pressed=true]")


@pytest.mark.parametrize("query_id", [1, 3, 4, 5, 6])
def test_every_state_of_an_answer_has_its_page(
    client: FlaskClient, run_id: str, query_id: int
) -> None:
    for headers in ({}, PART):
        response = client.get(place(run_id, query_id), headers=headers)

        assert response.status_code == 200
        assert f"Question {query_id}" in response.text
        assert Page(response).is_part == bool(headers)
        assert "HX-Request-Type" in response.headers["Vary"]


def test_a_click_answers_with_the_verdict_and_what_moves(client: FlaskClient, run_id: str) -> None:
    data = {
        "relevance": "1",
        "event_id": "e1",
        "client_time": NOW_MS,
        "device": "phone",
        "sequence": "1",
    }

    response = client.post(f"{place(run_id, 1)}/results/1/judgment", data=data, headers=PART)

    assert response.status_code == 200
    assert verdicts_in(response) == {"1": "1"}
    assert all(Page(response).has(f"#{part}") for part in MOVING)
    assert not Page(response).has(".card")
    assert len(response.data) <= MOST_IN_A_CLICK
    later = data | {"relevance": "0", "event_id": "e0", "sequence": "0"}
    lost = client.post(f"{place(run_id, 1)}/results/1/judgment", data=later, headers=PART)
    assert verdicts_in(lost) == {"1": "1"}  # an earlier click that comes later


def test_the_same_event_twice_changes_nothing(client: FlaskClient, run_id: str) -> None:
    address = f"{place(run_id, 1)}/results/1/judgment"
    for _ in range(2):
        assert client.post(address, data={"relevance": "1", "event_id": "e"}).status_code == 303

    response = client.post(address, data={"relevance": "0", "event_id": "e"}, headers=PART)

    assert response.status_code == 409
    assert "#notices" in Page(response).partials


def test_going_on_leads_to_the_next_open_question(client: FlaskClient, run_id: str) -> None:
    for rank in (1, 2, 3):
        judge(client, run_id, 1, rank)

    response = client.post(
        f"{place(run_id, 1)}/rating", data={"quality": "5", "onward": "1"}, headers=PART
    )

    assert response.location == place(run_id, 2)


def test_marking_all_at_once_is_the_owners_switch(client: FlaskClient, run_id: str) -> None:
    address = f"{place(run_id, 1)}/judgments"
    assert client.post(address, data={"relevance": "1"}).status_code == 400

    settings = {"name": "S", "repeat_percent": "5", "allow_bulk": "1"}
    client.post("/study/", data=settings)

    assert client.post(address, data={"relevance": "1"}).status_code == 303
    assert pressed(client, run_id, 3) == ["1"]


def test_undo_shows_where_it_happened(client: FlaskClient, run_id: str) -> None:
    judge(client, run_id, 1)

    response = client.post(f"/runs/{run_id}/undo", data={"event_id": "u1"})

    assert response.location == place(run_id, 1)
    assert pressed(client, run_id, 1) == []


@pytest.mark.parametrize("headers", WAYS)
def test_undo_of_nothing_says_so(client: FlaskClient, run_id: str, headers: dict[str, str]) -> None:
    response = client.post(f"/runs/{run_id}/undo", headers=headers)

    assert response.status_code == (200 if headers else 303)
    assert not headers or "There is nothing left to undo." in response.text


def test_an_unreadable_answer_gets_its_cards_by_hand(client: FlaskClient, run_id: str) -> None:
    text = "1. **Rumah Cemara**\n   📍 Cemara, Medan\n   💰 Rp 1.670.000.000\n"

    client.post(f"{place(run_id, 5)}/cards", data={"text": text})

    page = client.get(place(run_id, 5)).text
    assert "Rumah Cemara" in page
    assert "Rp\xa01.67\xa0billion" in page
    assert client.post(f"{place(run_id, 5)}/cards", data={"text": text}).status_code == 409


def test_a_click_costs_the_same_in_any_run(client: FlaskClient, web_database: Database) -> None:
    counts = []
    for length in (5, 20):
        queries = [query(n, card(f"p{n}"), text=f"{length}/{n}") for n in range(1, length + 1)]
        run_id = stored(web_database, queries, method=f"m{length}")
        with statements_of(web_database) as statements:
            address = f"{place(run_id, 3)}/results/1/judgment"
            response = client.post(address, data={"relevance": "1"}, headers=PART)
        assert response.status_code == 200
        counts.append(len(statements))

    assert counts[0] == counts[1] <= MOST_STATEMENTS


def test_a_category_leads_to_its_first_open_question(client: FlaskClient, run_id: str) -> None:
    response = client.get(f"{place(run_id, 1)}?category=price")

    assert response.status_code == 303
    assert response.location == f"{place(run_id, 3)}?category=price"
    assert client.get(f"{place(run_id, 1)}?category=none").status_code == 200


def test_figures_on_the_page_are_those_of_metrics_json(client: FlaskClient, run_id: str) -> None:
    for rank, relevance in ((1, "0"), (2, "1"), (3, "1")):
        judge(client, run_id, 1, rank, relevance)

    figures = client.get(f"/runs/{run_id}/metrics.json").get_json()["figures"]

    tiles = Page(client.get(f"/runs/{run_id}")).all(".tiles li")
    names = ("mean_precision_at_5", "mrr", "success_rate", "mean_response_quality")
    for tile, name in zip(tiles, names, strict=True):
        low, high = (f"{figures[name][end]:.2f}" for end in ("lower", "upper"))
        assert f"can still be {low}–{high}" in tile


def test_a_figure_is_its_band_until_nothing_can_move_it(
    client: FlaskClient, web_database: Database
) -> None:
    """Query 1 is rated, not relevant: success 0 over 1 of 4; at the end between 0 and 3/4."""
    run_id = stored(web_database, [query(n, card(f"c{n}")) for n in range(1, 5)])
    judge(client, run_id, 1, relevance="0")
    response = client.get(f"{place(run_id, 2)}/figures", headers=PART)
    of_run = Page(response).all("[data-figure=success_rate] .num.open")[-1]
    assert of_run.one("b").text == "0.00"
    assert "0.00–0.75" in of_run
    assert "so far 0.00 over 1 of 4; 3 cards unjudged" in of_run

    for n in range(2, 5):
        judge(client, run_id, n)
    row = Page(client.get(place(run_id, 2))).one("[data-figure=success_rate]")
    assert not row.has(".open")
    assert "n = 4" in row
    assert row.texts("b") == ["yes", "0.75"]


@pytest.mark.usefixtures("run_ids")
def test_figures_are_told_where_the_study_does(client: FlaskClient, web_database: Database) -> None:
    """2 relevant of 4 counted, "cannot tell" among them; 2 of 3 where it is left out."""
    address = begin(client)
    for key, relevance in zip(keys(client.get(address)), ("1", "0", "1", "unsure"), strict=True):
        client.post(f"{address}/judgment", data={"card": key, "relevance": relevance})
    assert "Relevant so far" not in client.get(address).text

    set_study(web_database, figures="all")

    assert "Relevant so far: 0.50 (2 of 4 counted cards)" in Page(client.get(address))
    set_study(web_database, cannot_tell="left_out")
    assert "Relevant so far: 0.67 (2 of 3 counted cards)" in Page(client.get(address))


RECORD_ONLY = "Known to the record only"


def test_a_card_unfolds_its_facts(client: FlaskClient, web_database: Database, run: str) -> None:
    page = f"{run}/queries/1"
    words = Page(client.get(page)).one(".more")
    assert "Dekat Sun Plaza (300 m)" in words
    assert "Lingkungan tenang" in words
    assert "cctv" in words
    assert "Ada carport." not in words

    set_study(web_database, show_record=True)
    from_answer, from_record = Page(client.get(page)).one(".more").text.split(RECORD_ONLY)
    assert "Ada carport." in from_record
    assert "cctv" in from_answer
    assert "raters can see under the cards" in client.get(run).text
    set_study(web_database, show_record=False)
    assert "raters could see under the cards" in client.get(run).text


def test_a_blind_page_names_no_run(client: FlaskClient, web_database: Database, run: str) -> None:
    imported(client, v2_answer("api_only", {**LISTED, "score": 0.91, "rank": 1}), "results.json")
    set_study(web_database, show_record=True, repeat_percent=0)

    page = Page(client.get(begin(client)))

    assert RECORD_ONLY in page.one(".more")
    assert not re.search(r"hybrid|api_only|0\.91|results\.json", page.source)
    assert run not in page.source


@texts(long=False)
def test_hostile_facts_do_not_act(client: FlaskClient, web_database: Database, name: str) -> None:
    text = HOSTILE[name]
    facts = {
        "description": text * 60, "facilities": [text], "address": text,
        "specifications": {text: text}, "nearby": [{"name": text}],
    }  # fmt: skip
    listed = {
        **LISTED,
        **facts,
        "api_data": {"slug": "a", **{k: [v, "x"] for k, v in facts.items()}},
    }
    data = v2_answer(listed=listed, line=text.replace("\n", " "), heading=text)
    run = imported(client, data, "results.json").split("?")[0]
    set_study(web_database, show_record=True)
    client.post("/study/notes/", data={"note-1": text.encode(errors="ignore").decode()})

    check(client.get(f"{run}/queries/1").text, name)
    check(client.get("/study/notes/").text, name)


def test_the_owner_writes_notes_that_raters_read(client: FlaskClient, run: str) -> None:
    (field,) = Page(client.get("/study/notes/")).values("[name^=note-]", "name")
    assert client.post("/study/notes/", data={field: "A carport\r\ncounts."}).status_code == 303
    assert "A carport\ncounts." in client.get(f"{run}/queries/1").text

    response = client.post("/study/notes/", data={field: "x" * 2001})

    assert response.status_code == 422
    assert "x" * 2001 in response.text
    assert "This text is too long." in response.text
    assert "xxx" not in client.get(f"{run}/queries/1").text


NINE = datetime(2026, 3, 1, 9, tzinfo=UTC)
TOO_LONG, UNUSABLE = "This text is too long.", "This value cannot be used here."


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, (None, "", False)),
        ({"relevance": " 1 ", "onward": ""}, (Relevance.RELEVANT, "", False)),
        ({"relevance": "0", "onward": "1", "card": "a1\x00"}, (Relevance.NOT_RELEVANT, "a1", True)),
    ],
)
def test_a_verdict_is_read(
    app: Flask, fields: dict[str, str], expected: tuple[object, ...]
) -> None:
    with app.test_request_context(method="POST", data=fields | {"event_id": "e1"}):
        form = validated_form(VerdictForm)

    assert (form.relevance.data, form.card.data, form.onward.data) == expected
    assert form.click.event_id == "e1"


def test_an_event_is_read_and_named_where_nobody_named_it(app: Flask) -> None:
    fields = {
        "event_id": " e1 ",
        "device": "phone",
        "sequence": "12",
        "client_time": "1772355600000",
    }
    with app.test_request_context(method="POST", data=fields):
        event = clicks.event()
    with app.test_request_context(method="POST", data={"event_id": "", "sequence": " "}):
        first, second = clicks.event(), clicks.event()

    assert (event.event_id, event.device, event.sequence) == ("e1", "phone", 12)
    assert event.client_time == NINE
    assert first.event_id != second.event_id
    assert (first.device, first.sequence, first.client_time) == (None, None, None)
    assert first.received_at.tzinfo is UTC


@pytest.mark.parametrize(
    ("read", "field", "value", "message"),
    [
        (clicks.event, "event_id", "e" * 65, TOO_LONG),
        (clicks.event, "sequence", "first", UNUSABLE),
        (clicks.event, "sequence", str(2**31), UNUSABLE),
        (clicks.event, "client_time", "yesterday", UNUSABLE),
        (partial(validated_form, VerdictForm), "relevance", "yes", UNUSABLE),
        (partial(validated_form, VerdictForm), "card", "c" * 65, TOO_LONG),
    ],
)
def test_what_cannot_be_said_is_refused_by_its_field(
    app: Flask, read: Callable[[], object], field: str, value: str, message: str
) -> None:
    with (
        app.test_request_context(method="POST", data={field: value}),
        speaking("en"),
        pytest.raises(UnusableForm) as refused,
    ):
        read()

    assert refused.value.messages == {field: message}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, AnswerRating()),
        ({"quality": ""}, AnswerRating(quality=None)),
        ({"quality": "5", "notes": " a\r\nb"}, AnswerRating(quality=5, notes=" a\nb")),
        ({"notes": ""}, AnswerRating(notes="")),
        (
            {"empty_outcome": "false_negative"},
            AnswerRating(empty_outcome=EmptyOutcome.FALSE_NEGATIVE),
        ),
    ],
)
def test_a_rating_is_read(app: Flask, fields: dict[str, str], expected: AnswerRating) -> None:
    with app.test_request_context(method="POST", data=fields):
        rating = validated_form(RatingForm).rating

    assert rating == expected
    assert (rating.quality is KEEP) == ("quality" not in fields)


@pytest.mark.parametrize(
    "fields", [{"quality": "6"}, {"empty_outcome": "none"}, {"answer": "a" * 65}]
)
def test_a_rating_that_cannot_be_is_refused_by_its_field(
    app: Flask, fields: dict[str, str]
) -> None:
    with (
        app.test_request_context(method="POST", data=fields),
        pytest.raises(UnusableForm) as refused,
    ):
        validated_form(BlindRatingForm)

    assert refused.value.messages.keys() == fields.keys()
