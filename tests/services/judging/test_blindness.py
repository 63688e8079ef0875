"""The page of the event that made a current verdict decides whether it counts as given blind."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import NO, YES, Robot, set_study, stored
from tests.services.runs.runs import card, click, query
from webapp.db.tables.judging import Event
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query
from webapp.db.tables.study import Study
from webapp.records import Blindness, Click, EmptyOutcome, GivenOn
from webapp.services.judging import events
from webapp.services.judging import verdicts as blindness
from webapp.services.judging.events import AnswerRating, Target, TargetChange
from webapp.services.rating import tasks


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study) -> str:
    set_study(session, study, repeat_percent=0, blind=True)
    return stored(session, study, "hybrid", query(1, card("a"), card("b")), query(2))


def found(session: Session, rater: Rater, run_id: str) -> Blindness:
    return blindness.counts(session, Query.run_id == run_id, [rater.id])


def test_clicks_on_a_run_s_page_are_open_and_those_on_a_task_s_page_blind(
    session: Session, rater: Rater, run_id: str
) -> None:
    events.judge(session, rater, run_id, 1, 1, YES, click("a", minute=3))
    outcome = AnswerRating(quality=3, empty_outcome=EmptyOutcome.CORRECT_EMPTY)
    events.rate(session, rater, run_id, 2, outcome, click("e", minute=5))

    assert found(session, rater, run_id) == Blindness(
        GivenOn(n=2, blind=0, open=2, last_open=NOW + timedelta(minutes=5)),
        GivenOn(n=1, blind=0, open=1, last_open=NOW + timedelta(minutes=5)),
    )

    Robot(session, rater).rate_all()  # card b, and the quality of answer 1

    assert found(session, rater, run_id) == Blindness(
        GivenOn(n=3, blind=1, open=2, last_open=NOW + timedelta(minutes=5)),
        GivenOn(n=2, blind=1, open=1, last_open=NOW + timedelta(minutes=5)),
    )


def test_a_later_click_decides_until_it_is_taken_back(
    session: Session, rater: Rater, run_id: str
) -> None:
    Robot(session, rater).rate_all()
    events.judge(session, rater, run_id, 1, 1, NO, click("open", minute=100))
    assert found(session, rater, run_id).verdicts == GivenOn(3, 2, 1, NOW + timedelta(minutes=100))

    events.undo(session, rater, run_id, click("back", minute=101))

    assert found(session, rater, run_id).verdicts == GivenOn(3, 3, 0, None)


def test_an_earlier_click_that_arrives_late_does_not_decide(
    session: Session, rater: Rater, run_id: str
) -> None:
    """The open click was made in minute 1 on another device, and is sent in minute 200."""
    Robot(session, rater).rate_all()
    late = Click("late", NOW + timedelta(minutes=200), NOW + timedelta(minutes=1), "phone", 1)
    events.judge(session, rater, run_id, 1, 1, YES, late)

    assert found(session, rater, run_id).verdicts == GivenOn(3, 3, 0, None)


def test_verdicts_from_files_and_without_an_event_are_unknown(
    session: Session, rater: Rater, run_id: str
) -> None:
    answer = session.scalars(select(Query).where(Query.query_id == 2)).one()
    change = TargetChange(
        Target.verdict(answer.emptiness_id, answer.id), "correct_empty", click("f")
    )
    events.record_all(session, rater, [change], cause="import")
    events.judge(session, rater, run_id, 1, 1, YES, click("a"))
    session.execute(delete(Event).where(Event.event_id == "a"))

    verdicts = found(session, rater, run_id).verdicts
    assert verdicts == GivenOn(n=2, blind=0, open=0, last_open=None)
    assert verdicts.unknown == 2


def test_a_cleared_verdict_counts_no_more(session: Session, rater: Rater, run_id: str) -> None:
    events.judge(session, rater, run_id, 1, 1, YES, click("a"))
    events.judge(session, rater, run_id, 1, 1, None, click("b", minute=1))

    assert found(session, rater, run_id) == Blindness()
    assert tasks.next_task(session, rater, NOW) is not None
