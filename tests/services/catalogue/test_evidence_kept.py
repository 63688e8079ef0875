"""Evidence from looking itself, through programs, checks, backups and removals."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.db.tables.catalogue import Search
from relevansi.db.tables.judging import Judgment
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Run
from relevansi.db.tables.study import Study
from relevansi.kinds.property import Card
from relevansi.metrics.judging.empty_answers import EmptyAnswerCounts, counts_of
from relevansi.services.catalogue import catalogue
from relevansi.services.catalogue.filters import Filters
from relevansi.services.judging import judgments, stored_summaries
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.people import raters
from relevansi.services.programs import rows
from relevansi.services.programs.rows import FilteredItems, FilteredJudgments
from relevansi.services.rating import lookups
from relevansi.services.runs import reports, runs
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.catalogue.conftest import NOTHING
from tests.services.runs.runs import card, click, query, run, store


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study) -> str:
    """Budi looks for question 1 and pins a house; for question 2 he finds nothing that fits."""
    run_id = store(session, study, run(query(1), query(2), query(3, card("a")))).id
    house = Card(title="House", slug="house", price=1, location="Medan")
    [listed] = catalogue.write(session, [catalogue.entry(house)], is_imported=True).ids
    budi = studies.add_rater(session, study, "Budi", NOW)
    for query_id in (1, 2):
        place = lookups.of_answer(session, budi, run_id, query_id)
        lookups.search(session, budi, place, "house", Filters(), NOW)
    first = lookups.of_answer(session, budi, run_id, 1)
    lookups.pin(session, budi, first, listed, click("pin", minute=1))
    rating, at = AnswerRating(empty_outcome=NOTHING), click("nothing", minute=1)
    judgments.rate(session, budi, run_id, 2, rating, at)
    return run_id


def of_budi(session: Session, study: Study, run_id: str) -> EmptyAnswerCounts:
    rule = reports.rule_of(session, study, "rater Budi")
    rows = reports.report(session, study, run_id, rule).rows
    return counts_of(row.empty_answer for row in rows)


def test_what_looking_stores_is_counted(session: Session, study: Study, run_id: str) -> None:
    # One search before "truly nothing"; one false negative by one pinned house.
    assert of_budi(session, study, run_id) == EmptyAnswerCounts(1, 1, 1, 1, 1, 1)


def test_what_is_unpinned_is_counted_no_more(session: Session, study: Study, run_id: str) -> None:
    budi = reports.rule_of(session, study, "rater Budi").rater
    assert budi is not None
    place = lookups.of_answer(session, budi, run_id, 1)
    [pinned] = session.scalars(select(Judgment.judged_item_id).where(Judgment.is_evidence))
    lookups.unpin(session, budi, place, pinned, click("unpin", minute=2))

    assert of_budi(session, study, run_id) == EmptyAnswerCounts(1, 1, 1)


def test_programs_see_evidence_among_items_and_judgments(
    session: Session, study: Study, run_id: str
) -> None:
    judgments = rows.judgment_rows(session, study, FilteredJudgments(run=run_id)).data
    listed = rows.item_rows(session, study, FilteredItems(run=run_id)).data

    pinned = [judgment.item for judgment in judgments if judgment.evidence]
    assert [item.identity for item in listed if item.id in pinned] == ["slug:house"]
    assert [judgment.relevant for judgment in judgments if judgment.evidence] == [True]


def test_stored_figures_are_those_of_the_judgments_after_a_pin(
    session: Session, study: Study, run_id: str
) -> None:
    assert session.get_one(Run, run_id).study_id == study.id
    assert stored_summaries.check(session) == []


def test_a_removed_rater_takes_searches_and_evidence_along(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    budi = reports.rule_of(session, study, "rater Budi").rater
    assert budi is not None
    raters.delete_rater(session, budi, NOW + timedelta(days=1))

    assert session.scalar(select(func.count()).select_from(Search)) == 0
    assert session.scalar(select(func.count()).where(Judgment.is_evidence)) == 0
    rule = reports.of_rater(rater)
    assert reports.empty_answers(session, study, reports.asked_of(run_id), rule) == {}


def test_a_deleted_run_leaves_searches_and_evidence_to_its_questions(
    session: Session, study: Study, run_id: str
) -> None:
    """They hold for whatever other run comes back empty at the same question."""
    runs.delete_run(session, study, run_id, NOW)
    again = store(session, study, run(query(1), query(2), query(3), method="vector")).id

    assert session.scalar(select(func.count()).select_from(Search)) == 2
    assert of_budi(session, study, again).evidence == 1
