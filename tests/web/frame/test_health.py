"""A server says in one line whether clicks can be stored."""

from __future__ import annotations

from pathlib import Path

from flask import Flask
from flask.testing import FlaskClient

from webapp.db.engine import Database


def test_a_server_that_can_store_is_ok(client: FlaskClient) -> None:
    answer = client.get("/healthz")

    assert (answer.status_code, answer.text, answer.mimetype) == (200, "ok\n", "text/plain")


def test_a_database_that_cannot_be_reached_is_named(app: Flask) -> None:
    app.extensions["database"], own = (
        Database("postgresql+psycopg://nobody@127.0.0.1:1/nothing"),
        app.extensions["database"],
    )
    try:
        answer = app.test_client().get("/healthz")
    finally:
        app.extensions["database"].close()
        app.extensions["database"] = own

    assert answer.status_code == 503
    assert answer.text.startswith("database: ")
    assert answer.text.count("\n") == 1


def test_a_file_that_was_taken_away_is_noticed(client: FlaskClient, web_database: Database) -> None:
    web_database.close()
    file = Path(web_database.description)
    away = file.rename(file.with_suffix(".away"))
    try:
        assert client.get("/healthz").status_code == 503
    finally:
        web_database.close()
        away.replace(file)
    assert client.get("/healthz").status_code == 200
