from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from tests.page import Page
from tests.services.evaluations.scored_files import (
    ANSWERS,
    CHUNKS,
    EXAMPLE,
    JSON_SET,
    document,
    lines,
)
from tests.web import visitors
from tests.web.conftest import PART
from tests.web.evaluations.scored import send
from webapp.db.engine import Database
from webapp.db.tables.evaluations import Evaluation, EvaluationItem, ItemEvent, ItemJudgment
from webapp.db.tables.people import LogEntry, Rater

FILES = {
    "answers": lines(*ANSWERS),
    "chunks": lines(*({**row, "strategy": f"secret-strategy-{n}"} for n, row in enumerate(CHUNKS))),
    "json-v2": document(JSON_SET),
}
PARTS = {
    "answers": {1: ["0", "1", "2"], 2: ["0"], 3: ["0"]},
    "chunks": {1: ["0", "1"], 2: ["0"]},
    "json-v2": {n: [*(k for k in EXAMPLE if k != "source_map"), "grounding"] for n in (1, 2)},
}
"""The parts of every item: sentences, chunks, fields."""


@pytest.fixture(name="owner")
def _owner(app: Flask) -> FlaskClient:
    visitors.lock(app.extensions["database"])
    return visitors.owner(app)


@pytest.fixture(name="ani")
def _ani(app: Flask, owner: FlaskClient) -> FlaskClient:
    assert owner
    return visitors.invited(app, "Ani")


def opened(owner: FlaskClient, kind: str, data: bytes | None = None) -> str:
    answer = send(owner, kind, FILES[kind] if data is None else data)
    assert answer.status_code == 303, answer.text
    theirs = answer.headers["Location"].partition("?")[0]
    assert owner.post(f"{theirs}/raters", data={"open": "1"}).status_code == 303
    return theirs.replace("/evaluations/", "/items/")


def judge(client: FlaskClient, base: str, position: int, part: str, value: object) -> None:
    answer = client.post(f"{base}/{position}/judgment", data={"part": part, "value": value})
    assert answer.status_code == 303, answer.text


def judge_all(client: FlaskClient, base: str, kind: str, position: int, value: int = 1) -> None:
    for part in PARTS[kind][position]:
        judge(client, base, position, part, value)
    judge(client, base, position, "grade", 4)


def test_raters_find_nothing_before_the_owner_opens_an_evaluation(
    owner: FlaskClient, ani: FlaskClient
) -> None:
    theirs = send(owner, "answers", FILES["answers"]).headers["Location"]
    base = theirs.replace("/evaluations/", "/items/")

    assert "Items to judge" not in ani.get("/rate/").text
    assert "No item waits for you" in ani.get("/items/").text
    for address in (f"{base}/", f"{base}/1"):
        assert ani.get(address).status_code == 404
    said = ani.post(f"{base}/1/judgment", data={"part": "0", "value": "1"})
    assert said.status_code == 404
    assert ani.post(f"{theirs}/raters", data={"open": "1"}).status_code == 403
    assert ani.get(f"{base}/1").status_code == 404


def test_opening_and_closing_is_logged_and_keeps_what_was_said(
    owner: FlaskClient, ani: FlaskClient, web_database: Database
) -> None:
    base = opened(owner, "answers")
    judge(ani, base, 1, "0", 1)
    theirs = base.replace("/items/", "/evaluations/")
    owner.post(f"{theirs}/raters", data={"open": "0"})
    owner.post(f"{theirs}/raters", data={"open": "0"})  # twice is once

    assert ani.get(f"{base}/1").status_code == 404
    assert "Let raters judge" in owner.get(theirs).text
    assert owner.post(f"{theirs}/raters", data={"open": "perhaps"}).status_code == 400
    with web_database.reading() as session:
        changes = select(LogEntry.old, LogEntry.new).where(
            LogEntry.action == "open evaluation to raters"
        )
        assert list(map(tuple, session.execute(changes))) == [("no", "yes"), ("yes", "no")]
        assert session.scalar(select(ItemJudgment.value)) == 1


def test_what_is_next_leads_a_rater_to_the_items_and_says_how_far_they_are(
    owner: FlaskClient, ani: FlaskClient
) -> None:
    base = opened(owner, "answers")
    start = Page(ani.get("/", follow_redirects=True))

    assert start.link("Items") == "/items/"
    assert "Cited answers 1 0 of 3 items judged Begin" in start
    assert ani.get(f"{base}/").headers["Location"] == f"{base}/1"
    judge_all(ani, base, "answers", 1)
    assert "1 of 3 items judged Continue" in Page(ani.get("/rate/"))
    assert ani.get(f"{base}/").headers["Location"] == f"{base}/2"
    judge_all(ani, base, "answers", 3)
    page = Page(ani.get(f"{base}/3"))
    assert "2 of 3 items judged" in page
    assert page.links("[data-jump][aria-keyshortcuts=g]") == [f"{base}/2"]  # what was left
    judge_all(ani, base, "answers", 2)
    assert ani.get(f"{base}/").headers["Location"] == "/items/"
    assert "3 of 3 items judged ✓ Look again" in Page(ani.get("/items/"))


@pytest.mark.parametrize("kind", FILES)
def test_what_cannot_be_read_from_the_item_is_not_handed_over_at_all(
    owner: FlaskClient, ani: FlaskClient, kind: str, web_database: Database
) -> None:
    """With every score turned round the pages and answers stay the same, byte by byte."""
    base = opened(owner, kind)

    def received() -> list[str]:
        found = [ani.get(address).text for address in ("/rate/", "/items/", "/history/")]
        for position in PARTS[kind]:
            found += [ani.get(f"{base}/{position}", headers=how).text for how in ({}, PART)]
            for part in PARTS[kind][position]:
                form = {"part": part, "value": "0", "event_id": f"{position}{part}"}
                address = f"{base}/{position}/judgment"
                found.append(ani.post(address, data=form, headers=PART).text)
        return found

    received()
    before = received()
    assert "some.jsonl" not in "".join(before)
    with web_database.writing() as session:
        found = session.scalars(select(Evaluation)).one()
        found.figures, found.head, found.name = [], {}, "another"
        session.flush()
        for item in session.scalars(select(EvaluationItem)):
            item.item_id, item.result, item.failed = "other", {}, not item.failed
            item.parts = [{"key": part["key"], "passed": not part["passed"]} for part in item.parts]
        session.commit()

    assert received() == before


def test_what_a_rater_needs_to_judge_is_there(owner: FlaskClient, ani: FlaskClient) -> None:
    answers, chunks = opened(owner, "answers"), opened(owner, "chunks")
    fields = opened(owner, "json-v2")

    first, third = Page(ani.get(f"{answers}/1")), Page(ani.get(f"{fields}/1"))
    assert "Gold answer Ada tiga kamar" in first
    assert "Ada tiga kamar [CIT:d1]. d1 Rumah tiga kamar di Cemara" in first
    assert "d9 not among the contexts" in Page(ani.get(f"{answers}/2"))
    assert "Expected answer rumah di cemara" in Page(ani.get(f"{chunks}/1"))
    assert "Main topic Expected rumah Given apartemen" in third
    assert "References a.md: “tiga kamar”" in third
    assert "a.md Ada tiga kamar." in third
    assert "```json" in ani.get(f"{fields}/2").text  # as it came


def test_a_word_is_kept_shown_taken_back_and_undone_without_a_script(
    owner: FlaskClient, ani: FlaskClient, web_database: Database
) -> None:
    base = opened(owner, "answers")
    answer = ani.post(f"{base}/1/judgment", data={"part": "1", "value": "0"})

    assert answer.headers["Location"] == f"{base}/1#part-1"
    assert Page(ani.get(f"{base}/1")).values("[aria-pressed=true]", "id") == ["say-1-0"]
    judge(ani, base, 2, "grade", 5)
    undone = ani.post(f"{base}/undo")
    assert undone.headers["Location"] == f"{base}/2"
    assert ani.post(f"{base}/undo").headers["Location"] == f"{base}/1"
    assert not Page(ani.get(f"{base}/1")).has("[aria-pressed=true]")
    assert ani.post(f"{base}/undo").headers["Location"] == f"{base}/"  # nothing is left
    with web_database.reading() as session:
        assert len(session.scalars(select(ItemEvent)).all()) == 4


def test_each_rater_has_their_own_word_and_people_beside_the_machine_can_be_told_apart(
    app: Flask, owner: FlaskClient, ani: FlaskClient, web_database: Database
) -> None:
    budi = visitors.invited(app, "Budi")
    base = opened(owner, "answers")
    theirs = base.replace("/items/", "/evaluations/")
    judge_all(ani, base, "answers", 1, 1)  # machine: supported, no citation, don't know
    judge(budi, base, 1, "0", 0)
    assert "0 of 3 items judged" in Page(budi.get(f"{base}/1"))

    with web_database.reading() as session:
        number = {one.name: one.id for one in session.scalars(select(Rater))}
    people = f"{theirs}/people.json"
    merged, only = owner.get(people).get_json(), owner.get(f"{people}?rater={number['Ani']}")
    # part 0: ✓ and ✗ tie, so only part 1 counts, on which machine and Ani differ
    assert merged["raters"] == 2
    assert (merged["verdicts"]["both"], merged["verdicts"]["people_only"]) == (0, 1)
    alone = only.get_json()
    assert alone["raters"] == 1
    assert (alone["verdicts"]["both"], alone["verdicts"]["people_only"]) == (1, 1)
    page = Page(owner.get(f"{theirs}/people?rater={number['Budi']}"))
    assert page.texts("main [aria-current=page]")[-1].startswith("Budi")
    assert "All raters" in page
    assert "The owner sees what the machine says" not in page
    assert "Ani 1 of 3" in Page(owner.get(theirs))
    assert owner.get(f"{people}?rater=999").get_json() == merged
