"""A database that is full, locked or gone: refused in plain words, and taken when it is back."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import event, text
from werkzeug.test import TestResponse

from tests.web.conftest import WAYS
from webapp.db import engine
from webapp.db.engine import Database

NOBODY = "postgresql+psycopg://nobody@127.0.0.1:1/nothing"


def test_a_click_on_a_full_disk_is_refused_and_taken_once_there_is_room(
    app: Flask, client: FlaskClient, run_id: str, web_database: Database
) -> None:
    address = f"/runs/{run_id}/queries/1/rating"
    long_notes = {"event_id": "one", "notes": "x" * 9_000}
    _limit(web_database, pages=1)

    refused = client.post(address, data=long_notes)
    assert (refused.status_code, refused.headers["Retry-After"]) == (507, "10")
    assert "disk is full or failing" in refused.text
    assert "is not saved yet" in refused.text

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
    monkeypatch.setattr(engine, "PATIENCE_SECONDS", 0.05)
    web_database.close()
    other = Database(str(web_database.url))
    with other.writing() as session:
        session.execute(text("SELECT 1"))
        refused = _click(client, run_id, headers)
    other.close()

    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
    assert "The database is busy" in refused.text
    assert "is not saved yet" in refused.text
    assert ("<hx-partial" in refused.text) == bool(headers)
    assert "Relevansi-Rater" in refused.headers  # who asks is known all the same
    assert bool(headers) or 'href="/study/"' in refused.text
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
        assert "The database does not answer" in answer.text
        assert "127.0.0.1" not in answer.text
    assert client.get("/healthz").status_code == 503
    assert [record.exc_info for record in caplog.records] == [None, None]


def _click(client: FlaskClient, run_id: str, headers: dict[str, str]) -> TestResponse:
    address = f"/runs/{run_id}/queries/1/results/1/judgment"
    return client.post(address, data={"relevance": "1", "event_id": "one"}, headers=headers)


def _limit(database: Database, pages: int) -> None:
    """Let the file have so many pages, or as many as it has in use: a disk that is full."""

    def limit(connection: sqlite3.Connection, _record: object, _proxy: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}")

    with closing(sqlite3.connect(database.description)) as connection:
        connection.execute("VACUUM")
    event.listen(database.engine, "checkout", limit)


def _events(database: Database) -> list[str]:
    with database.reading() as session:
        return list(session.scalars(text("SELECT event_id FROM events")))
