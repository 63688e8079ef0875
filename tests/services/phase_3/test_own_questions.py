"""A participant's question is stored before it is asked, asked once, and never lost."""

from __future__ import annotations

from datetime import timedelta
from threading import Barrier, Thread

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.phase_3.participants import SETTINGS, TWO_CARDS, asked, opened, taking_part
from tests.services.runs.runs import click
from webapp.chatbot.answers import Answer
from webapp.db.engine import Database
from webapp.db.tables.phase_3 import OwnQuestion, Participant
from webapp.db.tables.study import Study
from webapp.metrics.judging.totals import Totals
from webapp.records import QueryState, Relevance
from webapp.services.judging import judgments, live_metrics
from webapp.services.judging.judgments import UnknownQuery
from webapp.services.judging.live_metrics import Standing
from webapp.services.phase_3 import own_questions, participants, user_studies
from webapp.services.phase_3.own_questions import (
    ALIVE,
    Failed,
    NoQuestionLeft,
    QuestionStillOpen,
    State,
    TooSoon,
    UnfitQuestion,
)
from webapp.services.phase_3.participants import PhaseClosed
from webapp.services.rating import pages
from webapp.services.rating.pages import QueryFilter
from webapp.services.study import studies

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
        judgments.judge(session, melati.rater, melati.run_id, position, rank, verdict, said)
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


@pytest.mark.parametrize("text", ["", "   \n", "x" * 2001])
def test_a_question_has_1_to_2000_characters(
    session: Session, melati: Participant, text: str
) -> None:
    with pytest.raises(UnfitQuestion):
        own_questions.ask(session, melati, text, NOW)
    assert own_questions.ask(session, melati, "x" * 2000, NOW) == 1


def test_there_is_one_open_question_and_the_same_text_again_is_that_one(
    session: Session, melati: Participant
) -> None:
    first = own_questions.ask(session, melati, "Rumah?", NOW)

    assert own_questions.ask(session, melati, " Rumah? ", NOW) == first
    with pytest.raises(QuestionStillOpen) as still:
        own_questions.ask(session, melati, "Ruko?", NOW)
    assert still.value.position == first


def test_two_tabs_at_once_make_one_open_question(database: Database) -> None:
    with database.writing() as session:
        participant = taking_part(session, studies.open_or_make(session, NOW)).id
        session.commit()
    barrier, outcomes = Barrier(2), []

    def ask(text: str) -> None:
        barrier.wait()
        with database.writing() as session:
            try:
                own_questions.ask(session, session.get_one(Participant, participant), text, NOW)
                session.commit()
                outcomes.append("asked")
            except QuestionStillOpen:
                outcomes.append("still open")

    threads = [Thread(target=ask, args=[text]) for text in ("Rumah?", "Ruko?")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == ["asked", "still open"]


def test_a_follow_up_goes_on_in_the_session_and_a_new_conversation_does_not(
    session: Session, melati: Participant
) -> None:
    first = asked(session, melati)
    own_questions.done(session, melati, first, NOW)
    own_questions.ask(session, melati, "Yang lain?", NOW)
    call = own_questions.claim(session, NOW)
    assert call is not None
    assert call.asked.earlier == (("Rumah di Cemara?", TWO_CARDS),)
    own_questions.answered(session, call, Answer("Tidak ada."), NOW)
    own_questions.done(session, melati, 2, NOW)
    own_questions.ask(session, melati, "Ruko?", NOW, new_conversation=True)
    anew = own_questions.claim(session, NOW)
    assert anew is not None

    assert anew.asked.session_id != call.asked.session_id
    assert anew.asked.earlier == ()
    found = own_questions.lines(session, melati, NOW)
    assert [line.context_dependent for line in found] == [False, True, False]
    assert [line.conversation for line in found] == [1, 1, 2]


def test_a_failure_is_kept_and_can_be_asked_again_with_nothing_typed_anew(
    session: Session, melati: Participant
) -> None:
    own_questions.ask(session, melati, "Rumah?", NOW)
    call = own_questions.claim(session, NOW)
    assert call is not None
    own_questions.failed(session, call, Failed("server_failed", "500", "<html>"))

    (line,) = own_questions.lines(session, melati, NOW)
    assert (line.state, line.error_code, line.text) == (State.FAILED, "server_failed", "Rumah?")
    own_questions.ask_again(session, melati, 1, NOW)
    again = own_questions.claim(session, NOW)
    assert again is not None
    assert (again.asked.message, again.attempt) == ("Rumah?", 2)


def test_a_call_that_died_is_interrupted_and_its_late_answer_is_not_taken_for_a_new_one(
    session: Session, melati: Participant
) -> None:
    own_questions.ask(session, melati, "Rumah?", NOW)
    call = own_questions.claim(session, NOW)
    assert call is not None
    own_questions.keep_alive(session, [call.id], NOW + MINUTE)
    session.expire_all()

    def state(after: timedelta) -> State:
        return own_questions.lines(session, melati, NOW + after)[0].state

    assert state(MINUTE + ALIVE / 2) is State.ASKING
    assert state(MINUTE + ALIVE) is State.INTERRUPTED
    own_questions.ask_again(session, melati, 1, NOW + 2 * MINUTE)
    assert not own_questions.answered(session, call, Answer("late"), NOW + 2 * MINUTE)
    assert state(2 * MINUTE) is State.WAITING


def test_what_was_given_up_counts_as_a_failed_call_and_takes_no_question(
    session: Session, study: Study, melati: Participant
) -> None:
    opened(session, study, SETTINGS)
    own_questions.ask(session, melati, "Rumah?", NOW)
    call = own_questions.claim(session, NOW)
    assert call is not None
    own_questions.failed(session, call, Failed("not_reached", "nobody listens"))
    own_questions.give_up(session, melati, 1, NOW)
    own_questions.give_up(session, melati, 1, NOW)

    (line,) = own_questions.lines(session, melati, NOW)
    assert (line.state, line.answer_state) == (State.GIVEN_UP, QueryState.FAILED)
    assert not line.is_open
    assert own_questions.allowance(session, melati).left == 10
    assert own_questions.ask(session, melati, "Ruko?", NOW) == 2


def test_nobody_asks_more_than_the_limit_nor_too_soon_nor_once_it_is_closed(
    session: Session, study: Study
) -> None:
    opened(session, study, Settings(most_questions=1, pause_seconds=60))
    melati = taking_part(session, study)
    asked(session, melati)
    own_questions.done(session, melati, 1, NOW)
    with pytest.raises(NoQuestionLeft):
        own_questions.ask(session, melati, "Ruko?", NOW + 2 * MINUTE)
    opened(session, study, Settings(most_questions=2, pause_seconds=60))
    with pytest.raises(TooSoon) as early:
        own_questions.ask(session, melati, "Ruko?", NOW + timedelta(seconds=20.5))
    assert early.value.seconds == 40  # 39.5 rounded up
    opened(session, study, Settings(is_open=False))
    with pytest.raises(PhaseClosed):
        own_questions.ask(session, melati, "Ruko?", NOW + MINUTE)


def test_failing_for_ever_ends_too(session: Session, study: Study) -> None:
    opened(session, study, Settings(most_questions=1))
    melati = taking_part(session, study)
    own_questions.ask(session, melati, "Rumah?", NOW)
    for _attempt in range(2):
        call = own_questions.claim(session, NOW)
        assert call is not None
        own_questions.failed(session, call, Failed("not_reached", "-"))
        own_questions.ask_again(session, melati, 1, NOW)
    call = own_questions.claim(session, NOW)
    assert call is not None
    own_questions.failed(session, call, Failed("not_reached", "-"))

    with pytest.raises(NoQuestionLeft):  # 3 calls for 1 question
        own_questions.ask_again(session, melati, 1, NOW)


def test_no_more_are_asked_at_once_than_allowed_and_the_others_wait_their_turn(
    session: Session, study: Study
) -> None:
    opened(session, study, Settings(at_once=2))
    people = [taking_part(session, study, name) for name in ("Melati", "Jati", "Merak")]
    for number, person in enumerate(people):
        own_questions.ask(session, person, f"Rumah {number}?", NOW + timedelta(seconds=number))
    calls = [own_questions.claim(session, NOW + MINUTE) for _ in range(3)]

    assert [call and call.asked.message for call in calls] == ["Rumah 0?", "Rumah 1?", None]
    last = own_questions.lines(session, people[2], NOW + MINUTE)[0]
    assert (last.state, last.before) == (State.WAITING, 2)
    assert calls[0] is not None
    own_questions.answered(session, calls[0], Answer("Tidak ada."), NOW + MINUTE)
    third = own_questions.claim(session, NOW + MINUTE)
    assert third is not None
    assert third.asked.message == "Rumah 2?"


@pytest.mark.parametrize(
    "response",
    ["NUL \x00 here", "half \ud800 a character", "\u202e turned", "x" * 900_000, "**" * 5000],
)
def test_whatever_a_chatbot_writes_can_be_kept_and_shown(
    session: Session, melati: Participant, response: str
) -> None:
    own_questions.ask(session, melati, "Rumah?", NOW)
    call = own_questions.claim(session, NOW)
    assert call is not None
    properties = ({"title": response[:50], "url": "x\x00"}, "no object", None)
    answer = Answer(response, properties, metadata={"note": response[:50]})

    assert own_questions.answered(session, call, answer, NOW)
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
        judgments.judge(session, jati.rater, melati.run_id, 1, 1, Relevance.RELEVANT, click("c"))
    with pytest.raises(own_questions.UnknownQuestion):
        own_questions.done(session, jati, 1, NOW)


def test_withdrawal_deletes_every_row_and_leaves_a_count(session: Session, study: Study) -> None:
    stays = taking_part(session, study, "Jati")
    asked(session, stays)
    before = _rows(session)
    melati = taking_part(session, study)
    links = 1  # everybody's link that Melati came by stays
    position = asked(session, melati)
    assert melati.rater is not None
    assert melati.run_id is not None
    said = click("c")
    judgments.judge(session, melati.rater, melati.run_id, position, 1, Relevance.RELEVANT, said)
    judgments.undo(session, melati.rater, melati.run_id, click("u"))
    participants.withdraw(session, melati, NOW)

    after = _rows(session)
    before["participant_links"] += links
    for kept in ("log_entries", "attempts"):  # newcomers of an hour are counted, and not named
        before.pop(kept)
        after.pop(kept)
    assert after == before
    phase = user_studies.find(session, study)
    assert phase is not None
    assert phase.withdrawn == 1
    assert [one.pseudonym for one in participants.everybody(session, study)] == ["Jati"]
    assert taking_part(session, study, "Melati").number == 3


def Settings(**said: object) -> user_studies.UserStudySettings:  # noqa: N802
    """Return the settings of the tests with something else in them."""
    from dataclasses import replace

    return replace(SETTINGS, **said)  # type: ignore[arg-type]


def _rows(session: Session) -> dict[str, int]:
    from sqlalchemy import func, select

    from webapp.db.tables.base import Base

    session.flush()
    return {
        name: session.scalar(select(func.count()).select_from(table)) or 0
        for name, table in Base.metadata.tables.items()
    }


def order(session: Session) -> list[str]:
    """Return what is put to the chatbot next, until nothing waits, each answered at once."""
    put: list[str] = []
    while call := own_questions.claim(session, NOW):
        put.append(call.asked.message)
        own_questions.answered(session, call, Answer("Tidak ada."), NOW)
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
            call = own_questions.claim(session, NOW)
            assert call is not None
            put.append(call.asked.message)
            own_questions.answered(session, call, Answer("Tidak ada."), NOW)
            session.flush()

    assert put == ["a0", "late 0", "a1", "late 1", "a2", "late 2"]


def test_where_a_question_came_from_is_kept_until_there_is_an_outcome(
    session: Session, melati: Participant
) -> None:
    own_questions.ask(session, melati, "Rumah?", NOW, origin="a")
    call = own_questions.claim(session, NOW)
    assert call is not None
    stored = session.get_one(OwnQuestion, call.id)
    assert stored.origin == "a"

    own_questions.failed(session, call, Failed("server_failed", "500"))
    assert stored.origin is None
    own_questions.ask_again(session, melati, 1, NOW, origin="b")
    assert stored.origin == "b"
    assert order(session) == ["Rumah?"]
    assert stored.origin is None
