"""An application on a new database, a client that speaks English, and a small made-up run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from relevansi.app import create_app
from relevansi.config import Settings, sqlite_url
from relevansi.db.engine import Database
from relevansi.records import QueryState, ReadQuery
from relevansi.web.frame.workers import Workers
from tests.conftest import copied
from tests.services.runs.runs import card, query, run, store
from tests.stored_studies import made_once, open_study

WORK_SECONDS = 30
PART = {"HX-Request": "true", "HX-Request-Type": "partial"}
WAYS = [pytest.param({}, id="page"), pytest.param(PART, id="part")]

QUERIES = (
    query(1, card("a", price=1_670_000_000, bedrooms=3), card("b"), card("c"), category="area"),
    query(2, card("d"), card("e"), card("d"), category="area"),
    query(3, category="price"),
    query(4, state=QueryState.FAILED, category="price"),
    query(5, state=QueryState.UNREADABLE, category="price"),
    query(6, card("f"), category="context_followup", context_dependent=True),
)


@pytest.fixture(name="first_app", scope="session")
def _first_app(tmp_path_factory: pytest.TempPathFactory) -> tuple[Flask, Path]:
    folder = tmp_path_factory.mktemp("web")
    app = create_app(Settings(sqlite_url(folder / "web.sqlite"), folder))
    app.extensions["database"].close()
    return app, Path(shutil.copy(folder / "web.sqlite", folder / "new.sqlite"))


@pytest.fixture(name="app")
def _app(first_app: tuple[Flask, Path]) -> Iterator[Flask]:
    app, new = first_app
    copied(new, app.extensions["database"])
    config = dict(app.config)
    yield app
    app.extensions["workers"].finish(WORK_SECONDS)  # or it writes to the next test's file
    app.extensions["workers"] = Workers(app)
    app.config.clear()
    app.config.update(config)
    app.extensions["database"].close()


@pytest.fixture(name="client")
def _client(app: Flask) -> FlaskClient:
    return in_english(app)


def in_english(app: Flask) -> FlaskClient:
    client = app.test_client()
    client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "en"
    return client


@pytest.fixture(name="web_database")
def _web_database(app: Flask) -> Database:
    database: Database = app.extensions["database"]
    return database


@pytest.fixture(name="run_id")
def _run_id(web_database: Database) -> str:
    return small_run(web_database)


def judge(
    client: FlaskClient, run_id: str, number: int, rank: int = 1, relevance: str = "1", **more: str
) -> TestResponse:
    """Send a verdict on a card of a run as a page without a script does."""
    address = f"/runs/{run_id}/queries/{number}/results/{rank}/judgment"
    return client.post(address, data={"relevance": relevance, **more})


def count(database: Database, table: type) -> int:
    """Return how many rows a table has."""
    with database.reading() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def stored(database: Database, queries: Sequence[ReadQuery], *, method: str = "hybrid") -> str:
    with open_study(database) as (session, study):
        imported = store(session, study, run(*queries, method=method))
    return imported.id


@made_once
def small_run(database: Database) -> str:
    return stored(database, QUERIES)
