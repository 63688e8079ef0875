"""The changes since a rater's last click name the questions to read again, or that all is new."""

from __future__ import annotations

from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.runs.runs import NO, YES, card, click, query, run
from webapp.db.engine import Database
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query
from webapp.db.tables.study import Study
from webapp.services.judging import changes, events
from webapp.services.judging.events import AnswerRating
from webapp.services.runs import imports, runs
from webapp.services.runs.imports import Labels
from webapp.services.study import studies


def store(session: Session, study: Study, method: str = "hybrid") -> str:
    asked = query(1, card("a"), category="near"), query(2, card("b"), category="far"), query(3)
    read = run(*asked, method=method)
    return imports.store(session, study, read, Labels(), NOW).id


def questions(session: Session, run_id: str) -> list[int]:
    rows = session.query(Query.question_id).filter_by(run_id=run_id).order_by(Query.query_id)
    return [question for (question,) in rows]


def test_clicks_name_their_questions_and_categories(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = store(session, study)
    near, far, _ = questions(session, run_id)
    events.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    before = changes.since(session, rater, None)
    assert before.touched is None
    assert changes.since(session, rater, before).touched == {}

    events.judge(session, rater, run_id, 1, 1, NO, click("e2", minute=1))
    events.rate(session, rater, run_id, 2, AnswerRating(quality=3), click("e3", minute=2))

    now = changes.since(session, rater, before)
    assert now.touched == {near: "near", far: "far"}
    assert changes.since(session, rater, now).touched == {}


def test_clicks_of_another_rater_are_none_of_these(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = store(session, study)
    other = studies.add_rater(session, study, "Ani", NOW)
    events.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    before = changes.since(session, rater, None)
    events.judge(session, other, run_id, 2, 1, YES, click("o1"))

    assert changes.since(session, rater, before).touched == {}


def test_before_the_first_click_everything_is_new(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = store(session, study)
    before = changes.since(session, rater, None)
    assert changes.since(session, rater, before).touched is None

    events.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    assert changes.since(session, rater, before).touched is None


def test_whatever_an_owner_does_makes_everything_new(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = store(session, study)
    events.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    before = changes.since(session, rater, None)
    second = store(session, study, "api_only")
    after_import = changes.since(session, rater, before)
    assert after_import.touched is None

    runs.delete_run(session, study, second, NOW)
    assert changes.since(session, rater, after_import).touched is None


def test_a_click_that_was_rolled_back_is_not_taken_for_the_one_with_its_number(
    database: Database,
) -> None:
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        rater_id = studies.add_rater(session, study, "Ani", NOW).id
        run_id = store(session, study)
        events.judge(session, session.get_one(Rater, rater_id), run_id, 1, 1, YES, click("e1"))
        session.commit()
    with database.writing() as session:
        rater = session.get_one(Rater, rater_id)
        events.judge(session, rater, run_id, 2, 1, YES, click("lost", minute=1))
        lost = changes.since(session, rater, None)
        session.rollback()
    with database.writing() as session:
        rater = session.get_one(Rater, rater_id)
        events.judge(session, rater, run_id, 1, 1, NO, click("e2", minute=2))

        assert changes.since(session, rater, lost).touched is None


def test_equal_states_mean_that_nothing_changed(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = store(session, study)
    other = studies.add_rater(session, study, "Ani", NOW)
    seen = [changes.state(session, study)]
    assert changes.state(session, study) == seen[0]

    events.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    seen.append(changes.state(session, study))
    events.judge(session, other, run_id, 1, 1, YES, click("o1"))
    seen.append(changes.state(session, study))
    runs.relabel(session, study, run_id, "hybrid", "other", NOW)
    seen.append(changes.state(session, study))

    assert len(set(seen)) == len(seen)
