"""The sample runs of the demo are rated as the files in ``seeds`` say."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from webapp.config import resource
from webapp.db.tables.judging import Event
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Run
from webapp.services.runs import samples
from webapp.services.runs.samples import SampleRating

SEEDS = resource("seeds")

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


def test_every_click_of_the_file_is_stored(session: Session) -> None:
    """A verdict per card, a quality, a note and an empty outcome where the file has them."""
    samples.load(session, SEEDS, NOW)
    ratings = json.loads((SEEDS / "ratings.json").read_text("utf-8"))["ratings"]
    clicks = sum(
        len(rating.get("results", {}))
        + sum(
            rating.get(field) not in {None, ""} for field in ("quality", "notes", "empty_outcome")
        )
        for rating in ratings
    )

    assert session.scalar(select(func.count(Event.id))) == clicks


def test_clicks_follow_one_another_at_the_pace_that_is_asked_for(session: Session) -> None:
    study = samples.load(session, SEEDS, NOW)
    rater = Rater(study=study, name="Budi", created_at=NOW)
    session.add(rater)
    session.flush()
    query = session.scalars(select(Query).join(Run).where(Query.query_id == 1)).first()
    assert query is not None
    rating = SampleRating("budi", query.run_id, 1, {1: "1", 2: "0"}, 4, "", None)

    samples.rate(session, rater, [rating], NOW, timedelta(seconds=5))

    events = session.scalars(select(Event).where(Event.rater_id == rater.id).order_by(Event.id))
    assert [(event.received_at - NOW).seconds for event in events] == [5, 10, 15]
