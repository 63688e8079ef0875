"""Tokens: made on the page and by the command, withdrawn, expired, of a removed rater."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from relevansi.db.engine import Database
from relevansi.db.tables.people import Rater, Token
from relevansi.services.people import raters, tokens
from relevansi.web.frame import access
from tests.page import Page
from tests.stored_studies import open_study
from tests.web import visitors
from tests.web.programs.program import Program, token


def status_of(app: Flask, header: str | None) -> int:
    headers = {"Authorization": header} if header is not None else {}
    return app.test_client().get("/api/v1/runs", headers=headers).status_code


def test_a_token_is_shown_once_and_kept_as_a_hash(app: Flask, client: FlaskClient) -> None:
    """The page shows a new token in its answer; no page, row or cookie has it afterwards."""
    response = client.post("/tokens/", data={"name": "build", "scope": ["read"], "days": "7"})
    text = Page(response).one("code.token").text
    again = client.get("/tokens/")

    assert status_of(app, f"Bearer {text}") == 200
    assert text.startswith("rlv_")
    assert len(text) > 40
    assert text not in again.text
    assert "build" in again.text
    assert "Set-Cookie" not in response.headers
    with app.extensions["database"].reading() as session:
        assert text not in {row.token_hash for row in session.scalars(select(Token))}


def test_a_token_without_a_scope_is_not_made(client: FlaskClient, web_database: Database) -> None:
    """Whoever ticks nothing is told, and nothing is stored."""
    response = client.post("/tokens/", data={"name": "nightly"})

    assert response.status_code == 422
    assert Page(response).one("[name=name]")["value"] == "nightly"
    assert Page(response).all("[name=scope][checked]") == []
    assert "Please choose what the token is for." in response.text
    with web_database.reading() as session:
        assert session.scalars(select(Token)).all() == []


def test_a_withdrawn_token_lets_nobody_in(app: Flask, client: FlaskClient) -> None:
    """From the moment on that its button is pressed."""
    body = f"Bearer {token(app, 'read')}"
    before = status_of(app, body)
    [form] = Page(client.get("/tokens/")).all("form[action$='/withdraw']")
    client.post(form["action"])

    assert (before, status_of(app, body)) == (200, 401)


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Bearer rlv_unknown", "Basic cmx2Og==", "Bearer é"]
)
def test_no_request_without_a_known_token_is_answered(app: Flask, header: str | None) -> None:
    """At this machine too, where pages need no sign-in; the answer says how to send one."""
    token(app, "read")

    assert status_of(app, header) == 401


def test_a_token_ends_with_its_days(app: Flask) -> None:
    """It lets nobody in from the moment on that it names."""
    secret = token(app, "read", days=2)
    database: Database = app.extensions["database"]
    until = access.now() + timedelta(days=2)
    with database.reading() as session:
        before = tokens.recognise(session, secret, until - timedelta(minutes=1))
        after = tokens.recognise(session, secret, until + timedelta(minutes=1))

    assert before is not None
    assert after is None


def test_a_removed_rater_loses_the_tokens(app: Flask) -> None:
    """And does not get them back when let in again."""
    program = Program(app, "judge", rater="Ani")
    before = program.ask("POST", "/tasks").status_code
    with open_study(app.extensions["database"]) as (session, _):
        ani = session.scalars(select(Rater).where(Rater.name == "Ani")).one()
        raters.remove(session, ani, access.now())
    removed = program.ask("POST", "/tasks").status_code
    with open_study(app.extensions["database"]) as (session, _):
        raters.restore(
            session, session.scalars(select(Rater).filter_by(name="Ani")).one(), access.now()
        )

    assert (before, removed, program.ask("POST", "/tasks").status_code) == (200, 401, 401)


def test_a_rater_sees_and_withdraws_only_their_own(app: Flask) -> None:
    """The owner sees everybody's."""
    visitors.lock(app.extensions["database"])
    ani = visitors.invited(app, "Ani")
    token(app, "read")
    ani.post("/tokens/", data={"scope": "judge", "name": "of Ani"})
    tokens_of_ani = Page(ani.get("/tokens/")).all(".rater-line")
    tokens_of_owner = Page(visitors.owner(app).get("/tokens/")).all(".rater-line")
    refused = ani.post("/tokens/1/withdraw")

    assert (len(tokens_of_ani), len(tokens_of_owner)) == (1, 2)
    assert refused.status_code == 404


def test_the_last_use_is_kept_to_the_minute(app: Flask) -> None:
    """The first request notes it; those of the next minute write nothing."""
    program = Program(app, "read")
    program.get("/runs")
    with app.extensions["database"].reading() as session:
        first = session.scalars(select(Token.used_at)).one()
    program.get("/runs")
    with app.extensions["database"].reading() as session:
        assert session.scalars(select(Token.used_at)).one() == first
    assert first is not None
