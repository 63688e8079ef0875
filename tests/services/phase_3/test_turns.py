"""Questions are put to the chatbot in their order, no more at once than the owner allows."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.phase_3.participants import SETTINGS, WORK, claimed, opened, taking_part
from webapp.chatbot.answers import Answer
from webapp.db.tables.study import Study
from webapp.services.phase_3 import own_questions
from webapp.services.phase_3.own_questions import QuestionCall, State
from webapp.services.workers.loop import Nothing

MINUTE = timedelta(minutes=1)


def test_no_more_are_asked_at_once_than_allowed_and_the_others_wait_their_turn(
    session: Session, study: Study
) -> None:
    opened(session, study, replace(SETTINGS, at_once=2))
    people = [taking_part(session, study, name) for name in ("Melati", "Jati", "Merak")]
    for number, person in enumerate(people):
        own_questions.ask(session, person, f"Rumah {number}?", NOW + timedelta(seconds=number))
    calls = [WORK.claim(session, NOW + MINUTE) for _ in range(3)]

    first, second, third = calls
    assert isinstance(first, QuestionCall)
    assert isinstance(second, QuestionCall)
    assert [first.asked.message, second.asked.message] == ["Rumah 0?", "Rumah 1?"]
    assert third is Nothing.MORE
    last = own_questions.lines(session, people[2], NOW + MINUTE)[0]
    assert (last.state, last.before) == (State.WAITING, 2)
    WORK.keep(session, first, Answer("Tidak ada."), NOW + MINUTE)
    assert claimed(session, NOW + MINUTE).asked.message == "Rumah 2?"


def order(session: Session) -> list[str]:
    """Return what is put to the chatbot next, until nothing waits, each answered at once."""
    put: list[str] = []
    while isinstance(call := WORK.claim(session, NOW), QuestionCall):
        put.append(call.asked.message)
        WORK.keep(session, call, Answer("Tidak ada."), NOW)
        session.flush()
    return put


def test_questions_are_put_in_the_order_in_which_they_came(session: Session, study: Study) -> None:
    for number, text in enumerate(("first", "second", "third")):
        person = taking_part(session, study, text)
        own_questions.ask(session, person, text, NOW + timedelta(seconds=number))
        session.flush()
    (line,) = own_questions.lines(session, person, NOW)
    assert line.before == 2

    assert order(session) == ["first", "second", "third"]
