"""Participants have asked, rated and answered in the demo's study."""

from __future__ import annotations

from sqlalchemy.orm import Session

from tests.demo import study_of
from webapp.services.phase_3 import participants
from webapp.services.phase_3.own_questions import rater


def test_eight_participants_asked_rated_and_answered_the_questionnaire(
    demo_session: Session,
) -> None:
    everybody = participants.everybody(demo_session, study_of(demo_session))
    answers = [participants.of_rater(demo_session, rater(person)) for person in everybody]

    assert len(everybody) == 8
    assert all(person.finished_at for person in everybody)
    assert all(not answer.unanswered for answer in answers)
    assert sum(bool(answer.missing) for answer in answers) == 5
