"""Answers to the closing questionnaire are recorded like every click, in their order."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.phase_3.participants import asked, only, taking_part
from tests.services.runs.runs import click
from webapp.db.tables.judging import Event
from webapp.db.tables.people import Rater
from webapp.db.tables.phase_3 import Participant
from webapp.db.tables.study import Study
from webapp.records import USABILITY_ITEMS
from webapp.services.judging import events
from webapp.services.phase_3 import participants


@pytest.fixture(name="person")
def _person(session: Session, study: Study) -> Participant:
    return taking_part(session, study)


@pytest.fixture(name="melati")
def _melati(person: Participant) -> Rater:
    assert person.rater is not None
    return person.rater


def test_ten_answers_make_a_score_and_nine_do_not(session: Session, melati: Rater) -> None:
    for number, item in enumerate(USABILITY_ITEMS):
        said = participants.of_rater(session, melati)
        assert said.unanswered == tuple(range(number + 1, 11))
        participants.answer(session, melati, item, "4", click(item))
    participants.answer(session, melati, "helped", "Cepat", click("h"))

    said = participants.of_rater(session, melati)
    assert said.usability == (4,) * 10
    assert (said.helped, said.missing, said.unanswered) == ("Cepat", "", ())


def test_an_older_click_that_arrives_late_does_not_shadow_a_newer(
    session: Session, melati: Rater
) -> None:
    newer, older = (click(name, device="phone", sequence=n) for name, n in (("b", 2), ("a", 1)))
    participants.answer(session, melati, "sus 1", "5", newer)
    participants.answer(session, melati, "sus 1", "2", older)
    participants.answer(session, melati, "sus 1", "5", newer)

    assert participants.of_rater(session, melati).usability[0] == 5
    assert len(only(session, Event)) == 2


def test_an_answer_can_be_taken_back(session: Session, melati: Rater) -> None:
    participants.answer(session, melati, "sus 1", "5", click("a"))
    participants.answer(session, melati, "sus 1", None, click("b", minute=1))

    assert participants.of_rater(session, melati).usability[0] is None


@pytest.mark.parametrize(("item", "said"), [("sus 1", "6"), ("sus 1", "x"), ("sus 11", "3")])
def test_what_the_scale_does_not_have_is_refused(
    session: Session, melati: Rater, item: str, said: str
) -> None:
    with pytest.raises(participants.UnfitAnswer):
        participants.answer(session, melati, item, said, click("a"))


def test_undo_takes_back_judgments_and_leaves_the_questionnaire(
    session: Session, person: Participant, melati: Rater
) -> None:
    position = asked(session, person, now=NOW)
    assert person.run_id is not None
    rating = events.AnswerRating(quality=3)
    events.rate(session, melati, person.run_id, position, rating, click("q"))
    participants.answer(session, melati, "sus 1", "5", click("a", minute=1))

    assert events.undo(session, melati, person.run_id, click("u", minute=2)) == position
    assert events.undo(session, melati, person.run_id, click("v", minute=3)) is None
    assert participants.of_rater(session, melati).usability[0] == 5
