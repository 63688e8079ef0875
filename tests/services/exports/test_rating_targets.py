"""The targets of changes made without a server: a card may be elsewhere here, or gone."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.exports.offline_files import change, ratings
from tests.services.runs.runs import card, query, run
from webapp.db.tables.judging import Judgment
from webapp.db.tables.runs import Query
from webapp.db.tables.study import Study
from webapp.records import ReadRun
from webapp.services.exports import ratings as offline_ratings
from webapp.services.exports.ratings import RatingsReport
from webapp.services.runs import file_formats, imports
from webapp.services.runs.imports import Labels

RUN = run(query(1, card("a"), card("b"), card("a")), query(2))
HOUR = NOW + timedelta(hours=1)


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study) -> str:
    return imports.store(session, study, RUN, Labels(), NOW).id


def store(session: Session, study: Study, data: bytes) -> RatingsReport:
    read = file_formats.opened("ratings.json", data).read
    return offline_ratings.store(session, study, read, HOUR, confirmed=True)


def codes(report: RatingsReport) -> list[str]:
    return [problem.code for problem in report.problems]


def rated_as(read: ReadRun, *slugs: str) -> bytes:
    """Return a verdict on rank 2 of a page that showed `slugs` for question 1."""
    shown = [
        {"rank": rank, "title": slug.title(), "identity": f"slug:{slug}"}
        for rank, slug in enumerate(slugs, start=1)
    ]
    said = change(1, 1, "relevance", "1", rank=2)
    return ratings(read, said, queries=[{"query_id": 1, "results": shown}])


@pytest.mark.usefixtures("run_id")
def test_a_card_that_stands_elsewhere_by_now_is_found_again(session: Session, study: Study) -> None:
    report = store(session, study, rated_as(RUN, "b", "a"))  # here a is first, b second

    assert codes(report) == ["ratings_card_moved"]
    first = session.scalars(select(Query).where(Query.query_id == 1)).one().results[0]
    assert session.scalars(select(Judgment.judged_thing_id)).one() == first.judged_thing_id


@pytest.mark.usefixtures("run_id")
def test_a_card_that_is_not_here_takes_only_its_own_verdict_along(
    session: Session, study: Study
) -> None:
    report = store(session, study, rated_as(RUN, "a", "z"))

    assert codes(report) == ["ratings_card_gone"]
    assert session.scalars(select(Judgment.judged_thing_id)).all() == []
    assert report.storable


@pytest.mark.usefixtures("run_id")
def test_what_is_about_nothing_here_is_told_once_each(session: Session, study: Study) -> None:
    data = ratings(
        RUN,
        change(1, 9, "quality", 3),
        change(2, 9, "quality", 4),
        change(3, 1, "empty_outcome", "correct_empty"),
        change(4, 1, "quality", 2),
    )
    report = store(session, study, data)

    assert codes(report) == ["ratings_question_unknown", "ratings_nothing_to_ask"]
    assert report.new == 1
