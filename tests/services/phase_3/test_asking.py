"""Phase 3 opens with a chatbot that can be asked; each question is put to it once, in order."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace
from sqlalchemy.orm import Session

from relevansi.chatbot.answers import Answer
from relevansi.chatbot.client import Chatbot
from relevansi.chatbot.mappings import CONTRACT
from relevansi.db.tables.phase_3 import Participant
from relevansi.db.tables.study import Study
from relevansi.metrics.judging.figures import Totals
from relevansi.records import Relevance
from relevansi.services.judging import judgments, stored_summaries
from relevansi.services.judging.stored_summaries import RunProgress
from relevansi.services.phase_3 import own_questions, user_studies
from relevansi.services.phase_3.asking import FailedCall, QuestionCall
from relevansi.services.phase_3.own_questions import (
    NoQuestionLeft,
    QuestionState,
    TooSoon,
    TriedTooOften,
)
from relevansi.services.phase_3.participants import PhaseClosed
from relevansi.services.phase_3.user_studies import UnfitChatbot, UserStudySettings
from relevansi.services.rating import open_pages
from relevansi.services.rating.pool import QueryFilter
from relevansi.services.workers.loop import Idle
from tests.conftest import NOW
from tests.services.phase_3.participants import (
    SETTINGS,
    TWO_CARDS,
    WORK,
    ask_question,
    claimed,
    opened,
    place,
    taking_part,
)
from tests.services.runs.runs import click

MINUTE = timedelta(minutes=1)


@pytest.fixture(name="melati")
def _melati(session: Session, study: Study) -> Participant:
    return taking_part(session, study)


def test_an_answer_becomes_cards_and_figures(session: Session, melati: Participant) -> None:
    position = ask_question(session, melati)

    (line,) = own_questions.lines(session, melati, NOW)
    assert (line.question.position, line.state, line.is_open) == (
        position,
        QuestionState.ANSWERED,
        True,
    )
    assert line.open_judgments == 2
    for rank, verdict in ((1, Relevance.RELEVANT), (2, Relevance.NOT_RELEVANT)):
        verdict_click = click(f"c{rank}")
        judgments.judge(session, *place(melati), position, rank, verdict, verdict_click)
    page = open_pages.rating_page(session, *place(melati), position, QueryFilter())
    assert [card.card.identity[5:] for card in page.cards] == ["rumah-cemara", "rumah-johor"]
    assert page.summary.figures["mean_precision_at_5"].value == 0.5  # 1 relevant of 2
    rater, run_id = place(melati)
    stored = stored_summaries.by_category(session, rater.id, run_id)
    assert RunProgress.together(stored.values()).totals == Totals.of([page.summary])
    assert stored_summaries.check(session) == []


def test_a_new_conversation_forgets_the_earlier(session: Session, melati: Participant) -> None:
    first = ask_question(session, melati)
    own_questions.close(session, melati, first, NOW)
    own_questions.ask(session, melati, "Yang lain?", NOW)
    call = claimed(session)
    assert call.message.earlier == (("Rumah di Cemara?", TWO_CARDS),)
    WORK.store(session, call, Answer("Tidak ada."), NOW)
    own_questions.close(session, melati, 2, NOW)
    own_questions.ask(session, melati, "Ruko?", NOW, new_conversation=True)
    anew = claimed(session)

    assert anew.message.session_id != call.message.session_id
    assert anew.message.earlier == ()
    result = own_questions.lines(session, melati, NOW)
    assert [line.question.context_dependent for line in result] == [False, True, False]
    assert [line.row.conversation for line in result] == [1, 1, 2]


@pytest.mark.parametrize(
    "response",
    ["NUL \x00 here", "half \ud800 a character", "\u202e turned", "x" * 900_000, "**" * 5000],
)
def test_whatever_a_chatbot_writes_can_be_stored_and_displayed(
    session: Session, melati: Participant, response: str
) -> None:
    own_questions.ask(session, melati, "Rumah?", NOW)
    call = claimed(session)
    properties = ({"title": response[:50], "url": "x\x00"}, "no object", None)
    answer = Answer(response, properties, metadata={"note": response[:50]})

    WORK.store(session, call, answer, NOW)
    session.flush()
    page = open_pages.rating_page(session, *place(melati), 1, QueryFilter())
    assert page.response


def test_questions_wait_their_turn(session: Session, study: Study) -> None:
    opened(session, study, replace(SETTINGS, at_once=2))
    people = [taking_part(session, study, name) for name in ("Melati", "Jati", "Merak")]
    for number, person in enumerate(people):
        own_questions.ask(session, person, f"Rumah {number}?", NOW + timedelta(seconds=number))
    calls = [WORK.claim(session, NOW + MINUTE) for _ in range(3)]

    first, second, third = calls
    assert isinstance(first, QuestionCall)
    assert isinstance(second, QuestionCall)
    assert [first.message.message, second.message.message] == ["Rumah 0?", "Rumah 1?"]
    assert third is Idle.DONE
    last = own_questions.lines(session, people[2], NOW + MINUTE)[0]
    assert (last.state, last.before) == (QuestionState.WAITING, 2)
    WORK.store(session, first, Answer("Tidak ada."), NOW + MINUTE)
    assert claimed(session, NOW + MINUTE).message.message == "Rumah 2?"


def test_a_question_too_many_too_soon_or_after_the_end_is_refused(
    session: Session, study: Study
) -> None:
    opened(session, study, Settings(most_questions=1, pause_seconds=60))
    melati = taking_part(session, study)
    ask_question(session, melati)
    own_questions.close(session, melati, 1, NOW)
    with pytest.raises(NoQuestionLeft):
        own_questions.ask(session, melati, "Ruko?", NOW + 2 * MINUTE)
    opened(session, study, Settings(most_questions=2, pause_seconds=60))
    with pytest.raises(TooSoon) as early:
        own_questions.ask(session, melati, "Ruko?", NOW + timedelta(seconds=20.5))
    assert early.value.args == (40,)  # 39.5 rounded up
    opened(session, study, Settings(is_open=False))
    with pytest.raises(PhaseClosed):
        own_questions.ask(session, melati, "Ruko?", NOW + MINUTE)


def test_a_question_can_fail_three_times_and_no_more(session: Session, study: Study) -> None:
    opened(session, study, Settings(most_questions=1))
    melati = taking_part(session, study)
    own_questions.ask(session, melati, "Rumah?", NOW)
    for _attempt in range(2):
        WORK.store(session, claimed(session), FailedCall("not_reached", "-"), NOW)
        own_questions.ask_again(session, melati, 1, NOW)
    WORK.store(session, claimed(session), FailedCall("not_reached", "-"), NOW)

    with pytest.raises(TriedTooOften):  # 3 calls for 1 question
        own_questions.ask_again(session, melati, 1, NOW)


def Settings(**changes: object) -> user_studies.UserStudySettings:  # noqa: N802
    """Return the settings of the tests with something else in them."""
    return replace(SETTINGS, **changes)


OWN = '{"send": {"q": "{message}"}, "read": {"text": "a"}, "headers": {%s}}'


def test_phase_3_opens_only_with_a_chatbot(session: Session, study: Study) -> None:
    user_studies.set_settings(session, study, UserStudySettings(most_questions=3), NOW)
    with pytest.raises(UnfitChatbot) as unfit:
        user_studies.set_settings(session, study, UserStudySettings(is_open=True), NOW)

    assert unfit.value.field == "endpoint"
    assert user_studies.settings(user_studies.find(session, study)).most_questions == 3


def test_the_chatbot_has_the_address_and_patience_of_the_settings(
    session: Session, study: Study
) -> None:
    user_studies.set_settings(session, study, replace(SETTINGS, answer_seconds=7, tries=4), NOW)

    result = user_studies.chatbot(user_studies.settings(user_studies.find(session, study)))
    assert isinstance(result, Chatbot)
    assert result.address == "http://127.0.0.1:9/chat"
    assert result.mapping is CONTRACT
    assert (result.patience.seconds, result.patience.tries) == (7, 4)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"endpoint": "ftp://bot.example"}, "endpoint"),
        ({"endpoint": "https://me:secret@bot.example"}, "endpoint"),
        ({"endpoint": "https://bot.example/chat?key=secret"}, "endpoint"),
        ({"api": "mapping", "mapping": "{"}, "mapping"),
        ({"api": "mapping", "mapping": OWN % '"Authorization": "Bearer secret"'}, "mapping"),
    ],
)
def test_a_chatbot_that_cannot_be_asked_or_would_store_a_key_is_refused(
    session: Session, study: Study, wrong: dict[str, str], field: str
) -> None:
    with pytest.raises(UnfitChatbot) as unfit:
        user_studies.set_settings(session, study, replace(SETTINGS, **wrong), NOW)

    assert unfit.value.field == field


def test_a_header_may_name_the_variable_that_holds_its_key() -> None:
    own_mapping = OWN % '"Authorization": "Bearer {env:BOT_KEY}", "Accept-Language": "id"'

    result = user_studies.chatbot(replace(SETTINGS, api="mapping", mapping=own_mapping))
    assert result.mapping.headers["Authorization"] == "Bearer {env:BOT_KEY}"
