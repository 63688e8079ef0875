"""The questions that wait, put to the chatbot in the background, and the owner's test question."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.chatbot.answers import Answer, Message, with_answer
from relevansi.chatbot.failures import CallFailed
from relevansi.chatbot.mappings import MissingKey
from relevansi.db.tables.phase_3 import OwnQuestion, Participant, UserStudy
from relevansi.db.tables.study import Question
from relevansi.exporters.exports.run_folders import collected_run_file
from relevansi.i18n import gettext
from relevansi.importers.runs import json_runs
from relevansi.importers.runs.problems import ImportRefused
from relevansi.records import CollectedAnswer, CollectedRun, ReadQuery
from relevansi.services.judging import events
from relevansi.services.phase_3 import own_questions, user_studies
from relevansi.services.phase_3.own_questions import WAITING, QuestionState, rater
from relevansi.services.phase_3.user_studies import UnfitChatbot, UserStudySettings
from relevansi.services.workers import loop
from relevansi.services.workers.loop import Idle, Lease, OutsideWork


def next_waiting(session: Session) -> OwnQuestion | None:
    """Return the question that has waited longest, of any participant."""
    return session.scalar(
        select(OwnQuestion)
        .where(WAITING)
        .order_by(OwnQuestion.put_at, OwnQuestion.id)
        .limit(1)
        .execution_options(populate_existing=True)
    )


def calls_at_once(session: Session) -> int:
    """Return how many calls may be made at the same time; none while no question waits."""
    waiting = next_waiting(session)
    phase = session.get(UserStudy, waiting.participant.study_id) if waiting else None
    return phase.at_once if phase else 0


TEST_SECONDS = 30
"""The longest that the owner waits for the answer to a test question."""
NOT_SET_UP, UNREADABLE, UNEXPECTED = "not_set_up", "unreadable", "unexpected"


class QuestionCall(Struct, frozen=True):
    """A question on its way: its lease, the request and the chatbot."""

    lease: Lease
    message: Message
    settings: UserStudySettings


class FailedCall(Struct, frozen=True):
    """Why a call gave no answer: its kind, in words, and how the unusable answer began."""

    code: str
    error: str
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class QuestionWork(OutsideWork[QuestionCall, Answer | FailedCall]):
    """The work of asking the chatbot the questions that wait, of any participant."""

    def claim(self, session: Session, now: datetime) -> QuestionCall | Idle:
        """Return the question that is next, now being asked; else why there is none.

        Never more are asked at once than the study allows: the next one is then claimed by a
        thread that has its answer.
        """
        waiting = next_waiting(session)
        if waiting is None:
            return Idle.DONE
        phase = user_studies.lock(session, waiting.participant.study)
        # Between the read and the lock another worker may have taken it.
        waiting = next_waiting(session)
        of_study = Participant.study_id == phase.study_id, loop.is_leased(OwnQuestion, now)
        on_their_way = select(func.count()).join_from(OwnQuestion, Participant).where(*of_study)
        if waiting is None or (session.scalar(on_their_way) or 0) >= phase.at_once:
            return Idle.DONE
        lease = loop.take(session, waiting, now)
        assert lease is not None  # it waited, and only who has the lock takes one
        settings = user_studies.settings(phase)
        return QuestionCall(lease, _message(session, waiting, settings), settings)

    def ask(self, call: QuestionCall) -> Answer | FailedCall:
        return _answer(call.settings, call.message)

    def store(
        self, session: Session, call: QuestionCall, outcome: Answer | FailedCall, now: datetime
    ) -> None:
        """Store an answer with its cards, or why there is none, if the lease is still good."""
        row = session.get(OwnQuestion, call.lease.key)
        if row is None:
            return
        # First the rater, then the question, as clicks lock them: no deadlock.
        events.lock(session, rater(row.participant))
        row = loop.lock_row(session, OwnQuestion, call.lease)
        if row is None:
            return
        entry = _read(row.question, outcome) if isinstance(outcome, Answer) else outcome
        if isinstance(entry, FailedCall):
            loop.give_back(row, QuestionState.FAILED)
            row.error, row.error_code, row.excerpt = entry.error, entry.code, entry.excerpt or None
            return
        loop.give_back(row, QuestionState.ANSWERED)
        row.answered_at = now
        session_id = outcome.session_id if isinstance(outcome, Answer) else None
        if session_id and user_studies.assigns_sessions(call.settings):
            row.session_id = session_id
        own_questions.store_entry(session, row, entry)

    def unforeseen(self, error: Exception) -> FailedCall:
        return FailedCall(UNEXPECTED, type(error).__name__)


def try_chatbot(settings: UserStudySettings, text: str) -> ReadQuery | FailedCall:
    """Return the chatbot's answer to the owner's test question, asked once; nothing is stored."""
    once = replace(settings, tries=1, answer_seconds=min(settings.answer_seconds, TEST_SECONDS))
    session_id = "" if user_studies.assigns_sessions(once) else f"test_{secrets.token_hex(8)}"
    message = Message(text, session_id, "test", once.search_method)
    answer = _answer(once, message)
    if isinstance(answer, FailedCall):
        return answer
    question = Question(position=1, text=text, category="", context_dependent=False)
    return _read(question, answer)


def _answer(settings: UserStudySettings, message: Message) -> Answer | FailedCall:
    try:
        return user_studies.chatbot(settings).ask(message)
    except CallFailed as failure:
        return FailedCall(failure.code, str(failure), failure.excerpt)
    except UnfitChatbot as unfit:
        return FailedCall(NOT_SET_UP, gettext(unfit.why))
    except MissingKey as missing:
        return FailedCall(NOT_SET_UP, str(missing))


def _read(question: Question, answer: Answer) -> ReadQuery | FailedCall:
    """Return an answer with its cards, read as ``relevansi collect`` has its file read."""
    about = question.position, question.text, question.category
    unanswered = CollectedAnswer(*about, context_dependent=question.context_dependent)
    head = ("timestamp", "thread_id", "user_id", "search_method", "llm", "endpoint")
    answers = (with_answer(unanswered, answer),)
    run = CollectedRun(**dict.fromkeys(head, ""), total_questions=1, answers=answers)
    try:
        (entry,) = json_runs.read("answer", collected_run_file(run)).queries
    except ImportRefused as refused:
        return FailedCall(UNREADABLE, str(refused), answer.text)
    return entry


def _message(session: Session, row: OwnQuestion, settings: UserStudySettings) -> Message:
    earlier = tuple(
        (turn.question.text, turn.query.response)
        for turn in own_questions.questions_of(session, row.participant)
        if turn.query
        and (turn.conversation, turn.state) == (row.conversation, QuestionState.ANSWERED)
    )
    chatbot_names_session = not earlier and user_studies.assigns_sessions(settings)
    session_id = "" if chatbot_names_session else row.session_id
    user_id = row.participant.run_id or ""
    return Message(row.question.text, session_id, user_id, settings.search_method, earlier)
