"""What a token changes of what the study has: nothing but by all scopes and a number of changes."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from relevansi.db.engine import Database
from relevansi.db.tables.judging import Event
from relevansi.db.tables.people import LogEntry, Rater, Token
from relevansi.services.people import raters
from relevansi.services.runs import waiting_files
from relevansi.web.frame import access
from tests.stored_studies import made_once, open_study
from tests.web.conftest import WORK_SECONDS
from tests.web.documents import collection, lines
from tests.web.programs.program import Program
from tests.web.roles import everything

GRADES = ("grades.qrels", b"q1 0 d1x0 0\nq1 0 d1x1 0\nq2 0 d2x0 1\n")


@made_once
def judge_two_runs(database: Database, app: Flask) -> dict[str, str]:
    """A study of two runs, in which the owner and Ani judged two items each; all verdicts."""
    owner, ani = Program(app), Program(app, rater="Ani")
    owner.send(*collection())
    items = [scalar["id"] for scalar in owner.get("/items", question=1)["data"]]
    for item in items:
        owner.post("/judgments", event_id=f"o{item}", item=item, verdict="1")
    task = ani.post("/tasks")["task"]
    for card in task["cards"]:
        path = f"/tasks/{task['id']}/judgments"
        ani.post(path, event_id=card["card"], card=card["card"], verdict="1")
    with database.reading() as session:
        return {scalar.event_id: scalar.new or "" for scalar in session.scalars(select(Event))}


@pytest.fixture(name="judged")
def _judged(app: Flask, web_database: Database) -> dict[str, str]:
    return judge_two_runs(web_database, app)


def stored(app: Flask) -> dict[str, Any]:
    """Everything in the database but when tokens were used."""
    tables = everything(app.extensions["database"])
    del tables["tokens"]
    return tables


def rows(app: Flask, table: type[Event | LogEntry], token: str) -> list[Any]:
    """The rows that programs wrote by a token of that name."""
    with app.extensions["database"].reading() as session:
        token_ids = select(Token.id).where(Token.name == token)
        events = session.scalars(select(table).where(table.token_id.in_(token_ids)))
        return [*events]


def name_token(app: Flask, name: str) -> None:
    """Call the token that was made last so."""
    with open_study(app.extensions["database"]) as (session, _):
        last = session.scalars(select(Token).order_by(Token.id.desc()).limit(1)).one()
        last.name = name


@pytest.mark.usefixtures("judged")
@pytest.mark.parametrize("name", ["ANI\u200b", "Pemilik"])
def test_the_scope_import_changes_nothing_of_a_rater_whom_the_study_has(
    app: Flask, name: str
) -> None:
    """It is told what would change, by any spelling of the name, the owner's own too."""
    program, before = Program(app, "import"), stored(app)
    refused = program.send(GRADES, status=409, rater=name)
    [change] = refused["problems"]

    assert (change["place"].casefold(), change["changes"]) == (name.strip("\u200b").casefold(), 3)
    assert "confirm=3" in refused["detail"]
    program.send(GRADES, status=403, rater=name, confirm=3)
    assert stored(app) == before


@pytest.mark.usefixtures("judged")
def test_a_name_in_a_file_is_no_less_a_rater_whom_the_study_has(app: Flask) -> None:
    """Whom a column names, and not the form."""
    program, before = Program(app, "import"), stored(app)
    grades = [("q1", "Does copper bend, case 1?", "d1x0", "0", "Ani")]
    file = io.StringIO()
    csv.writer(file).writerows([("query_id", "query", "doc_id", "grade", "rater"), *grades])
    refused = program.send(("rows.csv", file.getvalue().encode()), status=409)

    [change] = refused["problems"]
    assert (change["place"], change["changes"]) == ("Ani", 1)
    assert stored(app) == before


@pytest.mark.usefixtures("judged")
def test_all_scopes_change_a_rater_once_the_number_is_confirmed(app: Flask) -> None:
    """Another number is refused. Sent again, there is nothing left to confirm or to change."""
    program = Program(app)
    name_token(app, "night")
    for number in (0, 2, 4):
        program.send(GRADES, status=409, rater="Ani", confirm=number)
    report = program.send(GRADES, rater="Ani", confirm=3)
    before = stored(app)
    again = program.send(GRADES, rater="Ani", confirm=3)

    assert report["grades"] == again["grades"] == {"Ani": 3}
    events = rows(app, Event, "night")
    assert {event.cause for event in events} == {"import"}
    assert [event.new for event in events] == ["0", "0", "1"]
    assert stored(app) == before


@pytest.mark.usefixtures("judged")
def test_the_scope_import_brings_runs_and_raters_that_are_new(app: Flask) -> None:
    """Each event and each row of the log has its token; the same files again change nothing."""
    program = Program(app, "import", "read")
    name_token(app, "build")
    run = ("more.run", b"q1 Q0 d1x1 1 2.0 more\nq2 Q0 d2x1 1 2.0 more\n")
    [stored_run] = program.send(run)["data"]
    program.send(GRADES, rater="Budi")
    before = stored(app)
    program.send(run)
    program.send(GRADES, rater="Budi")

    assert stored(app) == before
    assert len(rows(app, Event, "build")) == 3
    logged = [(row.action, row.subject) for row in rows(app, LogEntry, "build")]
    assert logged == [("import", stored_run["id"])]
    program.send(("one.qrels", b"q1 0 d1x0 1\n"), status=409, rater="Budi")


def test_the_scope_import_does_not_turn_a_study_blind(app: Flask) -> None:
    """The second run of a question set would; all scopes may, or say how the study is rated."""
    importing, all_scopes = Program(app, "import", "read"), Program(app)
    first, second, third = (
        (f"{name}.jsonl", lines([{"query": "x", "text": name}])) for name in ("a", "b", "c")
    )
    importing.send(first)
    before = stored(app)
    refused = importing.send(second, status=409)

    assert [(change["place"], change["changes"]) for change in refused["problems"]] == [
        ("blind", 1)
    ]
    assert stored(app) == before
    assert importing.get("/study")["blind"] is False
    all_scopes.send(second, confirm=1)
    assert importing.get("/study")["blind"] is True
    all_scopes.send(third, rating="open")
    assert importing.get("/study")["blind"] is False
    importing.send(("d.jsonl", lines([{"query": "x", "text": "d"}])))


def test_the_scope_gate_leaves_nothing_behind(app: Flask) -> None:
    """What stays of a run by ``ask`` takes the scope import, and is counted as of an import."""
    owner, gate, both = Program(app), Program(app, "gate"), Program(app, "gate", "import")
    [run] = owner.send(("a.jsonl", lines([{"query": "x", "text": "a"}])))["data"]
    before = stored(app)

    def ask(program: Program, **fields: str) -> int:
        file = ("b.jsonl", lines([{"query": "x", "text": "b"}]))
        return program.upload("/gates", file, baseline=run["id"], **fields).status_code

    assert ask(gate) == 200
    assert ask(gate, ask="1") == 403
    assert ask(both, ask="1") == 409
    assert ask(both, ask="1", confirm="1") == 403
    assert stored(app) == before
    assert ask(owner, ask="1", confirm="1") == 200
    assert owner.get("/study")["blind"] is True


@pytest.mark.usefixtures("judged")
@pytest.mark.parametrize("confirm", [0, 3])
def test_a_job_changes_no_more_than_a_request(
    app: Flask, monkeypatch: pytest.MonkeyPatch, confirm: int
) -> None:
    """It fails with the number of changes, and its events have the token that asked for it."""
    monkeypatch.setattr(waiting_files, "is_long", lambda _sizes: True)
    program = Program(app)
    name_token(app, "late")

    job = program.send(GRADES, status=202, rater="Ani", confirm=confirm)
    app.extensions["workers"].finish(WORK_SECONDS)
    response = program.get(f"/jobs/{job['id']}")

    assert response["state"] == ("done" if confirm else "failed")
    assert confirm or "confirm=3" in response["failure"]
    assert response["grades"] == ({"Ani": 3} if confirm else {})
    assert len(rows(app, Event, "late")) == confirm


@pytest.mark.usefixtures("judged")
def test_the_history_shows_by_which_program_an_event_was_written(
    app: Flask, client: FlaskClient
) -> None:
    """On the page and in the file; a rater does not learn the name of the owner's token."""
    program = Program(app)
    name_token(app, "CANARY-run")
    program.send(GRADES, rater="Ani", confirm=3)
    database: Database = app.extensions["database"]
    with database.reading() as session:
        token_id = session.scalars(select(Token.id).where(Token.name == "CANARY-run")).one()
    lines_of_file = csv.DictReader(io.StringIO(client.get("/history/events.csv").text[1:]))

    assert client.get("/history/").text.count("CANARY-run") == 3
    assert [line["token"] for line in lines_of_file][-3:] == [str(token_id)] * 3
    with open_study(database) as (session, study):
        ani = session.scalars(select(Rater).where(Rater.name == "Ani")).one()
        link = raters.make(session, ani, access.now()).token
        study.password = "x"
    rater = app.test_client()
    rater.post(f"/join/{link}")
    page = rater.get("/history/")
    assert page.status_code == 200
    assert "CANARY-run" not in page.text
