"""Questions are put to the chatbot in turns, no more at once than the owner allows."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.phase_3.participants import SETTINGS, WORK, claimed, opened, taking_part
from webapp.chatbot.answers import Answer
from webapp.db.tables.phase_3 import OwnQuestion, Participant
from webapp.db.tables.study import Study
from webapp.services.phase_3 import own_questions
from webapp.services.phase_3.own_questions import Failed, QuestionCall, State
from webapp.services.workers.loop import Nothing

MINUTE = timedelta(minutes=1)


@pytest.fixture(name="melati")
def _melati(session: Session, study: Study) -> Participant:
    return taking_part(session, study)


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


def test_addresses_take_turns_however_many_ask_from_one_of_them(
    session: Session, study: Study
) -> None:
    """Five from one address come first, then two from a second and one from a third."""
    asked = [("a1", "a"), ("a2", "a"), ("a3", "a"), ("a4", "a"), ("a5", "a")]
    asked += [("b1", "b"), ("b2", "b"), ("c1", "c")]
    for number, (text, origin) in enumerate(asked):
        person = taking_part(session, study, text)
        own_questions.ask(session, person, text, NOW + timedelta(seconds=number), origin=origin)
        session.flush()
    (line,) = own_questions.lines(session, person, NOW)
    assert line.before == 2  # a1 and b1

    assert order(session) == ["a1", "b1", "c1", "a2", "b2", "a3", "a4", "a5"]


def test_who_comes_late_does_not_overtake_those_who_wait_again_and_again(
    session: Session, study: Study
) -> None:
    for number in range(4):
        person = taking_part(session, study, f"a{number}")
        own_questions.ask(session, person, f"a{number}", NOW, origin="a")
    put = []
    for late in range(3):
        person = taking_part(session, study, f"late {late}")
        when = NOW + timedelta(seconds=1 + late)
        own_questions.ask(session, person, f"late {late}", when, origin=f"other {late}")
        session.flush()
        for _ in range(2):
            call = claimed(session)
            put.append(call.asked.message)
            WORK.keep(session, call, Answer("Tidak ada."), NOW)
            session.flush()

    assert put == ["a0", "late 0", "a1", "late 1", "a2", "late 2"]


def test_where_a_question_came_from_is_kept_until_there_is_an_outcome(
    session: Session, melati: Participant
) -> None:
    own_questions.ask(session, melati, "Rumah?", NOW, origin="a")
    call = claimed(session)
    stored = session.get_one(OwnQuestion, call.lease.key)
    assert stored.origin == "a"

    WORK.keep(session, call, Failed("server_failed", "500"), NOW)
    assert stored.origin is None
    own_questions.ask_again(session, melati, 1, NOW, origin="b")
    assert stored.origin == "b"
    assert order(session) == ["Rumah?"]
    assert stored.origin is None
