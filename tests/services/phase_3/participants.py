"""Phase 3 set up, with people who take part, for the tests of services and pages."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.chatbot.answers import Answer
from relevansi.db.tables.people import Rater
from relevansi.db.tables.phase_3 import Participant, ParticipantLink
from relevansi.db.tables.study import Study
from relevansi.services.phase_3 import own_questions, participants, user_studies
from relevansi.services.phase_3.asking import QuestionCall, QuestionWork
from relevansi.services.phase_3.participants import ParticipantCookie
from relevansi.services.phase_3.user_studies import UserStudySettings
from tests.conftest import NOW

SETTINGS = UserStudySettings(
    is_open=True, endpoint="http://127.0.0.1:9", search_method="hybrid", llm="demo", pause_seconds=0
)
SECOND = timedelta(seconds=1)
WORK = QuestionWork()

TWO_CARDS = """Ada dua:

1. **Rumah Cemara**
   📍 Cemara, Medan
   💰 Rp 900.000.000
   🔗 [Lihat Detail](https://example.org/properti/rumah-cemara)
2. **Rumah Johor**
   📍 Johor, Medan
   💰 Rp 1.100.000.000
   🔗 [Lihat Detail](https://example.org/properti/rumah-johor)
"""


def opened(session: Session, study: Study, settings: UserStudySettings = SETTINGS) -> None:
    """Open phase 3 of a study."""
    user_studies.set_settings(session, study, settings, NOW)


def taking_part(session: Session, study: Study, pseudonym: str = "Melati") -> Participant:
    """Return somebody who came by everybody's link and agreed."""
    if user_studies.find(session, study) is None:
        opened(session, study)
    link = participants.make_link(session, study, NOW)
    return agreed(session, participants.accept(session, study, link.token, NOW), pseudonym)


def came_in(
    session: Session, link: ParticipantLink, pseudonym: str = "Melati", token: str = ""
) -> ParticipantCookie:
    """Return the session cookie of somebody who agreed by a link."""
    study = session.get_one(Study, link.study_id)
    text = user_studies.consent(session, study)["en"]
    token = token or participants.new_token()
    return participants.agree(session, link, text, pseudonym, token, NOW)


def agreed(
    session: Session, link: ParticipantLink, pseudonym: str = "Melati", token: str = ""
) -> Participant:
    """Return the participant who agreed by a link."""
    study = session.get_one(Study, link.study_id)
    carried = came_in(session, link, pseudonym, token)
    result = participants.recognise(session, study, carried, NOW)
    assert result is not None
    return result


def ask_question(
    session: Session,
    participant: Participant,
    text: str = "Rumah di Cemara?",
    response: str = TWO_CARDS,
    *,
    now: datetime = NOW,
    new_conversation: bool = False,
) -> int:
    """Return the position of a question that a participant asked and got an answer to."""
    position = own_questions.ask(session, participant, text, now, new_conversation=new_conversation)
    WORK.store(session, claimed(session, now), Answer(response), now + SECOND)
    return position


def claimed(session: Session, now: datetime = NOW) -> QuestionCall:
    """Return the question that is next, now on its way."""
    call = WORK.claim(session, now)
    assert isinstance(call, QuestionCall)
    return call


def place(participant: Participant) -> tuple[Rater, str]:
    """Return a participant's rater and run."""
    assert participant.rater is not None
    assert participant.run_id is not None
    return participant.rater, participant.run_id


def only(session: Session, table: type) -> list:  # type: ignore[type-arg]
    """Return every row of a table."""
    return list(session.scalars(select(table)))
