"""People at the doors of a study: how they get in, and browsers that carry what they got."""

from __future__ import annotations

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from relevansi.db.engine import Database
from relevansi.services.people import passwords, raters, sign_in
from relevansi.web.frame import access
from tests.conftest import NOW
from tests.stored_studies import open_study

PASSWORD = "kata sandi yang panjang"
ELSEWHERE = {"HTTP_HOST": "nilai.example", "REMOTE_ADDR": "192.0.2.7"}


def browser(app: Flask, *, elsewhere: bool = False) -> FlaskClient:
    client = app.test_client()
    client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "en"
    if elsewhere:
        client.environ_base.update(ELSEWHERE)
    return client


def lock(database: Database, password: str = PASSWORD) -> None:
    with open_study(database) as (session, study):
        sign_in.set_password(session, study, passwords.hashed(password), NOW)


def invite(database: Database, name: str) -> str:
    with open_study(database) as (session, study):
        token = raters.invite(session, study, name, access.now()).token
    return f"/join/{token}"


def owner(app: Flask, *, elsewhere: bool = False) -> FlaskClient:
    client = browser(app, elsewhere=elsewhere)
    response = client.post("/sign-in", data={"password": PASSWORD})
    assert response.status_code == 303, response.text
    return client


def invited(app: Flask, name: str, *, elsewhere: bool = False) -> FlaskClient:
    client = browser(app, elsewhere=elsewhere)
    response = client.post(invite(app.extensions["database"], name))
    assert response.status_code == 303, response.text
    return client


def goes_to(client: FlaskClient, response: TestResponse) -> str | None:
    """Return where somebody who just came in is led, once their browser brought its cookie."""
    location = response.location or ""
    is_check = location.startswith("/sign-in/cookie")
    return client.get(location).location if is_check else response.location
