"""A click is stored once, in its place, and every query that shows the thing feels it."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.judging.rater_rows import events, summary, verdicts
from tests.services.runs.runs import NO, UNSURE, YES, click
from webapp.db.tables.judging import Event
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.records import EmptyOutcome
from webapp.services.judging import events as judgments
from webapp.services.judging.events import AnswerRating, NotToJudge, UnknownQuery
from webapp.services.study import studies
from webapp.services.study.studies import Switches


def test_a_verdict_can_be_cleared(session: Session, rater: Rater, run_id: str) -> None:
    judgments.judge(session, rater, run_id, 2, 1, YES, click("e1"))
    judgments.judge(session, rater, run_id, 2, 1, None, click("e2", minute=1))

    assert verdicts(session, rater) == [None]
    assert not summary(session, rater, run_id, 2).complete


def test_undo_goes_back_one_change_after_the_other(
    session: Session, rater: Rater, run_id: str
) -> None:
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    judgments.judge(session, rater, run_id, 2, 1, NO, click("e2", minute=1))
    judgments.rate(session, rater, run_id, 2, AnswerRating(quality=1), click("e3", minute=2))

    assert judgments.undo(session, rater, run_id, click("u1", minute=3)) == 2
    assert summary(session, rater, run_id, 2).quality is None
    assert judgments.undo(session, rater, run_id, click("u2", minute=4)) == 2
    assert judgments.undo(session, rater, run_id, click("u2", minute=4)) == 2  # sent again
    assert verdicts(session, rater) == ["1", None]
    assert judgments.undo(session, rater, run_id, click("u3", minute=5)) == 1
    assert judgments.undo(session, rater, run_id, click("u4", minute=6)) is None
    assert verdicts(session, rater) == [None, None]
    assert events(session) == 6


def test_undo_restores_the_verdict_that_stood_before(
    session: Session, rater: Rater, run_id: str
) -> None:
    judgments.judge(session, rater, run_id, 1, 1, UNSURE, click("e1"))
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e2", minute=1))
    judgments.undo(session, rater, run_id, click("u1", minute=2))

    assert verdicts(session, rater) == ["unsure"]


def test_a_rating_leaves_alone_what_it_does_not_name(
    session: Session, rater: Rater, run_id: str
) -> None:
    judgments.rate(session, rater, run_id, 1, AnswerRating(quality=4, notes="good"), click("e1"))
    judgments.rate(session, rater, run_id, 1, AnswerRating(quality=None), click("e2", minute=1))

    assert summary(session, rater, run_id, 1).quality is None
    again = judgments.lock_query(session, rater, run_id, 1)
    from webapp.db.tables.judging import QueryRating

    assert session.get_one(QueryRating, (rater.id, again.id)).notes == "good"


@pytest.mark.parametrize("quality", [-1, 6])
def test_a_quality_outside_the_scale_is_refused(
    session: Session, rater: Rater, run_id: str, quality: int
) -> None:
    with pytest.raises(ValueError, match="0 to 5"):
        judgments.rate(session, rater, run_id, 1, AnswerRating(quality=quality), click("e1"))


def test_only_an_empty_list_has_an_empty_outcome(
    session: Session, rater: Rater, run_id: str
) -> None:
    rating = AnswerRating(empty_outcome=EmptyOutcome.CORRECT_EMPTY)
    with pytest.raises(NotToJudge):
        judgments.rate(session, rater, run_id, 1, rating, click("e1"))


def test_another_rater_is_not_touched(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    other = studies.add_rater(session, study, "Budi", NOW)
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))

    assert verdicts(session, other) == []
    assert summary(session, other, run_id, 1).judged_count == 0
    judgments.judge(session, other, run_id, 1, 1, NO, click("e1"))
    assert verdicts(session, rater) == ["1"]


def test_marking_all_is_off_until_the_owner_allows_it_and_is_logged_as_bulk(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    with pytest.raises(NotToJudge):
        judgments.judge_open(session, rater, run_id, 1, NO, click("e1"))
    studies.set_switches(session, study, Switches(study.name, True, False), NOW)
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e2"))
    judgments.judge_open(session, rater, run_id, 1, NO, click("e3", minute=1))

    assert verdicts(session, rater) == ["1", "0"]
    causes = session.scalars(select(Event.cause).order_by(Event.id)).all()
    assert causes == ["click", "bulk"]


@pytest.mark.parametrize(("query_id", "rank"), [(9, 1), (1, 9), (3, 1)])
def test_what_is_not_there_cannot_be_judged(
    session: Session, rater: Rater, run_id: str, query_id: int, rank: int
) -> None:
    with pytest.raises(UnknownQuery):
        judgments.judge(session, rater, run_id, query_id, rank, YES, click("e1"))
