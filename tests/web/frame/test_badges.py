"""A badge holds for its lifetime, whatever the clock does, and only as we signed it."""

from __future__ import annotations

import time

import pytest
from flask import Flask

from tests.web.visitors import lock, owner
from webapp.db.engine import Database
from webapp.web.frame.badges import LIFETIME

HOUR = 3_600


@pytest.mark.parametrize(
    ("later", "status"),
    [
        (0, 200),
        (-HOUR, 200),
        (LIFETIME.total_seconds() - HOUR, 200),
        (LIFETIME.total_seconds() + HOUR, 401),
    ],
)
def test_a_badge_holds_for_its_lifetime_and_while_the_clock_is_back(
    app: Flask,
    web_database: Database,
    monkeypatch: pytest.MonkeyPatch,
    later: float,
    status: int,
) -> None:
    lock(web_database)
    browser = owner(app)
    now = time.time()
    monkeypatch.setattr("itsdangerous.timed.time.time", lambda: now + later)

    found = browser.get("/runs/", headers={"HX-Request-Type": "partial"})

    assert found.status_code == status


def test_a_badge_that_was_tampered_with_is_none(app: Flask, web_database: Database) -> None:
    lock(web_database)
    browser = owner(app)
    name = app.config["SESSION_COOKIE_NAME"]
    cookie = browser.get_cookie(name)
    assert cookie is not None
    browser.set_cookie(name, cookie.value[:-3] + "abc")

    assert browser.get("/runs/", headers={"HX-Request-Type": "partial"}).status_code == 401
