"""A question is put to the chatbot once, and its answer kept with its cards."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.phase_3.participants import (
    SETTINGS,
    TWO_CARDS,
    WORK,
    asked,
    claimed,
    opened,
    taking_part,
)
from tests.services.runs.runs import click
from webapp.chatbot.answers import Answer
from webapp.db.tables.phase_3 import Participant
from webapp.db.tables.study import Study
from webapp.metrics.judging.figures import Totals
from webapp.records import QueryState, Relevance
from webapp.services.judging import events, live_metrics
from webapp.services.judging.events import UnknownQuery
from webapp.services.judging.live_metrics import Standing
from webapp.services.phase_3 import own_questions
from webapp.services.phase_3.own_questions import QuestionCall, State
from webapp.services.rating import pages
from webapp.services.rating.pool import QueryFilter
from webapp.services.workers import loop
from webapp.services.workers.loop import ALIVE, Nothing

MINUTE = timedelta(minutes=1)


@pytest.fixture(name="melati")
def _melati(session: Session, study: Study) -> Participant:
    return taking_part(session, study)


def test_an_answer_becomes_cards_to_judge_and_figures(
    session: Session, melati: Participant
) -> None:
    position = asked(session, melati)

    (line,) = own_questions.lines(session, melati, NOW)
    assert (line.position, line.state, line.is_open) == (position, State.ANSWERED, True)
    assert line.open_judgments == 2
    assert melati.rater is not None
    assert melati.run_id is not None
    for rank, verdict in ((1, Relevance.RELEVANT), (2, Relevance.NOT_RELEVANT)):
        said = click(f"c{rank}")
        events.judge(session, melati.rater, melati.run_id, position, rank, verdict, said)
    page = pages.rating_page(session, melati.rater, melati.run_id, position, QueryFilter())
    assert [card.card.slug for card in page.cards] == ["rumah-cemara", "rumah-johor"]
    assert page.summary.precision_at_5.value == 0.5  # 1 relevant of 2
    standing = Standing.together(
        live_metrics.by_category(session, melati.rater.id, melati.run_id).values()
    )
    assert standing.totals == Totals.of([page.summary])
    assert live_metrics.check(session) == []


def test_an_empty_answer_asks_whether_there_is_truly_nothing(
    session: Session, melati: Participant
) -> None:
    asked(session, melati, response="Maaf, tidak ada.")

    (line,) = own_questions.lines(session, melati, NOW)
    assert line.answer_state is QueryState.EMPTY
    assert line.open_judgments == 1


def test_a_follow_up_goes_on_in_the_session_and_a_new_conversation_does_not(
    session: Session, melati: Participant
) -> None:
    first = asked(session, melati)
    own_questions.done(session, melati, first, NOW)
    own_questions.ask(session, melati, "Yang lain?", NOW)
    call = claimed(session)
    assert call.asked.earlier == (("Rumah di Cemara?", TWO_CARDS),)
    WORK.keep(session, call, Answer("Tidak ada."), NOW)
    own_questions.done(session, melati, 2, NOW)
    own_questions.ask(session, melati, "Ruko?", NOW, new_conversation=True)
    anew = claimed(session)

    assert anew.asked.session_id != call.asked.session_id
    assert anew.asked.earlier == ()
    found = own_questions.lines(session, melati, NOW)
    assert [line.context_dependent for line in found] == [False, True, False]
    assert [line.conversation for line in found] == [1, 1, 2]


def test_a_call_that_died_is_interrupted_and_its_late_answer_is_not_taken_for_a_new_one(
    session: Session, melati: Participant
) -> None:
    own_questions.ask(session, melati, "Rumah?", NOW)
    call = claimed(session)
    loop.renew(session, [call.lease], NOW + MINUTE)
    session.expire_all()

    def state(after: timedelta) -> State:
        return own_questions.lines(session, melati, NOW + after)[0].state

    assert state(MINUTE + ALIVE / 2) is State.ASKING
    assert state(MINUTE + ALIVE) is State.INTERRUPTED
    own_questions.ask_again(session, melati, 1, NOW + 2 * MINUTE)
    WORK.keep(session, call, Answer("late"), NOW + 2 * MINUTE)
    assert state(2 * MINUTE) is State.WAITING


@pytest.mark.parametrize(
    "response",
    ["NUL \x00 here", "half \ud800 a character", "\u202e turned", "x" * 900_000, "**" * 5000],
)
def test_whatever_a_chatbot_writes_can_be_kept_and_shown(
    session: Session, melati: Participant, response: str
) -> None:
    own_questions.ask(session, melati, "Rumah?", NOW)
    call = claimed(session)
    properties = ({"title": response[:50], "url": "x\x00"}, "no object", None)
    answer = Answer(response, properties, metadata={"note": response[:50]})

    WORK.keep(session, call, answer, NOW)
    session.flush()
    assert melati.rater is not None
    assert melati.run_id is not None
    page = pages.rating_page(session, melati.rater, melati.run_id, 1, QueryFilter())
    assert page.response


def test_one_participant_is_out_of_reach_for_another(session: Session, study: Study) -> None:
    melati, jati = taking_part(session, study), taking_part(session, study, "Jati")
    asked(session, melati)
    assert jati.rater is not None
    assert melati.run_id is not None

    with pytest.raises(UnknownQuery):
        events.judge(session, jati.rater, melati.run_id, 1, 1, Relevance.RELEVANT, click("c"))
    with pytest.raises(own_questions.UnknownQuestion):
        own_questions.done(session, jati, 1, NOW)


A_MINUTE = timedelta(minutes=1)


def test_no_more_are_asked_at_once_than_allowed_and_the_others_wait_their_turn(
    session: Session, study: Study
) -> None:
    opened(session, study, replace(SETTINGS, at_once=2))
    people = [taking_part(session, study, name) for name in ("Melati", "Jati", "Merak")]
    for number, person in enumerate(people):
        own_questions.ask(session, person, f"Rumah {number}?", NOW + timedelta(seconds=number))
    calls = [WORK.claim(session, NOW + A_MINUTE) for _ in range(3)]

    first, second, third = calls
    assert isinstance(first, QuestionCall)
    assert isinstance(second, QuestionCall)
    assert [first.asked.message, second.asked.message] == ["Rumah 0?", "Rumah 1?"]
    assert third is Nothing.MORE
    last = own_questions.lines(session, people[2], NOW + A_MINUTE)[0]
    assert (last.state, last.before) == (State.WAITING, 2)
    WORK.keep(session, first, Answer("Tidak ada."), NOW + A_MINUTE)
    assert claimed(session, NOW + A_MINUTE).asked.message == "Rumah 2?"


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
