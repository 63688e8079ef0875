"""Participants' questions put to the chatbot, and its answers kept with their cards.

A question is stored before the chatbot is asked, so typed text is never lost. One whose caller
died is known by its lease (see ``workers.leases``), and can be asked again.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.chatbot.answers import Answer, Message, answered
from webapp.chatbot.client import public_address
from webapp.chatbot.failures import CallFailed
from webapp.chatbot.mappings import MissingKey
from webapp.db.tables.people import Rater
from webapp.db.tables.phase_3 import OwnQuestion, Participant
from webapp.db.tables.runs import Query
from webapp.db.tables.study import Question
from webapp.exporters.exports.collected_runs import run_file
from webapp.i18n import gettext
from webapp.importers.runs import json_runs
from webapp.importers.runs.problems import ImportRefused
from webapp.records import CollectedAnswer, CollectedRun, ReadQuery
from webapp.services.judging import events, live_metrics
from webapp.services.judging.judged_things import Pool
from webapp.services.phase_3 import turns, user_studies
from webapp.services.phase_3.turns import State
from webapp.services.phase_3.user_studies import UnfitChatbot, UserStudySettings
from webapp.services.runs import imports
from webapp.services.workers import leases
from webapp.services.workers.leases import Lease
from webapp.services.workers.loop import Nothing, OutsideWork

TEST_SECONDS = 30
NOT_SET_UP, UNREADABLE, UNEXPECTED = "not_set_up", "unreadable", "unexpected"


class QuestionCall(Struct, frozen=True):
    """A question on its way: its lease, the request and the chatbot."""

    lease: Lease
    asked: Message
    settings: UserStudySettings


class Failed(Struct, frozen=True):
    """Why a call gave no answer: its kind, in words, and how the unusable answer began."""

    code: str
    error: str
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class QuestionWork(OutsideWork[QuestionCall, Answer | Failed]):
    """The work of asking the chatbot the questions that wait, of any participant."""

    def claim(self, session: Session, now: datetime) -> QuestionCall | Nothing:
        """Return the question that is next, now being asked; else why there is none.

        Never more are asked at once than the study allows: the next one is then claimed by a
        thread that has its answer.
        """
        waiting = turns.next_waiting(session)
        if waiting is None:
            return Nothing.MORE
        phase = user_studies.lock(session, waiting.participant.study)
        # Between the read and the lock another caller may have taken it.
        waiting = turns.next_waiting(session)
        if waiting is None or turns.on_their_way(session, phase, now) >= phase.at_once:
            return Nothing.MORE
        lease = leases.take(session, waiting, now)
        assert lease is not None  # it waited, and only who has the lock takes one
        settings = user_studies.settings(phase)
        return QuestionCall(lease, _message(session, waiting, settings), settings)

    def ask(self, call: QuestionCall) -> Answer | Failed:
        """Return the chatbot's answer, or why there is none."""
        return _answer(call.settings, call.asked)

    def keep(
        self, session: Session, call: QuestionCall, outcome: Answer | Failed, now: datetime
    ) -> None:
        """Keep an answer with its cards, or why there is none, if it is still waited for.

        An answer that cannot be kept makes the question a failed one.
        """
        own = session.get(OwnQuestion, call.lease.key)
        if own is None:
            return
        events.lock(session, rater(own.participant))
        own = leases.own(session, OwnQuestion, call.lease)
        if own is None:
            return
        if isinstance(outcome, Answer):
            try:
                entry = _read(own.question, call.settings, call.asked, outcome)
            except ImportRefused as refused:
                outcome = Failed(UNREADABLE, str(refused), outcome.text)
        own.origin = None
        if isinstance(outcome, Failed):
            leases.give_back(own, State.FAILED)
            own.error, own.error_code = outcome.error, outcome.code
            own.excerpt = outcome.excerpt or None
            return
        leases.give_back(own, State.ANSWERED)
        own.answered_at = now
        if outcome.session_id and user_studies.assigns_sessions(call.settings):
            own.session_id = outcome.session_id
        keep_entry(session, own, entry)

    def unforeseen(self, error: Exception) -> Failed:
        """Return the failure of a call that ended with an error of ours."""
        return Failed(UNEXPECTED, type(error).__name__)


def ask_for_a_test(settings: UserStudySettings, text: str) -> ReadQuery | Failed:
    """Return the chatbot's answer to the owner's test question, with its cards; nothing is stored.

    It is asked once, for as long as a page can wait.
    """
    once = replace(settings, tries=1, answer_seconds=min(settings.answer_seconds, TEST_SECONDS))
    asked = Message(
        message=text,
        session_id="" if user_studies.assigns_sessions(once) else f"test_{secrets.token_hex(8)}",
        user_id="test",
        method=once.search_method,
    )
    answer = _answer(once, asked)
    if isinstance(answer, Failed):
        return answer
    question = Question(position=1, text=text, category="", context_dependent=False)
    try:
        return _read(question, once, asked, answer)
    except ImportRefused as refused:
        return Failed(UNREADABLE, str(refused), answer.text)


def _answer(settings: UserStudySettings, asked: Message) -> Answer | Failed:
    try:
        return user_studies.chatbot(settings).ask(asked)
    except CallFailed as failure:
        return Failed(failure.code, str(failure), failure.excerpt)
    except UnfitChatbot as unfit:
        return Failed(NOT_SET_UP, gettext(unfit.why))
    except MissingKey as missing:
        return Failed(NOT_SET_UP, str(missing))


def rater(participant: Participant) -> Rater:
    """Return the rater of a participant who has agreed."""
    assert participant.rater is not None
    return participant.rater


def _read(
    question: Question, settings: UserStudySettings, asked: Message, answer: Answer
) -> ReadQuery:
    """Return an answer with its cards, read as ``relevansi collect`` has its file read.

    Raises an ``ImportRefused`` for an answer that no file could hold.
    """
    kept = CollectedAnswer(
        query_id=question.position,
        question=question.text,
        category=question.category,
        context_dependent=question.context_dependent,
    )
    run = CollectedRun(
        timestamp="",
        thread_id=asked.session_id,
        user_id=asked.user_id,
        search_method=asked.method,
        llm=settings.llm,
        endpoint=public_address(settings.endpoint),
        total_questions=1,
        answers=(answered(kept, answer),),
    )
    (entry,) = json_runs.read("answer", run_file(run)).queries
    return entry


def keep_entry(session: Session, own: OwnQuestion, entry: ReadQuery) -> None:
    """Store the chatbot's answer to a question as a query of the participant's run."""
    participant = own.participant
    assert participant.run is not None
    query = imports.to_query(participant.run, own.question, entry)
    query.run = participant.run
    session.add(query)
    session.flush()
    pool = Pool(session, participant.run.question_set, entry.cards)
    imports.fill(session, pool, [(query, entry)])
    session.flush()
    own.query_key = query.id
    live_metrics.refresh(session, [rater(participant).id], Query.id == query.id)


def _message(session: Session, own: OwnQuestion, settings: UserStudySettings) -> Message:
    """Return the request, with the answered turns of its conversation."""
    answered = session.execute(
        select(Question.text, Query.response)
        .join_from(OwnQuestion, Question, Question.id == OwnQuestion.question_id)
        .join(Query, Query.id == OwnQuestion.query_key)
        .where(
            OwnQuestion.participant_id == own.participant_id,
            OwnQuestion.conversation == own.conversation,
            OwnQuestion.state == str(State.ANSWERED),
        )
        .order_by(Question.position)
    )
    earlier = tuple((question, response) for question, response in answered)
    is_theirs = not earlier and user_studies.assigns_sessions(settings)
    return Message(
        message=own.question.text,
        session_id="" if is_theirs else own.session_id,
        user_id=own.participant.run_id or "",
        method=settings.search_method,
        earlier=earlier,
    )
