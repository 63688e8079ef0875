from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.db.tables.phase_3 import Participant
from relevansi.db.tables.study import Study
from relevansi.services.judging import answer_ratings, judgments
from relevansi.services.phase_3 import questionnaires
from relevansi.services.phase_3.own_questions import rater
from tests.conftest import NOW
from tests.services.phase_3.participants import ask_question, taking_part
from tests.services.runs.runs import click


@pytest.fixture(name="person")
def _person(session: Session, study: Study) -> Participant:
    return taking_part(session, study)


@pytest.fixture(name="melati")
def _melati(person: Participant) -> Rater:
    return rater(person)


def test_an_answer_can_be_taken_back(session: Session, melati: Rater) -> None:
    questionnaires.answer(session, melati, "sus 1", "5", click("a"))
    questionnaires.answer(session, melati, "sus 1", None, click("b", minute=1))

    assert questionnaires.of_rater(session, melati).usability[0] is None


def test_undo_leaves_the_questionnaire(
    session: Session, person: Participant, melati: Rater
) -> None:
    position = ask_question(session, person, now=NOW)
    assert person.run_id is not None
    rating = answer_ratings.AnswerRating(quality=3)
    judgments.rate(session, melati, person.run_id, position, rating, click("q"))
    questionnaires.answer(session, melati, "sus 1", "5", click("a", minute=1))

    assert judgments.undo(session, melati, person.run_id, click("u", minute=2)) == position
    assert judgments.undo(session, melati, person.run_id, click("v", minute=3)) is None
    assert questionnaires.of_rater(session, melati).usability[0] == 5
