"""One run is judged with its method in sight; then two more make the study blind and pooled."""

from __future__ import annotations

import re
from html import unescape

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from tests.services.rating.blind_raters import Robot
from tests.services.runs.runs import card, query
from tests.web.conftest import stored
from tests.web.rating.blind_study import set_study
from webapp.db.engine import Database
from webapp.db.tables.people import Rater

HIDDEN = "blind (names of run and method hidden)"


@pytest.fixture(name="runs")
def _runs(client: FlaskClient, web_database: Database) -> list[str]:
    """Cards a and b, an empty list and two qualities are given openly; c is not given yet."""
    set_study(web_database, repeat_percent=0)
    first = stored(web_database, [query(1, card("a"), card("b")), query(2)], method="hybrid")
    place = f"/runs/{first}/queries"
    for rank in (1, 2):
        client.post(f"{place}/1/results/{rank}/judgment", data={"relevance": "1"})
    client.post(f"{place}/1/rating", data={"quality": "4"})
    client.post(f"{place}/2/rating", data={"quality": "0", "empty_outcome": "correct_empty"})
    lists = {"api_only": [card("a"), card("c")], "vector_only": [card("b")]}
    others = [stored(web_database, [query(1, *of), query(2)], method=m) for m, of in lists.items()]
    return [first, *others]


def rate_all(database: Database, *, since: int = 0) -> None:
    """Have the owner answer all that tasks ask, `since` so many clicks."""
    with database.writing() as session:
        rater = session.scalars(select(Rater)).one()
        robot = Robot(session, rater)
        robot.clicks = since
        robot.rate_all()
        session.commit()


def said(client: FlaskClient, address: str) -> str:
    """Return the sentence of a page or a report on verdicts given blind, without the time."""
    found = re.search(r"\d of 4 verdicts were given .*?\. ", unescape(client.get(address).text))
    assert found is not None
    return re.sub(r"until [^.;]*", "until TIME", found[0])


def test_reports_count_what_was_blind_and_the_owner_has_the_rest_asked_again(
    client: FlaskClient, web_database: Database, runs: list[str]
) -> None:
    rate_all(web_database)  # card c, and four qualities
    chosen = "&".join(f"runs={run}" for run in runs)
    report = f"/comparisons/report.markdown?{chosen}"
    pages = ("/comparisons/?phase=1", report, "/study/standing")
    openly = f"1 of 4 verdicts were given {HIDDEN}; 3 with the method visible, until TIME. "
    assert [said(client, address) for address in pages] == [openly] * 3
    given = client.get(f"/runs/{runs[0]}/export.json").get_json()["blindness"]["verdicts"]
    assert (given["n"], given["blind"], given["open"], given["unknown"]) == (3, 0, 3, 0)

    assert "3 verdicts and 2 grades by 1 rater" in client.get("/study/ask-again").text
    assert client.post("/study/ask-again").status_code == 303

    assert said(client, pages[0]) == openly  # until they are answered
    assert "Asked again and not answered yet: 3 verdicts" in client.get("/study/standing").text
    rate_all(web_database, since=1000)
    blind = f"4 of 4 verdicts were given {HIDDEN}. "
    assert [said(client, address) for address in pages] == [blind] * 3
    assert "Asked again and not" not in client.get("/study/standing").text
    assert client.post("/study/ask-again").status_code == 409
