from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from tests.page import Page
from tests.web.conftest import count
from tests.web.evaluations.scored import DATA, send
from webapp.db.engine import Database
from webapp.db.tables.evaluations import Evaluation, EvaluationItem
from webapp.db.tables.runs import Upload
from webapp.services.workers import kinds
from webapp.web.frame.workers import workers

WAIT = 60


@pytest.fixture(name="client")
def _long(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> FlaskClient:
    monkeypatch.setattr(kinds, "LONG_FROM", 1)
    monkeypatch.setattr(kinds, "LONG_FROM_WITH_MODEL", 1)
    return client


def done(app: Flask, client: FlaskClient, kind: str, data: bytes, **more: Any) -> str:
    begun = send(client, kind, data, **more)
    assert begun.status_code == 303, begun.text
    assert begun.headers["Location"].startswith("/files/")
    assert workers(app).is_idle(WAIT)
    ended = client.get(begun.headers["Location"])
    assert ended.status_code == 303, ended.text
    return ended.headers["Location"]


def stored(database: Database) -> list[tuple[Any, ...]]:
    kept = [
        column
        for table in (Evaluation, EvaluationItem)
        for column in table.__table__.columns
        if column.name not in {"id", "evaluation_id", "created_at"}
    ]
    of_each = EvaluationItem.evaluation_id == Evaluation.id
    in_order = select(*kept).join_from(Evaluation, EvaluationItem, of_each)
    with database.reading() as session:
        return [tuple(row) for row in session.execute(in_order.order_by(EvaluationItem.position))]


@pytest.mark.parametrize("kind", DATA)
def test_the_evaluation_is_the_one_that_a_request_would_store(
    app: Flask,
    client: FlaskClient,
    web_database: Database,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    page = done(app, client, kind, DATA[kind])
    assert client.get(page).status_code == 200
    first = stored(web_database)
    assert "again=1" in done(app, client, kind, DATA[kind])

    assert count(web_database, Upload) == 0
    assert client.post(f"{page}/delete").status_code == 303
    assert stored(web_database) == []
    monkeypatch.setattr(kinds, "LONG_FROM", 10**9)
    assert send(client, kind, DATA[kind]).headers["Location"].startswith("/evaluations/")
    assert stored(web_database) == first


def test_what_a_file_is_refused_for_is_shown_beside_the_form(
    app: Flask, client: FlaskClient, web_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = DATA["chunks"]
    page = Page(client.get(done(app, client, "answers", data, tau_sim="0.45", first="7")))
    monkeypatch.setattr(kinds, "LONG_FROM", 10**9)
    refused = Page(send(client, "answers", DATA["chunks"]))

    told, at_once = ([one for one in shown.texts("main *") if one.startswith("some.jsonl")]
                     for shown in (page, refused))  # fmt: skip
    assert told == at_once != []
    assert {"tau_sim": "0.45", "first": "7"}.items() <= page.fields("form.scoring").items()
    assert count(web_database, Upload) == count(web_database, Evaluation) == 0
