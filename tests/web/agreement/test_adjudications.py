"""Adjudication as a page: blind, settled by one click with a reason, with and without a script."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from tests.conftest import NOW
from tests.services.runs.runs import card, click, query, run
from tests.web.conftest import PART
from webapp.db.engine import Database
from webapp.db.tables.judging import Adjudication, JudgedThing, Property
from webapp.records import Relevance
from webapp.services.judging import events
from webapp.services.judging.events import AnswerRating
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels
from webapp.services.study import studies

OWN = re.compile(r'id="dispute-(\d+)"')


@pytest.fixture(name="disputed")
def _disputed(web_database: Database, run_id: str) -> int:
    """Card b, which the owner and Budi judge apart; Budi wrote a hostile note."""
    with web_database.writing() as session:
        study = studies.current(session)
        assert study is not None
        owner = studies.raters(session, study)[0]
        budi = studies.add_rater(session, study, "Budi", NOW)
        for rater, verdict in ((owner, Relevance.RELEVANT), (budi, Relevance.NOT_RELEVANT)):
            events.judge(session, rater, run_id, 1, 2, verdict, click(f"v{rater.id}"))
        events.rate(session, budi, run_id, 1, AnswerRating(notes="<script>x"), click("n"))
        wanted = select(JudgedThing.id).join(Property).where(Property.identity == "slug:b")
        found = session.scalars(wanted).one()
        session.commit()
    return found


def stored(database: Database) -> list[tuple[str, str]]:
    with database.reading() as session:
        return [(row.verdict, row.reason) for row in session.scalars(select(Adjudication))]


@pytest.mark.usefixtures("disputed")
def test_a_dispute_shows_card_votes_and_notes_and_neither_name_nor_run(
    client: FlaskClient, run_id: str
) -> None:
    main = client.get("/adjudications/").text.split("<main")[1].split("</main>")[0]

    assert "1. Question 1" in main
    assert "Rater 1" in main
    assert "Rater 2" in main
    assert "&lt;script&gt;x" in main
    for hidden in ("Budi", run_id, "hybrid", "test_results"):
        assert hidden not in main
    client.post("/adjudications/names", data={"shown": "1"})
    assert "Budi" in client.get("/adjudications/").text
    client.post("/adjudications/names")
    assert "Budi" not in client.get("/adjudications/").text


def test_a_verdict_with_a_reason_settles(
    client: FlaskClient, web_database: Database, disputed: int
) -> None:
    answer = client.post(
        f"/adjudications/{disputed}", data={"verdict": "0", "reason": "rented out"}
    )

    assert (answer.status_code, answer.location) == (303, "/adjudications/")
    assert stored(web_database) == [("0", "rented out")]
    page = client.get("/adjudications/").text
    assert "Nothing is disputed" in page
    assert "rented out" not in page
    assert "rented out" in client.get("/adjudications/?settled=1").text
    assert client.post(f"/adjudications/{disputed}/withdraw").status_code == 303
    assert stored(web_database) == []
    part = client.post(
        f"/adjudications/{disputed}", data={"verdict": "1", "reason": "fits"}, headers=PART
    )
    assert f'<hx-partial hx-target="#dispute-{disputed}"' in part.text
    assert '<hx-partial hx-target="#labels"' in part.text
    assert "<html" not in part.text


@pytest.mark.parametrize("headers", [{}, PART])
def test_a_missing_reason_is_asked_for_and_nothing_is_stored(
    client: FlaskClient, web_database: Database, disputed: int, headers: dict[str, str]
) -> None:
    answer = client.post(
        f"/adjudications/{disputed}", data={"verdict": "1", "reason": " "}, headers=headers
    )

    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.text
    assert "Please fill this in." in answer.text
    assert stored(web_database) == []


def test_what_cannot_be_settled_is_refused(client: FlaskClient, disputed: int) -> None:
    reason = {"reason": "why"}
    unfit = client.post(f"/adjudications/{disputed}", data={"verdict": "correct_empty", **reason})
    unknown = client.post("/adjudications/9999", data={"verdict": "1", **reason})
    agreed = client.post(f"/adjudications/{disputed - 1}", data={"verdict": "1", **reason})

    assert (unfit.status_code, unknown.status_code, agreed.status_code) == (400, 404, 409)
    assert "This study shows no such card" in unknown.text
    assert "The raters do not disagree here" in agreed.text


@pytest.mark.usefixtures("run_id")
def test_disputes_are_settled_one_after_the_other_a_few_on_each_page(
    client: FlaskClient, web_database: Database
) -> None:
    """Seven: five, then the other two whether or not the first were settled, then the start."""
    imported = [card(f"c{rank}") for rank in range(7)]
    with web_database.writing() as session:
        study = studies.current(session)
        assert study is not None
        owner, budi = studies.raters(session, study)[0], studies.add_rater(session, study, "B", NOW)
        many = imports.store(session, study, run(query(1, *imported), method="many"), Labels(), NOW)
        for rank in range(1, 8):
            for one, verdict in ((owner, Relevance.RELEVANT), (budi, Relevance.NOT_RELEVANT)):
                at = click(f"{one.id}/{rank}")
                events.judge(session, one, many.id, 1, rank, verdict, at)
        session.commit()
    first = client.get("/adjudications/").text
    shown = OWN.findall(first)
    for thing in shown[:3]:
        client.post(f"/adjudications/{thing}", data={"verdict": "1", "reason": "fits"})
    following = re.search('rel="next" href="([^"]+)"', first)
    assert following is not None
    second = client.get(following[1]).text
    rest = OWN.findall(second)
    settled = client.get("/adjudications/?settled=1").text

    assert (len(shown), len(rest), len({*shown, *rest})) == (5, 2, 7)
    assert '<span class="n">7</span>' in first
    assert '<span class="n">4</span>' in second
    assert 'rel="next"' not in second
    assert OWN.findall(client.get("/adjudications/").text) == [*shown[3:], *rest]
    assert OWN.findall(settled) == shown[:3]
    assert OWN.findall(client.get(f"/adjudications/?after={rest[-1]}").text) == [*shown[3:], *rest]
