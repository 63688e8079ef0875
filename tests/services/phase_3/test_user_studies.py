"""Phase 3 opens with a chatbot that can be asked, and no key is ever stored."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.phase_3.participants import SETTINGS
from webapp.chatbot.client import Chatbot
from webapp.chatbot.mappings import CONTRACT
from webapp.db.tables.study import Study
from webapp.services.phase_3 import user_studies
from webapp.services.phase_3.user_studies import UnfitChatbot, UserStudySettings

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
