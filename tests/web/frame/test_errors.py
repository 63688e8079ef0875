"""What a reader sees when a request cannot be answered, or the database is full, locked or gone."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import event, text
from werkzeug.test import TestResponse

from relevansi.db import patience
from relevansi.db.engine import Database
from tests.page import Page
from tests.web.conftest import WAYS

NOBODY = "postgresql+psycopg://nobody@127.0.0.1:1/nothing"

UNKNOWN = [
    ("GET", "/nothing", 404),
    ("GET", "/runs/unknown/queries/1", 404),
    ("POST", "/runs/unknown/delete", 404),
    ("POST", "/runs/unknown/queries/1/results/1/judgment", 404),
    ("GET", "/runs/unknown/export.csv", 404),
    ("GET", "/runs/import?token=unknown", 404),
    ("GET", "/runs/a%00b", 404),
    ("GET", "/gold/2147483648", 404),  # more than a database can look for
    ("GET", "/raters/99999999999999999999/remove", 404),
    ("POST", "/", 405),
    ("GET", "/runs/unknown/undo", 405),
    ("POST", "/language", 400),
]


@pytest.mark.parametrize("headers", WAYS)
@pytest.mark.parametrize(("method", "address", "status"), UNKNOWN)
def test_what_is_not_there_is_said_as_a_page_or_a_part(
    client: FlaskClient, method: str, address: str, status: int, headers: dict[str, str]
) -> None:
    answer = client.open(address, method=method, headers=headers)

    assert answer.status_code == status
    assert Page(answer).is_part == bool(headers)
    assert [*Page(answer).partials] == ["#notices"] * bool(headers)


@pytest.mark.parametrize(
    ("came_from", "back"),
    [
        ("http://localhost/study/notes/?set=1", "/study/notes/?set=1"),
        ("http://localhost//elsewhere.example/", "/elsewhere.example/"),
        ("http://localhost/nothing", None),  # a reload: the page is its own referrer
        ("http://elsewhere.example/", None),
        ("", None),
    ],
)
def test_an_error_page_leads_back_home_and_to_the_runs(
    client: FlaskClient, came_from: str, back: str | None
) -> None:
    page = Page(client.get("/nothing", headers={"Referer": came_from}))

    assert page.links(".acts a") == [*([back] if back else []), "/", "/runs/"]


def test_a_file_too_large_is_said(app: Flask, client: FlaskClient) -> None:
    app.config["MAX_CONTENT_LENGTH"] = 2**20

    answer = client.post("/runs/import", data={"notes": "x" * 2**20})

    assert answer.status_code == 413
    assert "1 MB" in answer.text


@pytest.mark.parametrize("headers", WAYS)
def test_a_fault_of_ours_shows_no_traceback(
    client: FlaskClient, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr("relevansi.services.runs.runs.run_page", broken)

    answer = client.get("/runs/any", headers=headers)

    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text


def test_a_click_on_a_full_disk_is_refused_and_taken_once_there_is_room(
    app: Flask, client: FlaskClient, run_id: str, web_database: Database
) -> None:
    address = f"/runs/{run_id}/queries/1/rating"
    long_notes = {"event_id": "one", "notes": "x" * 9_000}
    _limit(web_database, pages=1)

    refused = client.post(address, data=long_notes)
    assert (refused.status_code, refused.headers["Retry-After"]) == (507, "10")
    _limit(web_database, pages=100_000)
    for _ in range(2):
        assert client.post(address, data=long_notes).status_code == 303
    assert "x" * 9_000 in client.get(f"/runs/{run_id}/queries/1").text
    assert _events(web_database) == ["one"]
    assert app.testing is False


@pytest.mark.parametrize("headers", WAYS)
def test_a_click_on_a_locked_file_is_refused_and_its_repeat_stored_once(
    client: FlaskClient,
    run_id: str,
    web_database: Database,
    headers: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", 0.05)
    web_database.close()
    second_database = Database(str(web_database.url))
    with second_database.writing() as session:
        session.execute(text("SELECT 1"))
        refused = _click(client, run_id, headers)
    second_database.close()

    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
    assert bool(Page(refused).partials) == bool(headers)
    assert "Relevansi-Rater" in refused.headers  # who asks is known all the same
    assert bool(headers) or "/study/" in Page(refused).links()
    assert _events(web_database) == []
    for _ in range(2):
        assert _click(client, run_id, headers).status_code in {200, 303}
    assert _events(web_database) == ["one"]


@pytest.mark.parametrize("headers", WAYS)
def test_while_the_database_is_gone_every_page_says_so_and_the_log_takes_a_line(
    app: Flask,
    client: FlaskClient,
    run_id: str,
    headers: dict[str, str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(app.extensions, "database", Database(NOBODY))

    for answer in (client.get(f"/runs/{run_id}", headers=headers), _click(client, run_id, headers)):
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "3")
        assert "127.0.0.1" not in answer.text
    assert client.get("/healthz").status_code == 503
    assert [record.exc_info for record in caplog.records] == [None, None]


def _click(client: FlaskClient, run_id: str, headers: dict[str, str]) -> TestResponse:
    address = f"/runs/{run_id}/queries/1/results/1/judgment"
    return client.post(address, data={"relevance": "1", "event_id": "one"}, headers=headers)


def _limit(database: Database, pages: int) -> None:
    def limit(connection: sqlite3.Connection, _record: object, _proxy: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}")

    with closing(sqlite3.connect(database.description)) as connection:
        connection.execute("VACUUM")
    event.listen(database.engine, "checkout", limit)


def _events(database: Database) -> list[str]:
    with database.reading() as session:
        return list(session.scalars(text("SELECT event_id FROM events")))
