"""The rating page and every click on it, with a script and without one."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from flask.testing import FlaskClient
from msgspec.structs import replace
from sqlalchemy import update
from werkzeug.test import TestResponse

from tests.conftest import NOW
from tests.services.runs.runs import card, query
from tests.services.statements import counted
from tests.web.conftest import PART, WAYS, stored
from tests.web.rating.blind_study import set_study
from tests.web.rating.open_answers import place
from webapp.db.engine import Database
from webapp.db.tables.runs import Query
from webapp.services.study import studies

MOVING = ("walk", "figures", "grades")
MOST_IN_A_CLICK = 15_000
NOW_MS = "1772355600000"  # 2026-03-01 09:00 UTC


def unblind(database: Database) -> None:
    """Let the runs of a question set be rated one by one, as the owner may decide."""
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        switches = replace(studies.switches(study), blind=False)
        studies.set_switches(session, study, switches, NOW)
        session.commit()


def stands(html: str) -> dict[str, str]:
    """Return the verdict in force, by the card it was put on."""
    found = re.search(r' #rank-(\d+) \.stands.*?data-stands="(\w*)"', html)
    assert found is not None
    return {found[1]: found[2]}


def pressed(html: str, rank: int) -> str | None:
    """Return the value of the pressed verdict button of a card."""
    form = re.search(rf'id="rank-{rank}".*?</article>', html, re.DOTALL)
    assert form is not None
    found = re.search(r'value="([^"]*)" aria-pressed="true"', form[0])
    return found[1] if found else None


def test_a_missing_price_is_named_only_where_another_card_has_one(
    client: FlaskClient, web_database: Database
) -> None:
    """In a list of documents no card has a price, and none is missing; blind pages alike."""
    one = stored(
        web_database,
        [query(1, card("a", price=650_000_000), card("b"), card("c")), query(2, card("d"))],
    )
    pages = [client.get(f"/runs/{one}/queries/{query_id}").text for query_id in (1, 2)]
    stored(web_database, [query(1, card("b")), query(2, card("e"))], method="api")
    task = client.get("/rate/").headers["Location"]
    pages += [client.get(task).text]
    pages += [client.get(f"/rate/?after={task.split('/')[-1]}", follow_redirects=True).text]

    assert [page.count("Price not stated") for page in pages] == [2, 0, 2, 0]


@pytest.mark.parametrize("headers", WAYS)
@pytest.mark.parametrize("query_id", [1, 2, 3, 4, 5, 6])
def test_every_state_of_an_answer_has_its_page(
    client: FlaskClient, run_id: str, query_id: int, headers: dict[str, str]
) -> None:
    answer = client.get(place(run_id, query_id), headers=headers)

    assert answer.status_code == 200
    assert f"Question {query_id}" in answer.text
    assert ("<html" in answer.text) == (headers == {})
    assert "HX-Request-Type" in answer.headers["Vary"]


def test_a_verdict_without_a_script_goes_back_to_its_card(client: FlaskClient, run_id: str) -> None:
    answer = client.post(f"{place(run_id, 1)}/results/2/judgment", data={"relevance": "0"})

    assert answer.status_code == 303
    assert answer.location == f"{place(run_id, 1)}#rank-2"
    assert pressed(client.get(place(run_id, 1)).text, 2) == "0"


def test_a_verdict_with_a_script_answers_with_the_one_that_stands_and_what_moves(
    client: FlaskClient, run_id: str
) -> None:
    data = {
        "relevance": "1",
        "event_id": "e1",
        "client_time": NOW_MS,
        "device": "phone",
        "sequence": "1",
    }

    answer = client.post(f"{place(run_id, 1)}/results/1/judgment", data=data, headers=PART)

    assert answer.status_code == 200
    assert stands(answer.text) == {"1": "1"}
    assert all(f'id="{part}"' in answer.text for part in MOVING)
    assert 'id="rank-1"' not in answer.text
    assert len(answer.data) <= MOST_IN_A_CLICK
    later = data | {"relevance": "0", "event_id": "e0", "sequence": "0"}
    lost = client.post(f"{place(run_id, 1)}/results/1/judgment", data=later, headers=PART)
    assert stands(lost.text) == {"1": "1"}  # an earlier click that came later changes nothing


@pytest.mark.parametrize(
    "said", [{"relevance": "1", "onward": "1"}, {"relevance": ""}], ids=["last", "cleared"]
)
def test_a_last_verdict_and_one_taken_back_answer_with_all_that_moves(
    client: FlaskClient, run_id: str, said: dict[str, str]
) -> None:
    client.post(f"{place(run_id, 1)}/results/1/judgment", data={"relevance": "0"})

    answer = client.post(f"{place(run_id, 1)}/results/1/judgment", data=said, headers=PART)

    if said["relevance"]:
        assert stands(answer.text) == {"1": said["relevance"]}
    else:
        assert pressed(answer.text, 1) is None
    assert 'id="rank-2"' not in answer.text
    assert all(f'id="{part}"' in answer.text for part in MOVING)
    assert len(answer.data) <= MOST_IN_A_CLICK


def test_a_suggestion_goes_with_the_verdict_it_came_from(
    client: FlaskClient, web_database: Database
) -> None:
    """One card: relevant suggests 5; where nothing is counted nothing is suggested."""
    run_id = stored(web_database, [query(1, card("a"))])
    unblind(web_database)
    set_study(web_database, cannot_tell="left_out")
    address = f"{place(run_id, 1)}/results/1/judgment"

    for relevance, suggestions in (("1", 1), ("unsure", 0)):
        answer = client.post(address, data={"relevance": relevance}, headers=PART)
        assert 'id="grades"' in answer.text
        assert answer.text.count('class="suggested"') == suggestions


def test_a_listing_shown_twice_is_judged_at_both_ranks(client: FlaskClient, run_id: str) -> None:
    verdict = {"relevance": "1"}

    answer = client.post(f"{place(run_id, 2)}/results/1/judgment", data=verdict, headers=PART)

    assert (pressed(answer.text, 1), pressed(answer.text, 3)) == ("1", "1")
    assert 'id="rank-2"' not in answer.text
    assert "The same listing is at rank 3 too" in answer.text


@pytest.mark.parametrize("relevance", ["1", "0", "unsure", ""])
def test_a_verdict_can_be_given_and_taken_back(
    client: FlaskClient, run_id: str, relevance: str
) -> None:
    address = f"{place(run_id, 1)}/results/1/judgment"
    client.post(address, data={"relevance": "1"})

    client.post(address, data={"relevance": relevance})

    assert pressed(client.get(place(run_id, 1)).text, 1) == (relevance or None)


def test_the_same_event_twice_changes_nothing_and_another_meaning_is_refused(
    client: FlaskClient, run_id: str
) -> None:
    address = f"{place(run_id, 1)}/results/1/judgment"
    for _ in range(2):
        assert client.post(address, data={"relevance": "1", "event_id": "e"}).status_code == 303

    answer = client.post(address, data={"relevance": "0", "event_id": "e"}, headers=PART)

    assert answer.status_code == 409
    assert 'hx-target="#notices"' in answer.text


def test_an_absent_field_of_a_rating_is_left_alone(client: FlaskClient, run_id: str) -> None:
    address = f"{place(run_id, 1)}/rating"
    client.post(address, data={"quality": "4", "notes": "first"})

    client.post(address, data={"notes": "second"})

    html = client.get(place(run_id, 1)).text
    assert re.search(r'value="4"[^>]* checked', html)
    assert "\nsecond</textarea>" in html


def test_an_empty_quality_takes_it_back(client: FlaskClient, run_id: str) -> None:
    client.post(f"{place(run_id, 1)}/rating", data={"quality": "4"})

    client.post(f"{place(run_id, 1)}/rating", data={"quality": ""})

    grades = client.get(place(run_id, 1)).text.split('id="grades"')[1].split("</fieldset>")[0]
    assert " checked>" not in grades


@pytest.mark.parametrize("headers", WAYS)
def test_an_empty_list_asks_one_thing(
    client: FlaskClient, run_id: str, headers: dict[str, str]
) -> None:
    answer = client.post(
        f"{place(run_id, 3)}/rating", data={"empty_outcome": "correct_empty"}, headers=headers
    )

    assert answer.status_code == (200 if headers else 303)
    assert 'value="correct_empty" aria-pressed="true"' in client.get(place(run_id, 3)).text


def test_an_answer_with_cards_has_no_emptiness(client: FlaskClient, run_id: str) -> None:
    answer = client.post(f"{place(run_id, 1)}/rating", data={"empty_outcome": "correct_empty"})

    assert answer.status_code == 400


def test_going_on_answers_for_the_next_open_question(client: FlaskClient, run_id: str) -> None:
    for rank in (1, 2, 3):
        client.post(f"{place(run_id, 1)}/results/{rank}/judgment", data={"relevance": "1"})

    answer = client.post(
        f"{place(run_id, 1)}/rating", data={"quality": "5", "onward": "1"}, headers=PART
    )

    assert 'id="walk"' in answer.text
    assert 'data-query="2"' in answer.text
    assert "Question 2 of 6" in answer.text


def test_a_correct_empty_list_is_doubted_when_another_run_found_something(
    client: FlaskClient, run_id: str, web_database: Database
) -> None:
    other = stored(
        web_database, [query(3, card("x"), category="price", text="Question 3")], method="api_only"
    )
    unblind(web_database)
    client.post(f"{place(other, 3)}/results/1/judgment", data={"relevance": "1"})

    client.post(f"{place(run_id, 3)}/rating", data={"empty_outcome": "correct_empty"})

    assert "Another run shows a property you judged relevant" in client.get(place(run_id, 3)).text


def test_marking_all_at_once_is_the_owners_switch(client: FlaskClient, run_id: str) -> None:
    address = f"{place(run_id, 1)}/judgments"
    assert client.post(address, data={"relevance": "1"}).status_code == 400

    wanted = {"name": "S", "repeat_percent": "5", "allow_bulk": "1"}
    client.post("/study/", data=wanted)

    assert client.post(address, data={"relevance": "1"}).status_code == 303
    assert pressed(client.get(place(run_id, 1)).text, 3) == "1"


def test_undo_shows_where_it_happened(client: FlaskClient, run_id: str) -> None:
    client.post(f"{place(run_id, 1)}/results/1/judgment", data={"relevance": "1"})

    answer = client.post(f"/runs/{run_id}/undo", data={"event_id": "u1"})

    assert answer.location == place(run_id, 1)
    assert pressed(client.get(place(run_id, 1)).text, 1) is None


@pytest.mark.parametrize("headers", WAYS)
def test_undo_with_nothing_left_says_so(
    client: FlaskClient, run_id: str, headers: dict[str, str]
) -> None:
    answer = client.post(f"/runs/{run_id}/undo", headers=headers)

    assert answer.status_code == (200 if headers else 303)
    assert not headers or "There is nothing left to undo." in answer.text


def test_an_unreadable_answer_says_how_many_results_its_file_counts(
    client: FlaskClient, web_database: Database, run_id: str
) -> None:
    with web_database.writing() as session:
        session.execute(update(Query).where(Query.query_id == 5).values(claimed_count=3))
        session.commit()

    said = " ".join(client.get(place(run_id, 5)).text.split())
    assert "counts 3 results, but no card was found in the text. It is in no figure until" in said


def test_an_unreadable_answer_gets_its_cards_by_hand(client: FlaskClient, run_id: str) -> None:
    text = "1. **Rumah Cemara**\n   📍 Cemara, Medan\n   💰 Rp 1.670.000.000\n"

    client.post(f"{place(run_id, 5)}/cards", data={"text": text})

    page = client.get(place(run_id, 5)).text
    assert "Rumah Cemara" in page
    assert "Rp\xa01.67\xa0billion" in page
    assert client.post(f"{place(run_id, 5)}/cards", data={"text": text}).status_code == 409


@pytest.mark.parametrize(
    ("address", "data"),
    [
        ("results/1/judgment", {"relevance": "yes"}),
        ("results/1/judgment", {"relevance": "1", "event_id": "e" * 65}),
        ("results/1/judgment", {"relevance": "1", "client_time": "yesterday"}),
        ("results/1/judgment", {"relevance": "1", "client_time": "9" * 30}),
        ("results/1/judgment", {"relevance": "1", "client_time": "2026-03-01T09:00:00"}),
        ("results/1/judgment", {"relevance": "1", "sequence": "first"}),
        ("results/1/judgment", {"relevance": "1", "sequence": "-1"}),
        ("rating", {"quality": "6"}),
        ("rating", {"quality": "4.5"}),
        ("rating", {"empty_outcome": "perhaps"}),
        ("rating", {"notes": "x" * 10_001}),
    ],
)
def test_what_cannot_be_said_is_refused_in_words(
    client: FlaskClient, run_id: str, address: str, data: dict[str, str]
) -> None:
    answer = client.post(f"{place(run_id, 1)}/{address}", data=data)

    assert answer.status_code == 400
    assert re.search(r"This (value cannot be used here|text is too long)\.", answer.text)


def costs(database: Database, ask: Callable[[str], TestResponse]) -> list[int]:
    """The statements that asking costs at a question of a run of 5, and of one of 60."""
    counts = []
    for length in (5, 60):
        queries = [query(n, card(f"p{n}"), text=f"{length}/{n}") for n in range(1, length + 1)]
        run_id = stored(database, queries, method=f"m{length}")
        with counted(database) as statements:
            answer = ask(place(run_id, 3))
        assert answer.status_code == 200
        counts.append(len(statements))
    return counts


def test_a_click_costs_the_same_in_a_long_run_as_in_a_short_one(
    client: FlaskClient, web_database: Database
) -> None:
    short, long = costs(
        web_database,
        lambda at: client.post(f"{at}/results/1/judgment", data={"relevance": "1"}, headers=PART),
    )

    assert short == long


def test_a_card_that_is_silent_about_what_differs_says_what_is_known_of_its_content(
    client: FlaskClient, web_database: Database
) -> None:
    """The last run's card states no bedrooms, and is known to be the one with two."""
    lists = {"m1": card("a", bedrooms=2), "m2": card("a", bedrooms=3), "m3": card("a")}
    ids = [stored(web_database, [query(1, shown)], method=name) for name, shown in lists.items()]
    unblind(web_database)
    client.post(f"{place(ids[1], 1)}/results/1/judgment", data={"relevance": "1"})

    html = client.get(place(ids[2], 1)).text
    assert re.search(r"before <s[^>]*>3</s></span> <span>now <b[^>]*>2</b>", html)


def test_a_line_after_the_fifth_card_says_what_precision_at_5_counts(
    client: FlaskClient, web_database: Database
) -> None:
    """Only where more than five cards are listed."""
    five, six = (
        query(number, *(card(f"{number}{at}") for at in range(count)))
        for number, count in ((1, 5), (2, 6))
    )
    run_id = stored(web_database, [five, six])
    said = "Precision@5 counts the cards above this line"

    assert said not in client.get(place(run_id, 1)).text
    html = client.get(place(run_id, 2)).text
    assert html.count(said) == 1
    assert html.index('id="rank-5"') < html.index(said) < html.index('id="rank-6"')
