"""The blind rater's pages: stages in order, nothing named, with a script and without one."""

from __future__ import annotations

import re
from html import unescape

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from tests.conftest import NOW
from tests.services.runs.runs import card, query
from tests.services.statements import counted
from tests.web.conftest import PART, WAYS, stored
from tests.web.rating.blind_study import (
    begin,
    judge_all,
    keys,
    set_study,
    shown,
    stage,
    ways,
)
from webapp.db.engine import Database
from webapp.db.tables.judging import Task
from webapp.db.tables.people import LogEntry, Rater
from webapp.services.judging import live_metrics
from webapp.services.rating import shares, tasks
from webapp.services.rating.pool import POOL, REPEAT
from webapp.services.study import assignments, studies

SECRETS = ("hybrid", "api_only", "vector_only", "gpt-test", "test_results", "results.json")
NOTHING_LEFT = "Everything is rated. Thank you."
MOST_STEPS = 60
MOST_IN_A_CLICK = 30


def rate_whole_study(client: FlaskClient, headers: dict[str, str]) -> list[bytes]:
    """Rate everything as a page would ask it; return every byte that came, headers included."""
    received: list[bytes] = []

    def keep(answer: object) -> str:
        received.append(str(answer.headers).encode() + answer.data)  # type: ignore[attr-defined]
        return str(answer.text)  # type: ignore[attr-defined]

    for step in range(MOST_STEPS):
        answer = client.get("/rate/", headers=headers)
        keep(answer)
        if answer.status_code == 200:
            keep(client.get("/rate/"))
            return received
        address = answer.location
        html = keep(client.get(address))
        keep(client.get(address, headers=PART))
        keep(client.get(f"{address}?open=1", headers=headers))
        if step % 3 == 0:  # put off and rated all the same, and what follows is looked at
            keep(client.post(f"{address}/later", headers=headers))
            keep(client.get(address))
            keep(client.get(f"/rate/?after={address.removeprefix('/rate/')}", headers=headers))
        for number, key in enumerate(keys(html)):
            data = {"card": key, "relevance": "1", "event_id": f"{step}-{number}"}
            keep(client.post(f"{address}/judgment", data=data, headers=headers))
        html = keep(client.get(address))
        if 'id="outcome"' in html:
            said = {"empty_outcome": "false_negative", "event_id": f"{step}-e"}
            keep(client.post(f"{address}/rating", data=said, headers=headers))
        for number, key in enumerate(keys(keep(client.get(address)), "answer")):
            said = {"answer": key, "quality": "4", "notes": "n", "event_id": f"{step}-q{number}"}
            keep(client.post(f"{address}/rating", data=said, headers=headers))
    raise AssertionError("it never ends")


def owner(database: Database) -> int:
    with database.reading() as session:
        study = studies.current(session)
        assert study is not None
        return studies.raters(session, study)[0].id


@pytest.mark.parametrize("headers", WAYS)
def test_a_blind_rater_receives_no_run_no_method_and_no_file(
    client: FlaskClient, web_database: Database, run_ids: list[str], headers: dict[str, str]
) -> None:
    """Over a whole study with hidden repetitions, in pages, parts, addresses and headers."""
    guidelines = "# Relevan\n\n- lokasi cocok"
    set_study(web_database, repeat_percent=20, guidelines=guidelines, figures="all")

    received = b"\n".join(rate_whole_study(client, headers)).lower()

    for secret in (*run_ids, *SECRETS):
        assert secret.lower().encode() not in received, secret
    assert not re.search(rb'data-rank|id="rank|class="rank|>rank', received)
    assert b"repeat" not in received.replace(b"data-repeats", b"")
    assert NOTHING_LEFT.lower().encode() in received
    assert b'class="of-answers"' in received
    with web_database.reading() as session:
        rater = session.get_one(Rater, owner(web_database))
        for run_id in run_ids:
            found = live_metrics.by_category(session, rater.id, run_id).values()
            assert all(standing.open_queries == 0 for standing in found)
        assert live_metrics.check(session) == []


def test_the_verdicts_asked_are_the_distinct_judged_things(
    client: FlaskClient,
    web_database: Database,
    run_ids: list[str],  # noqa: ARG001
) -> None:
    """Question 1: a (two prices), b, c; 2: x, an emptiness; 3: y, an emptiness; 4: z, z, z.

    Question 4 depends on its conversation and is asked for each run. Each of the twelve
    answers has a quality, the three empty ones too.
    """
    rate_whole_study(client, {})

    with web_database.reading() as session:
        standing = live_metrics.check(session)
    page = client.get("/rate/").text
    assert standing == []
    assert re.findall(r"<dd>(\d+)</dd>", page) == ["6", "9", "2", "12"]


def test_a_repeat_s_page_is_the_page_of_the_first_time_but_for_names_and_numbers(
    client: FlaskClient, web_database: Database
) -> None:
    """All of both, in every stage, once ids, numbers and the shuffled order are taken out."""
    queries = [query(number, shown("a"), shown("b")) for number in range(1, 11)]
    for method in ("hybrid", "api_only"):
        stored(web_database, queries, method=method)
    set_study(web_database, blind=True, repeat_percent=10, guidelines="# Relevan", figures="all")
    with web_database.writing() as session:
        rater = session.get_one(Rater, owner(web_database))
        for seed in range(100):
            rater.study.order_secret = f"{seed:064x}"
            share = shares.of_rater(session, rater)
            (planned,) = share.planned
            # The last one of all ends with other words; before the first nothing is decided.
            if share.planned[planned] < 9 and planned != share.free[0]:
                break
        session.commit()
    pages: dict[str, list[list[str]]] = {}
    for _ in range(12):
        answer = client.get("/rate/")
        if answer.status_code == 200:
            break
        address = answer.location
        pages[address] = [anonymous(client.get(address).text)]
        judge_all(client, address)
        pages[address].append(anonymous(client.get(address).text))
        for key in keys(client.get(address).text, "answer"):
            client.post(f"{address}/rating", data={"answer": key, "quality": "4"})
        pages[address].append(anonymous(client.get(address).text))

    with web_database.reading() as session:
        again = session.scalars(select(Task).where(Task.kind == REPEAT)).one()
        same = (Task.question_id == again.question_id, Task.kind == POOL)
        first = session.scalars(select(Task).where(*same)).one()
    assert len(pages) == 11
    assert pages[f"/rate/{again.id}"] == pages[f"/rate/{first.id}"]


def anonymous(html: str) -> list[str]:
    """Return the lines of a page in no order, without ids, keys, numbers and ways."""
    plain = re.sub(r"/rate/[\w-]{12}|[0-9a-f]{16}|query=\"[^\"]+\"|[0-9]+", "*", html)
    lines = re.sub(r"\b(card|question)s\b", r"\1", plain).splitlines()
    return sorted(line for line in lines if 'class="way' not in line)


@pytest.mark.usefixtures("run_ids")
def test_the_cards_come_first_then_the_emptiness_then_the_answers(client: FlaskClient) -> None:
    """Nothing of a later stage is on the page before its time."""
    client.get(begin(client))
    judge_all(client, begin(client))
    first = begin(client)
    for key in keys(client.get(first).text, "answer"):
        client.post(f"{first}/rating", data={"answer": key, "quality": "3"})
    second = begin(client)
    assert second != first

    html = client.get(second).text
    assert stage(html) == "cards"
    assert 'id="outcome"' not in html
    assert keys(html, "answer") == []
    judge_all(client, second)
    html = client.get(second).text
    assert stage(html) == "emptiness"
    assert html.count('id="outcome"') == 1
    assert keys(html, "answer") == []
    client.post(f"{second}/rating", data={"empty_outcome": "correct_empty"})
    html = client.get(second).text
    assert stage(html) == "answers"
    assert re.findall(r"<h2[^>]*>Answer (\w)</h2>", html) == ["A", "B", "C"]
    assert re.findall(r"Answer 2: \[[^]]*\]", unescape(html)).count("Answer 2: []") == 1
    assert "Suggested" not in html
    assert "You judged a property relevant for this question" in html


def test_with_no_run_there_is_nothing_to_rate_yet(client: FlaskClient) -> None:
    answer = client.get("/rate/")

    assert answer.status_code == 200
    assert "Nothing to rate yet" in answer.text


@pytest.mark.usefixtures("run_ids")
def test_guidelines_stand_beside_the_cards_and_cannot_run(
    client: FlaskClient, web_database: Database
) -> None:
    set_study(web_database, guidelines="**Relevan** bila cocok <script>alert(1)</script>")

    html = client.get(begin(client)).text

    assert "<strong>Relevan</strong> bila cocok" in html
    assert "<script>alert" not in html


@pytest.mark.usefixtures("run_ids")
def test_next_leads_on_to_a_question_that_was_not_given_yet(client: FlaskClient) -> None:
    """Six units: question 4 depends on its conversation and is asked for each of three runs."""
    address = begin(client)
    walked = [address]
    while (further := ways(client.get(address).text)["l"]) is not None:
        assert further == f"/rate/?after={address.removeprefix('/rate/')}"
        answer = client.get(further)
        assert answer.status_code == 303
        address = answer.location
        assert address not in walked
        walked.append(address)

    assert len(walked) == 6
    assert ways(client.get(address).text) == {"p": walked[-2], "l": None, "g": "/rate/"}
    assert ways(client.get(walked[0]).text)["l"] == walked[1]
    assert begin(client) == walked[0]


@pytest.mark.parametrize("headers", WAYS)
@pytest.mark.usefixtures("run_ids")
def test_a_question_put_off_says_so_and_comes_again_after_the_others(
    client: FlaskClient, headers: dict[str, str]
) -> None:
    address = begin(client)
    assert f'action="{address}/later"' in client.get(address).text

    answer = client.post(f"{address}/later", headers=headers)

    assert answer.status_code == 303
    assert answer.location not in {address, "/rate/"}
    assert ways(client.get(answer.location).text)["p"] == address
    assert "You put this question off" in client.get(address).text
    assert "You put this question off" not in client.get(answer.location).text
    seen = []
    for _ in range(5):
        seen.append(begin(client))
        judge_all(client, seen[-1])
        client.post(f"{seen[-1]}/rating", data={"empty_outcome": "false_negative"})
        for key in keys(client.get(seen[-1]).text, "answer"):
            client.post(f"{seen[-1]}/rating", data={"answer": key, "quality": "4"})
    assert address not in seen
    assert begin(client) == address
    assert f'action="{address}/later"' not in client.get(address).text  # nothing else is left


def test_a_click_costs_the_same_in_a_long_study_as_in_a_short_one(
    client: FlaskClient, web_database: Database
) -> None:
    """Each kind of click and what is next, in 5 questions and in 25, three runs each."""
    # No repetition, else only the longer one is to ask again.
    set_study(web_database, repeat_percent=0, figures="all")
    counts = []
    for length in (5, 25):
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
        rate_some(client, 1)  # the first click of all reads everything
        counts.append(statements_of_one_question(client, web_database))
        rate_some(client, 4 if length == 5 else 12)

    assert sorted(counts[0]) == sorted(counts[1])
    assert max(counts[0]) <= MOST_IN_A_CLICK


def statements_of_one_question(client: FlaskClient, database: Database) -> list[int]:
    """Return how many statements each click on the next question costs."""
    address, costs = begin(client), []
    clicks = [
        ("judgment", {"card": key, "relevance": "1"}) for key in keys(client.get(address).text)
    ]
    for where, data in clicks:
        costs.append(cost(client, database, f"{address}/{where}", data))
    for key in keys(client.get(address).text, "answer"):
        said = {"answer": key, "quality": "4", "onward": "1"}
        costs.append(cost(client, database, f"{address}/rating", said))
    return costs


def cost(client: FlaskClient, database: Database, address: str, data: dict[str, str]) -> int:
    with counted(database) as statements:
        answer = client.post(address, data=data, headers=PART)
    assert answer.status_code in {200, 303}
    return len(statements)


def rate_some(client: FlaskClient, questions: int) -> None:
    for _ in range(questions):
        answer = client.get("/rate/")
        if answer.status_code == 200:
            return
        judge_all(client, answer.location)
        for key in keys(client.get(answer.location).text, "answer"):
            client.post(f"{answer.location}/rating", data={"answer": key, "quality": "4"})


def test_a_run_s_question_is_read_while_raters_are_blind_which_is_logged_once(
    client: FlaskClient, web_database: Database, run_ids: list[str]
) -> None:
    for _ in range(2):
        answer = client.get(f"/runs/{run_ids[0]}/queries/2")
        assert answer.status_code == 303
        html = client.get(answer.location).text
        assert "2. " in html
        assert "Answer 2: ['x']" in unescape(html)
        assert 'method="post" action="/rate' not in html
        assert "/judgment" not in html

    with web_database.reading() as session:
        logged = select(LogEntry.subject).where(LogEntry.action == assignments.OPENED)
        assert session.scalars(logged).all() == [f"{run_ids[0]}/2"]

    part = client.get(f"/runs/{run_ids[0]}/queries/1", headers=PART)
    assert part.status_code == 409
    assert 'hx-target="#notices"' in part.text


def test_clicks_on_a_run_s_page_still_count_in_a_blind_study(
    client: FlaskClient, run_ids: list[str]
) -> None:
    address = f"/runs/{run_ids[0]}/queries/1/results/1/judgment"

    assert client.post(address, data={"relevance": "1"}).status_code == 303
    assert client.post(address, data={"relevance": "0"}, headers=PART).status_code == 200


def test_unblinded_a_run_s_page_is_back(
    client: FlaskClient, web_database: Database, run_ids: list[str]
) -> None:
    set_study(web_database, blind=False)

    assert client.get(f"/runs/{run_ids[0]}/queries/1").status_code == 200


@pytest.mark.parametrize("address", ["/", "/runs/", "/runs/{}"])
def test_rating_begins_at_the_blind_page_wherever_it_is_offered(
    client: FlaskClient, run_ids: list[str], address: str
) -> None:
    html = client.get(address.format(run_ids[0])).text

    assert 'href="/rate/"' in html
    assert f"/runs/{run_ids[0]}/queries/" not in html
