"""The study in five steps on the owner's first page."""

from __future__ import annotations

import re

from flask.testing import FlaskClient

from tests.services.runs.runs import card, query
from tests.web.conftest import stored
from webapp.db.engine import Database


def steps(client: FlaskClient) -> list[tuple[str, str, bool]]:
    """The steps on the owner's first page: address, text, whether it is done."""
    found = client.get("/").text.partition('<ol class="steps">')[2].partition("</ol>")[0]
    return [
        (
            re.findall(r'href="([^"]+)"', step)[0],
            " ".join(re.sub(r"<[^>]+>", " ", step.partition(">")[2]).split()),
            ' class="done"' in step,
        )
        for step in found.split("<li")[1:]
    ]


def test_the_owner_sees_five_steps_and_who_is_behind(
    client: FlaskClient, web_database: Database
) -> None:
    run = stored(web_database, [query(1, card("a"))], method="api")

    assert [(address, done) for address, _, done in steps(client)] == [
        ("/runs/import", False),
        ("/raters/", False),
        ("/study/standing", False),
        ("/agreement", False),
        ("/runs/", False),
    ]
    assert "(1 card left in 1 question · 1 without quality)" in steps(client)[2][1]
    client.post(f"/runs/{run}/queries/1/results/1/judgment", data={"relevance": "1"})
    client.post(f"/runs/{run}/queries/1/rating", data={"quality": "5"})
    _, said, done = steps(client)[2]
    assert (said, done) == ("Rate (done) Everybody is done.", True)

    stored(web_database, [query(1, card("b"))], method="hybrid")
    first, *_, last = steps(client)
    assert first == ("/runs/import", "Import or collect runs (done) 2 runs are here.", True)
    assert last[0] == "/comparisons/"
    assert "provisional until everything is rated and settled" in last[1]
