"""The blind rater's pages: stages in order, nothing named, with a script and without one."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from relevansi.db.engine import Database
from relevansi.db.tables.judging import Task
from relevansi.db.tables.people import LogEntry, Rater
from relevansi.services.judging import stored_summaries
from relevansi.services.rating import tasks, workloads
from relevansi.services.rating.pool import POOL, REPEAT, Unit
from relevansi.services.study import assignments, studies
from tests.conftest import NOW
from tests.demo import study_of
from tests.page import Page
from tests.services.runs.runs import card, query
from tests.services.statements import statements_of
from tests.web.conftest import PART, stored
from tests.web.rating.blind_study import begin, in_medan, judge_all, keys, set_study, verdicts_in

SECRETS = ("hybrid", "api_only", "vector_only", "gpt-test", "test_results", "results.json")
NOTHING_LEFT = "Everything is rated. Thank you."
MOST_STEPS = 60
MOST_IN_A_CLICK = 30


def rate_whole_study(client: FlaskClient) -> list[bytes]:
    """All that a rater receives up to the end of a study; every click is sent in both ways."""
    received: list[bytes] = []

    def note(response: TestResponse) -> TestResponse:
        received.append(str(response.headers).encode() + response.data)
        return response

    def send(address: str, **data: str) -> None:
        for headers in ({}, PART):
            note(client.post(address, data=data, headers=headers))

    for step in range(MOST_STEPS):
        note(client.get("/rate/", headers=PART))
        response = note(client.get("/rate/"))
        if response.status_code == 200:
            return received
        address = response.location
        page = note(client.get(address))
        note(client.get(address, headers=PART))
        note(client.get(f"{address}?open=1"))
        if step % 3 == 0:  # put off and rated all the same, and what follows is looked at
            send(f"{address}/later")
            note(client.get(address))
            note(client.get(f"/rate/?after={address.removeprefix('/rate/')}"))
        for number, key in enumerate(keys(page)):
            send(f"{address}/judgment", card=key, relevance="1", event_id=f"{step}-{number}")
        if Page(note(client.get(address))).has("#outcome"):
            send(f"{address}/rating", empty_outcome="false_negative", event_id=f"{step}-e")
        for number, key in enumerate(keys(note(client.get(address)), "answer")):
            event_id = f"{step}-q{number}"
            send(f"{address}/rating", answer=key, quality="4", notes="n", event_id=event_id)
    raise AssertionError("it never ends")


def owner(database: Database) -> int:
    with database.reading() as session:
        return studies.raters(session, study_of(session))[0].id


def test_a_blind_rater_receives_no_run_no_method_and_no_file(
    client: FlaskClient, web_database: Database, run_ids: list[str]
) -> None:
    """Over a whole study with hidden repetitions, in pages, parts, addresses and headers."""
    guidelines = "# Relevan\n\n- lokasi cocok"
    set_study(web_database, repeat_percent=20, guidelines=guidelines, figures="all")

    received = b"\n".join(rate_whole_study(client)).lower()

    for secret in (*run_ids, *SECRETS):
        assert secret.lower().encode() not in received, secret
    assert not re.search(rb'data-rank|id="rank|class="rank|>rank', received)
    assert b"repeat" not in received.replace(b"data-repeats", b"")
    assert NOTHING_LEFT.lower().encode() in received
    assert b'class="live"' in received
    with web_database.reading() as session:
        rater = session.get_one(Rater, owner(web_database))
        for run_id in run_ids:
            categories = stored_summaries.by_category(session, rater.id, run_id).values()
            assert all(state.open_queries == 0 for state in categories)
        assert stored_summaries.check(session) == []


@pytest.mark.usefixtures("run_ids")
def test_repeats_to_come_take_nothing_off_the_questions_that_are_done(
    client: FlaskClient, web_database: Database
) -> None:
    set_study(web_database, repeat_percent=100)

    page = Page(client.get("/rate/", follow_redirects=True))

    assert page.one("#walk progress")["value"] == "0"


@pytest.mark.parametrize("again", [False, True], ids=["first", "again"])
def test_notes_on_a_question_are_those_of_each_of_its_lists(
    client: FlaskClient, web_database: Database, run_ids: list[str], *, again: bool
) -> None:
    """Where no quality is asked: without a script, taken back at once, and a repeat has its own."""
    set_study(web_database, asks_quality=False)
    address = begin(client)
    if again:
        judge_all(client, address)
        with web_database.writing() as session:
            task = session.get_one(Task, address.removeprefix("/rate/"))
            unit = Unit(task.question_id, task.run_id)
            address = f"/rate/{workloads._make_repeat(session, task.rater, unit, NOW).id}"
            session.commit()
        judge_all(client, address)
    task_id = address.removeprefix("/rate/")

    def notes() -> str:
        return Page(client.get(address)).one("[name=notes]").content.strip()

    def exported() -> list[bool]:
        files = [client.get(f"/runs/{run_id}/export.csv").text for run_id in run_ids]
        return ["unclear" in file for file in files]

    for text in ("unclear", "unclear\nto me"):
        form = Page(client.get(address)).one("form.rate")
        assert client.post(form["action"], data={"notes": text}).location == f"{address}#below"

    assert notes() == "unclear\nto me"
    assert exported() == [not again] * 3
    with web_database.reading() as session:
        assert tasks.is_done(session, session.get_one(Rater, 1), task_id) == again
    client.post("/rate/undo")
    assert notes() == "unclear"
    client.post("/rate/undo")
    assert notes() == ""
    assert exported() == [False] * 3


def test_a_repeat_s_page_looks_like_the_first(client: FlaskClient, web_database: Database) -> None:
    """All of both, in every stage, once ids, numbers and the shuffled order are taken out."""
    queries = [query(number, in_medan("a"), in_medan("b")) for number in range(1, 8)]
    for method in ("hybrid", "api_only"):
        stored(web_database, queries, method=method)
    set_study(web_database, blind=True, repeat_percent=15, guidelines="# Relevan", figures="all")
    with web_database.writing() as session:
        rater = session.get_one(Rater, owner(web_database))
        for seed in range(100):
            rater.study.order_secret = f"{seed:064x}"
            workload = workloads.of_rater(session, rater)
            (planned,) = workload.planned
            # The last one of all ends with other words; before the first nothing is decided.
            if workload.planned[planned] < 6 and planned != workload.free[0]:
                break
        session.commit()
    pages: dict[str, list[list[str]]] = {}
    for _ in range(9):
        response = client.get("/rate/")
        if response.status_code == 200:
            break
        address = response.location
        pages[address] = [anonymous(client.get(address).text)]
        judge_all(client, address)
        pages[address].append(anonymous(client.get(address).text))
        for key in keys(client.get(address), "answer"):
            client.post(f"{address}/rating", data={"answer": key, "quality": "4"})
        pages[address].append(anonymous(client.get(address).text))

    with web_database.reading() as session:
        again = session.scalars(select(Task).where(Task.kind == REPEAT)).one()
        same = (Task.question_id == again.question_id, Task.kind == POOL)
        first = session.scalars(select(Task).where(*same)).one()
    assert len(pages) == 8
    assert pages[f"/rate/{again.id}"] == pages[f"/rate/{first.id}"]


def anonymous(html: str) -> list[str]:
    plain = re.sub(r"/rate/[\w-]{12}|[0-9a-f]{16}|query=\"[^\"]+\"|[0-9]+", "*", html)
    one_line = " ".join(re.sub(r"\b(card|question)s\b", r"\1", plain).split())
    elements = re.split(r"(?=<)", one_line)
    ways = 'class="icon', "data-jump"
    return sorted(element for element in elements if not any(way in element for way in ways))


@pytest.mark.usefixtures("run_ids")
def test_guidelines_are_shown_and_cannot_run(client: FlaskClient, web_database: Database) -> None:
    set_study(web_database, guidelines="**Relevan** bila cocok <script>alert(1)</script>")

    guide = Page(client.get(begin(client))).one("#guidelines")

    assert guide.texts("strong") == ["Relevan"]
    assert "bila cocok" in guide
    assert not guide.has("script")


def test_a_blind_click_costs_the_same_anywhere(client: FlaskClient, web_database: Database) -> None:
    """Each kind of click and what is next, in 5 questions and in 15, three runs each."""
    # No repetition, else only the longer one is to ask again.
    set_study(web_database, repeat_percent=0, figures="all")
    counts = []
    for length in (5, 15):
        for method in ("m1", "m2", "m3"):
            queries = [
                query(n, card(f"p{n}"), card(f"{method}{n}"), text=f"{length}/{n}")
                for n in range(1, length + 1)
            ]
            stored(web_database, queries, method=method)
        with web_database.writing() as session:
            rater = session.get_one(Rater, owner(web_database))
            free = tasks.next_task(session, rater, NOW)
            assert free is not None
            session.commit()
        rate_questions(client, 1)  # the first click of all reads everything
        counts.append(statements_of_one_question(client, web_database))
        if length == 5:
            rate_questions(client, 4)  # so that what is next is of the longer ones

    assert sorted(counts[0]) == sorted(counts[1])
    assert max(counts[0]) <= MOST_IN_A_CLICK


@pytest.mark.usefixtures("run_ids")
def test_a_blind_click_is_eight_statements_while_cards_are_open(
    client: FlaskClient, web_database: Database
) -> None:
    address = begin(client)
    first, *_, last = keys(client.get(address))
    assert cost(client, web_database, f"{address}/judgment", verdict(first, "1")) <= 8
    assert cost(client, web_database, f"{address}/judgment", verdict(first, "")) <= 8
    assert verdicts_in(client.post(f"{address}/judgment", data=verdict(last, "0"), headers=PART))


def verdict(card: str, relevance: str) -> dict[str, str]:
    return {"card": card, "relevance": relevance}


def statements_of_one_question(client: FlaskClient, database: Database) -> list[int]:
    address, costs = begin(client), []
    clicks = [("judgment", {"card": key, "relevance": "1"}) for key in keys(client.get(address))]
    for where, data in clicks:
        costs.append(cost(client, database, f"{address}/{where}", data))
    for key in keys(client.get(address), "answer"):
        grade = {"answer": key, "quality": "4", "onward": "1"}
        costs.append(cost(client, database, f"{address}/rating", grade))
    return costs


def cost(client: FlaskClient, database: Database, address: str, data: dict[str, str]) -> int:
    with statements_of(database) as statements:
        response = client.post(address, data=data, headers=PART)
    assert response.status_code in {200, 303}
    return len(statements)


def rate_questions(client: FlaskClient, questions: int) -> None:
    for _ in range(questions):
        response = client.get("/rate/")
        if response.status_code == 200:
            return
        judge_all(client, response.location)
        for key in keys(client.get(response.location), "answer"):
            client.post(f"{response.location}/rating", data={"answer": key, "quality": "4"})


def test_reading_a_run_is_logged_once(
    client: FlaskClient, web_database: Database, run_ids: list[str]
) -> None:
    for _ in range(2):
        response = client.get(f"/runs/{run_ids[0]}/queries/2")
        assert response.status_code == 303
        page = Page(client.get(response.location))
        assert "2. " in page
        assert "Answer 2: ['x']" in page
        assert not page.has("form[method=post][action^='/rate']")
        assert "/judgment" not in page.source

    with web_database.reading() as session:
        logged = select(LogEntry.subject).where(LogEntry.action == assignments.OPENED)
        assert session.scalars(logged).all() == [f"{run_ids[0]}/2"]

    part = client.get(f"/runs/{run_ids[0]}/queries/1", headers=PART)
    assert part.status_code == 409
    assert "#notices" in Page(part).partials


@pytest.mark.parametrize("address", ["/", "/runs/", "/runs/{}"])
def test_rating_begins_blind(client: FlaskClient, run_ids: list[str], address: str) -> None:
    page = Page(client.get(address.format(run_ids[0])))

    assert "/rate/" in page.links()
    assert f"/runs/{run_ids[0]}/queries/" not in page.source


@pytest.mark.usefixtures("run_ids")
def test_verdicts_of_an_old_page_reach_their_cards(
    client: FlaskClient, web_database: Database
) -> None:
    address = begin(client)
    before = Page(client.get(address)).values(".card", "data-card")
    stored(web_database, [query(1, *(in_medan(f"new {n}") for n in range(9)))], method="late")
    after = Page(client.get(address)).values(".card", "data-card")

    assert set(before) < set(after)
    assert before != after[: len(before)]
    for key in before:
        data = {"card": key, "relevance": "1"}
        response = client.post(f"{address}/judgment", data=data, headers=PART)
        (place,) = Page(client.get(address)).values(f'[data-card="{key}"]', "data-position")
        assert verdicts_in(response)[place] == "1"


@pytest.mark.usefixtures("run_ids")
def test_a_click_with_a_script_answers_with_what_it_changed(client: FlaskClient) -> None:
    address = begin(client)
    first, *remainder = keys(client.get(address))
    data = {"relevance": "1", "device": "phone", "sequence": "1", "event_id": "e1"}

    response = client.post(f"{address}/judgment", data=data | {"card": first}, headers=PART)

    assert response.status_code == 200
    part = Page(response)
    assert verdicts_in(response)["1"] == "1"
    assert len(response.data) <= 6_000
    assert part.is_part
    assert not part.has("#below")
    for number, key in enumerate(remainder):
        again = {"relevance": "1", "event_id": f"r{number}", "card": key, "onward": "1"}
        response = client.post(f"{address}/judgment", data=again, headers=PART)
    assert Page(response).one("#below")["data-stage"] == "answers"
    assert len(keys(response, "answer")) == 3


@pytest.mark.usefixtures("run_ids")
def test_going_on_leads_to_the_next_question_once_this_one_is_done(client: FlaskClient) -> None:
    address = begin(client)
    judge_all(client, address)
    answers = keys(client.get(address), "answer")
    for number, key in enumerate(answers, start=1):
        grade = {"answer": key, "quality": "5", "onward": "1"}
        response = client.post(f"{address}/rating", data=grade, headers=PART)
        assert response.status_code == (303 if number == len(answers) else 200)
        assert number > 1 or Page(response).texts("#gist-A b") == ["5"]  # as it is folded away

    assert re.fullmatch(r"/rate/[\w-]+", response.location)
    assert response.location not in (address, "/rate/")
    assert response.location == begin(client)


@pytest.mark.parametrize(
    ("part", "data", "status"),
    [
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
def test_what_is_not_there_is_refused(
    client: FlaskClient, part: str, data: dict[str, str], status: int
) -> None:
    """An unknown card or answer, none at all, a value that cannot be, no empty list."""
    assert client.get("/rate/not-given").status_code == 404
    assert client.post(begin(client) + part, data=data).status_code == status


@pytest.mark.usefixtures("run_ids")
def test_undo_shows_where_it_happened_in_whichever_task(client: FlaskClient) -> None:
    address = begin(client)
    key = keys(client.get(address))[0]
    client.post(f"{address}/judgment", data={"card": key, "relevance": "1"})

    response = client.post("/rate/undo", data={"event_id": "u1"})

    assert response.location == address
    assert not Page(client.get(address)).has("[aria-pressed=true]")
