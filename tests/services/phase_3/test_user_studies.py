"""Phase 3 opens with a chatbot that can be asked, and no key is ever stored."""

from __future__ import annotations

from datetime import timedelta
from threading import Barrier, Thread

import pytest
from msgspec.structs import replace
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.phase_3.participants import SETTINGS, WORK, asked, claimed, opened, taking_part
from webapp.chatbot.client import Chatbot
from webapp.chatbot.mappings import CONTRACT
from webapp.db.engine import Database
from webapp.db.tables.phase_3 import Participant
from webapp.db.tables.study import Study
from webapp.records import QueryState
from webapp.services.phase_3 import own_questions, user_studies
from webapp.services.phase_3.own_questions import (
    Failed,
    NoQuestionLeft,
    QuestionStillOpen,
    State,
    TooSoon,
    TriedTooOften,
    UnfitQuestion,
)
from webapp.services.phase_3.participants import PhaseClosed
from webapp.services.phase_3.user_studies import UnfitChatbot, UserStudySettings
from webapp.services.study import studies

OWN = '{"send": {"q": "{message}"}, "read": {"text": "a"}, "headers": {%s}}'


def test_there_is_no_phase_3_until_it_is_set_up(session: Session, study: Study) -> None:
    assert user_studies.find(session, study) is None
    assert user_studies.settings(None) == UserStudySettings()
    assert user_studies.consent(session, study) == {}


def test_it_may_be_prepared_without_a_chatbot_but_not_opened(
    session: Session, study: Study
) -> None:
    user_studies.set_settings(session, study, UserStudySettings(most_questions=3), NOW)
    with pytest.raises(UnfitChatbot) as unfit:
        user_studies.set_settings(session, study, UserStudySettings(is_open=True), NOW)

    assert unfit.value.field == "endpoint"
    assert user_studies.settings(user_studies.find(session, study)).most_questions == 3


def test_the_chatbot_is_the_one_that_is_set(session: Session, study: Study) -> None:
    user_studies.set_settings(session, study, replace(SETTINGS, answer_seconds=7, tries=4), NOW)

    found = user_studies.chatbot(user_studies.settings(user_studies.find(session, study)))
    assert isinstance(found, Chatbot)
    assert found.address == "http://127.0.0.1:9/chat"
    assert found.mapping is CONTRACT
    assert (found.patience.seconds, found.patience.tries) == (7, 4)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"endpoint": "ftp://bot.example"}, "endpoint"),
        ({"endpoint": "bot.example"}, "endpoint"),
        ({"endpoint": "https://me:secret@bot.example"}, "endpoint"),
        ({"endpoint": "https://bot.example/chat?key=secret"}, "endpoint"),
        ({"api": "mapping", "mapping": "{"}, "mapping"),
        ({"api": "mapping", "mapping": OWN % '"Authorization": "Bearer secret"'}, "mapping"),
        ({"api": "mapping", "mapping": OWN % '"x-api-key": "secret"'}, "mapping"),
    ],
)
def test_a_chatbot_that_cannot_be_asked_or_would_store_a_key_is_refused(
    session: Session, study: Study, wrong: dict[str, str], field: str
) -> None:
    with pytest.raises(UnfitChatbot) as unfit:
        user_studies.set_settings(session, study, replace(SETTINGS, **wrong), NOW)

    assert unfit.value.field == field


def test_a_header_may_name_the_variable_that_holds_its_key() -> None:
    named = OWN % '"Authorization": "Bearer {env:BOT_KEY}", "Accept-Language": "id"'

    found = user_studies.chatbot(replace(SETTINGS, api="mapping", mapping=named))
    assert found.mapping.headers["Authorization"] == "Bearer {env:BOT_KEY}"


def test_there_is_a_consent_text_of_ours_in_each_language() -> None:
    texts = user_studies.default_consent()

    assert set(texts) == {"id", "en"}
    for text, words in ((texts["id"], ("sukarela", "dihapus")), (texts["en"], ("voluntary",))):
        assert all(word in text for word in words)


MINUTE = timedelta(minutes=1)


@pytest.fixture(name="melati")
def _melati(session: Session, study: Study) -> Participant:
    return taking_part(session, study)


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
    assert still.value.args == (first,)


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


def test_a_failure_is_kept_and_can_be_asked_again_with_nothing_typed_anew(
    session: Session, melati: Participant
) -> None:
    own_questions.ask(session, melati, "Rumah?", NOW)
    WORK.keep(session, claimed(session), Failed("server_failed", "500", "<html>"), NOW)

    (line,) = own_questions.lines(session, melati, NOW)
    assert (line.state, line.error_code, line.text) == (State.FAILED, "server_failed", "Rumah?")
    own_questions.ask_again(session, melati, 1, NOW)
    again = claimed(session)
    assert (again.asked.message, again.lease.attempt) == ("Rumah?", 2)


def test_what_was_given_up_counts_as_a_failed_call_and_takes_no_question(
    session: Session, study: Study, melati: Participant
) -> None:
    opened(session, study, SETTINGS)
    own_questions.ask(session, melati, "Rumah?", NOW)
    WORK.keep(session, claimed(session), Failed("not_reached", "nobody listens"), NOW)
    own_questions.give_up(session, melati, 1, NOW)
    own_questions.give_up(session, melati, 1, NOW)

    (line,) = own_questions.lines(session, melati, NOW)
    assert (line.state, line.answer_state) == (State.GIVEN_UP, QueryState.FAILED)
    assert not line.is_open
    assert own_questions.allowance(session, melati) == 10
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
    assert early.value.args == (40,)  # 39.5 rounded up
    opened(session, study, Settings(is_open=False))
    with pytest.raises(PhaseClosed):
        own_questions.ask(session, melati, "Ruko?", NOW + MINUTE)


def test_failing_for_ever_ends_too(session: Session, study: Study) -> None:
    opened(session, study, Settings(most_questions=1))
    melati = taking_part(session, study)
    own_questions.ask(session, melati, "Rumah?", NOW)
    for _attempt in range(2):
        WORK.keep(session, claimed(session), Failed("not_reached", "-"), NOW)
        own_questions.ask_again(session, melati, 1, NOW)
    WORK.keep(session, claimed(session), Failed("not_reached", "-"), NOW)

    with pytest.raises(TriedTooOften):  # 3 calls for 1 question
        own_questions.ask_again(session, melati, 1, NOW)


def Settings(**said: object) -> user_studies.UserStudySettings:  # noqa: N802
    """Return the settings of the tests with something else in them."""
    return replace(SETTINGS, **said)
