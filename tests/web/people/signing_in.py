"""Browsers that sign in, guess, and lose their invitation."""

from __future__ import annotations

import re

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from tests.conftest import NOW
from tests.web.visitors import PASSWORD, browser
from webapp.db.engine import Database
from webapp.db.tables.people import Invitation
from webapp.services.people import raters
from webapp.services.study import studies

NEW = {"password": PASSWORD, "again": PASSWORD}


def person(page: str) -> str | None:
    """Return whose name stands in the header."""
    found = re.search(r'class="rater".*?</span>(?:<span>)?([^<]*)<', page)
    return found[1] if found else None


def guess(app: Flask, times: int, password: str = "wrong", *, elsewhere: bool = False) -> list[int]:
    """Return how so many browsers that nobody knows are answered to a password."""
    said = {"password": password}
    return [
        browser(app, elsewhere=elsewhere).post("/sign-in", data=said).status_code
        for _ in range(times)
    ]


def cookie(client: FlaskClient) -> str:
    """Return the cookie by which a browser is signed in."""
    found = client.get_cookie(client.application.config["SESSION_COOKIE_NAME"])
    assert found is not None
    return found.value


def finish(database: Database, end: str, name: str = "Ani") -> None:
    """End the invitation of a rater in one of four ways."""
    with database.writing() as session:
        rater = raters.named(session, studies.open_or_make(session, NOW), name)
        assert rater is not None
        if end == "removed":
            raters.remove(session, rater, NOW)
        elif end == "deleted":
            raters.delete_rater(session, rater, NOW)
        else:
            column = "withdrawn_at" if end == "withdrawn" else "expires_at"
            session.execute(
                update(Invitation).where(Invitation.rater_id == rater.id).values({column: NOW})
            )
        session.commit()
