"""Page and program are two hands of one rater: they never disagree, in whatever order they act."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from itertools import count
from urllib.parse import urlsplit

from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from relevansi.db.tables.judging import Event, Judgment
from tests.page import Page
from tests.web.conftest import QUERIES, judge
from tests.web.programs.program import Program, served, token

PLACES = [(query.query_id, rank) for query in QUERIES for rank in range(1, len(query.cards) + 1)]
VERDICTS = st.tuples(st.sampled_from(PLACES), st.sampled_from(["0", "1", "unsure", ""]))
GRADES = st.tuples(st.sampled_from([1, 2, 6]), st.sampled_from([0, 3, 5, None]))
ACTS = st.lists(st.tuples(st.booleans(), st.one_of(VERDICTS, GRADES)), min_size=1, max_size=12)
WRITERS, TRIES = 24, 2
NUMBERS = count()
"""Of events: examples share their study."""


@given(ACTS)
@settings(max_examples=settings().max_examples // 4, suppress_health_check=list(HealthCheck))
def test_two_hands_of_a_study_never_disagree(
    app: Flask, client: FlaskClient, run_id: str, acts: list[tuple[bool, tuple[object, object]]]
) -> None:
    """After any sequence, both show what was said last of each card and answer, and its figures."""
    program = Program(app)
    results = program.get(f"/runs/{run_id}/results")["data"]
    items = {(result["query_id"], result["rank"]): result["item"] for result in results}
    verdicts: dict[int, str] = {}
    grades: dict[int, int | None] = {}
    for item in set(items.values()):  # what the example before left
        program.post("/judgments", event_id=f"e{next(NUMBERS)}", item=item, verdict=None)
    for number in (1, 2, 6):
        address = f"/runs/{run_id}/queries/{number}/ratings"
        program.post(address, event_id=f"e{next(NUMBERS)}", quality=None)
    for by_page, (place, value) in acts:
        event_id = f"e{next(NUMBERS)}"
        if isinstance(place, tuple):
            verdicts[items[place]] = str(value)
            if by_page:
                judge(client, run_id, place[0], place[1], str(value))
            else:
                body = {"item": items[place], "verdict": value or None}
                program.post("/judgments", event_id=event_id, **body)
        else:
            address = f"/runs/{run_id}/queries/{place}/rating"
            grades[place] = value  # type: ignore[index,assignment]
            if by_page:
                client.post(address, data={"quality": "" if value is None else value})
            else:
                program.post(f"{address}s", event_id=event_id, quality=value)

    expected = {item: verdict for item, verdict in verdicts.items() if verdict}
    verdicts_of_program = {
        result["item"]: result["verdict"] for result in program.get("/judgments")["data"]
    }
    assert verdicts_of_program == expected
    for query in QUERIES:
        page = Page(client.get(f"/runs/{run_id}/queries/{query.query_id}"))
        for card in page.all("article[data-rank]"):
            item = items[query.query_id, int(card["data-rank"])]
            pressed = [result["value"] for result in card.all("[aria-pressed=true]")]
            assert pressed == ([expected[item]] if item in expected else [])
    rated = {result["query_id"]: result["quality"] for result in program.get("/ratings")["data"]}
    assert rated == {query: grade for query, grade in grades.items() if grade is not None}
    figures = client.get(f"/runs/{run_id}/metrics.json").json
    assert figures == program.get(f"/runs/{run_id}/figures")


def test_many_writers_at_once_store_each_event_once(app: Flask, run_id: str) -> None:
    """Each sends its event again, whatever the answers; each event is there once.

    The verdict in force is that of one of them, and the figures are those of the verdicts.
    """
    program, owner = Program(app), token(app, "judge")
    results = program.get(f"/runs/{run_id}/results")["data"]
    items = sorted({result["item"] for result in results})

    def write(number: int) -> list[int]:
        body = {
            "event_id": f"w{number}",
            "item": items[number % len(items)],
            "verdict": str(number % 2),
        }
        return [send(address, owner, body) for _ in range(TRIES)]

    with served(app) as address, ThreadPoolExecutor(WRITERS) as at_once:
        statuses = Counter(code for codes in at_once.map(write, range(WRITERS)) for code in codes)

    assert statuses == {200: WRITERS * TRIES}
    with app.extensions["database"].reading() as session:
        stored = Counter(session.scalars(select(Event.event_id)))
        verdicts = set(session.execute(select(Judgment.judged_item_id, Judgment.verdict)).all())
    assert stored == {f"w{number}": 1 for number in range(WRITERS)}
    assert {item for item, _ in verdicts} == set(items)
    rows = program.get(f"/runs/{run_id}/results")["data"]
    assert {(result["item"], str(result["relevance"])) for result in rows} == verdicts


def send(address: str, secret: str, body: dict[str, object]) -> int:
    """Send a verdict until it is answered by more than "busy"."""
    place = urlsplit(address)
    for _ in range(50):
        connection = HTTPConnection(place.netloc, timeout=60)
        headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        connection.request("POST", f"{place.path}/judgments", json.dumps(body), headers)
        status = connection.getresponse().status
        connection.close()
        if status != 503:
            return status
    return 503
