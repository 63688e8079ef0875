"""The first page of a rater answers "what now?"."""

from __future__ import annotations

from flask import Flask

from tests.services.runs.runs import card, query
from tests.web.conftest import stored
from tests.web.visitors import invited
from webapp.db.engine import Database


def test_a_rater_sees_how_far_they_are_and_goes_on(app: Flask, web_database: Database) -> None:
    stored(web_database, [query(1, card("a"), card("b"))], method="api")
    stored(web_database, [query(1, card("a"))], method="hybrid")
    page = invited(app, "Ani").get("/").text

    assert "Questions done: 0 of 1. Cards judged: 0." in page
    assert "2 cards left in 1 question" in page
    assert "How long it takes is here once you have given a few verdicts." in page
    assert 'href="/rate/"' in page
    assert "api" not in page.partition("<main")[2]
