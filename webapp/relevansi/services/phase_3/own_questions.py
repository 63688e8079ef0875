"""A participant's own questions: asked, asked again, given up, done with, and listed.

They are stored here and wait; ``asking`` puts them to the chatbot.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from enum import StrEnum
from math import ceil

from msgspec import Struct
from sqlalchemy import func, select
from sqlalchemy.orm import Session, contains_eager

from relevansi import failures
from relevansi.chatbot.client import public_address
from relevansi.db.tables.judging import StoredSummary
from relevansi.db.tables.people import Rater
from relevansi.db.tables.phase_3 import OwnQuestion, Participant, UserStudy
from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Question, QuestionSet
from relevansi.exporters.exports.run_folders import STAMP
from relevansi.failures import Busy, Conflict, Missing, Refused
from relevansi.i18n import mark, ngettext
from relevansi.importers.runs.json_runs import question_key
from relevansi.records import QueryState, ReadQuery
from relevansi.services.judging import events, stored_summaries
from relevansi.services.phase_3.participants import PhaseClosed
from relevansi.services.runs import stored_runs
from relevansi.services.workers import loop


class QuestionState(StrEnum):
    """The state of a question; ``INTERRUPTED`` is never stored."""

    WAITING = "waiting"
    ASKING = "asking"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    ANSWERED = "answered"
    GIVEN_UP = "given up"


WAITING = OwnQuestion.state == str(QuestionState.WAITING)


def state_of(question: OwnQuestion, now: datetime) -> QuestionState:
    """Return the state of a question; interrupted when its caller died."""
    if loop.is_abandoned(question, now):
        return QuestionState.INTERRUPTED
    return QuestionState(question.state)


def rater(participant: Participant) -> Rater:
    """Return the rater of a participant who agreed: only these have one."""
    assert participant.rater is not None
    return participant.rater


def store_entry(session: Session, row: OwnQuestion, entry: ReadQuery) -> None:
    """Add an answer to the participant's run, where it is judged as any other."""
    participant = row.participant
    assert participant.run is not None
    stored_runs.add_answers(session, {participant.run.id: [(row.question, entry)]})
    of_run = Query.run_id == participant.run.id, Query.query_id == entry.query_id
    row.query_key = session.scalars(select(Query.id).where(*of_run)).one()
    stored_summaries.refresh(session, [rater(participant).id], Query.id == row.query_key)


LONGEST = 2000
"""The most characters of a question, by the chatbots' contract."""
TRIES_PER_QUESTION = 3
"""A participant's tries, as a multiple of the questions they may ask."""


class UnfitQuestion(Refused):
    message = mark("A question has 1 to %(most)s characters")
    remedy = mark("Please change it and send it again.")
    status = 422


class QuestionStillOpen(Conflict):
    message = mark("You have not finished your other question yet")
    remedy = mark("This one waits here.")


class TooSoon(Busy):
    """The chatbot is to be spared for a while; the argument is how many seconds."""

    message = mark("You asked only just now")
    status = 429

    remedy = mark("Please wait a little, then send it again.")

    def advice(self) -> str:
        return ngettext(
            "Please wait %(n)s second, then send it again.",
            "Please wait %(n)s seconds, then send it again.",
            self.args[0],
        )


class NoQuestionLeft(Conflict):
    message = mark("You have asked all the questions that one participant can ask")
    remedy = mark("Their answers stay here to be rated.")


class TriedTooOften(Conflict):
    message = mark("It was tried too often")
    remedy = mark("Please leave this question and ask another.")
    status = 429


NOT_ASKED = (UnfitQuestion, QuestionStillOpen, TooSoon, NoQuestionLeft, TriedTooOften)
"""Why a question is not put to the chatbot, shown on the page where it was typed."""


class UnknownQuestion(Missing):
    message = mark("You asked no such question")
    remedy = failures.RELOAD


class OwnQuestionLine(Struct, frozen=True):
    """One question as it is now; ``before`` counts the questions of all that are asked first."""

    row: OwnQuestion
    question: Question
    state: QuestionState
    answer_state: QueryState | None
    open_judgments: int
    quality: float | None
    before: int = 0

    @property
    def is_open(self) -> bool:
        return self.row.closed_at is None

    @property
    def is_unrated(self) -> bool:
        """Whether the answer asks for a quality, as every readable one does, and has none."""
        return self._can_be_rated and self.quality is None

    @property
    def is_rated(self) -> bool:
        return self._can_be_rated and not self.open_judgments and self.quality is not None

    @property
    def _can_be_rated(self) -> bool:
        return (
            self.state is QuestionState.ANSWERED and self.answer_state is not QueryState.UNREADABLE
        )


def ask(
    session: Session,
    participant: Participant,
    text: str,
    now: datetime,
    *,
    new_conversation: bool = False,
) -> int:
    """Return the position (from 1) of a new question, which now waits to be asked.

    Questions are put to the chatbot in the order in which they came. A question whose answer is
    rated in full is done with; the text of one that is open once more is that question. Raises
    ``UnfitQuestion``, ``QuestionStillOpen``, ``TooSoon``, ``NoQuestionLeft`` and
    ``PhaseClosed``.
    """
    text = text.strip()
    if not 1 <= len(text) <= LONGEST:
        raise UnfitQuestion(most=LONGEST)
    phase = _begin(session, participant)
    for line in lines(session, participant, now):
        if line.is_open and line.is_rated:
            close(session, participant, line.question.position, now)
    history = questions_of(session, participant)
    for earlier in history:
        if earlier.closed_at is None:
            if earlier.question.text == text:
                return earlier.question.position
            raise QuestionStillOpen(earlier.question.position)
    if _questions_left(phase, history) <= 0:
        raise NoQuestionLeft
    _enforce_pause(phase, history, now)
    is_first = new_conversation or not history
    conversation = history[-1].conversation + new_conversation if history else 1
    session_id = f"relevansi_{secrets.token_hex(8)}" if is_first else history[-1].session_id
    own_sets = select(QuestionSet).where(QuestionSet.study_id == rater(participant).study_id)
    question_set = session.scalars(own_sets).one()
    begun = [row.conversation for row in history if row.state == QuestionState.ANSWERED]
    question = Question(
        question_set_id=question_set.id,
        position=len(history) + 1,
        text=text,
        key=question_key(text),
        category="",
        context_dependent=conversation in begun,
    )
    row = OwnQuestion(conversation=conversation, session_id=session_id, attempt=0, put_at=now)
    row.participant, row.question, row.state = participant, question, str(QuestionState.WAITING)
    session.add_all((question, row))
    if participant.run_id is None:
        participant.run = _new_run(phase, question_set, now)
    session.flush()
    return question.position


def ask_again(session: Session, participant: Participant, position: int, now: datetime) -> None:
    """Let a question that failed or was interrupted wait to be asked once more.

    One that is waiting, being asked or answered stays as it is. Raises ``UnknownQuestion``,
    ``TooSoon``, ``TriedTooOften`` and ``PhaseClosed``.
    """
    phase = _begin(session, participant)
    row = _find(session, participant, position)
    if state_of(row, now) not in {QuestionState.FAILED, QuestionState.INTERRUPTED}:
        return
    history = questions_of(session, participant)
    if sum(earlier.attempt for earlier in history) >= TRIES_PER_QUESTION * phase.most_questions:
        raise TriedTooOften
    _enforce_pause(phase, history, now)
    row.state, row.put_at = str(QuestionState.WAITING), now
    row.alive_until = row.error = row.error_code = row.excerpt = None


def give_up(session: Session, participant: Participant, position: int, now: datetime) -> None:
    """Close a question that failed or was interrupted: it counts as a failed call."""
    events.lock(session, rater(participant))
    row = _find(session, participant, position)
    if row.state == QuestionState.GIVEN_UP:
        return
    if state_of(row, now) not in {QuestionState.FAILED, QuestionState.INTERRUPTED}:
        raise UnknownQuestion(position)
    entry = ReadQuery(
        *(position, row.question.text, row.question.category, "", QueryState.FAILED),
        error=row.error or str(QuestionState.INTERRUPTED),
        extra={"error_code": row.error_code, "answer_excerpt": row.excerpt},
    )
    store_entry(session, row, entry)
    row.state, row.closed_at = str(QuestionState.GIVEN_UP), now


def close(session: Session, participant: Participant, position: int, now: datetime) -> None:
    """Close an answered question, rated in full or not; raises ``UnknownQuestion``."""
    events.lock(session, rater(participant))
    row = _find(session, participant, position)
    if row.state == QuestionState.GIVEN_UP:
        return
    if row.state != QuestionState.ANSWERED:
        raise UnknownQuestion(position)
    row.closed_at = row.closed_at or now


def lines(session: Session, participant: Participant, now: datetime) -> tuple[OwnQuestionLine, ...]:
    """Return a participant's questions in the order in which they were asked."""
    rows = session.execute(
        select(OwnQuestion, Question, Query.state, StoredSummary)
        .join(Question, Question.id == OwnQuestion.question_id)
        .outerjoin(Query, Query.id == OwnQuestion.query_key)
        .outerjoin(StoredSummary, StoredSummary.query_key == Query.id)
        .where(OwnQuestion.participant_id == participant.id)
        .order_by(Question.position)
    )
    is_on_its_way = loop.is_leased(OwnQuestion, now)
    listed = []
    for row, question, answer, summary in rows:
        state, answer_state = state_of(row, now), QueryState(answer) if answer else None
        open_parts = (summary.open_judgments, summary.quality) if summary else (0, None)
        before = 0
        if row.state == QuestionState.WAITING:
            earlier = is_on_its_way | (WAITING & (OwnQuestion.put_at < row.put_at))
            before = session.scalars(select(func.count(OwnQuestion.id)).where(earlier)).one()
        listed.append(OwnQuestionLine(row, question, state, answer_state, *open_parts, before))
    return tuple(listed)


def allowance(session: Session, participant: Participant) -> int | None:
    """Return how many more questions a participant may ask; ``None`` while phase 3 is closed."""
    phase = session.get(UserStudy, participant.study_id)
    if phase is None or not phase.is_open:
        return None
    return max(0, _questions_left(phase, questions_of(session, participant)))


def _begin(session: Session, participant: Participant) -> UserStudy:
    """Return phase 3 while it is open; whoever changes this participant's questions waits."""
    events.lock(session, rater(participant))
    phase = session.get(UserStudy, participant.study_id)
    if phase is None or not phase.is_open:
        raise PhaseClosed
    return phase


def questions_of(session: Session, participant: Participant) -> list[OwnQuestion]:
    """Return all questions of a participant, the first asked first."""
    rows = select(OwnQuestion).join(OwnQuestion.question).order_by(Question.position)
    of_participant = rows.where(OwnQuestion.participant_id == participant.id)
    return list(session.scalars(of_participant.options(contains_eager(OwnQuestion.question))))


def _find(session: Session, participant: Participant, position: int) -> OwnQuestion:
    for row in questions_of(session, participant):
        if row.question.position == position:
            return row
    raise UnknownQuestion(position)


def _questions_left(phase: UserStudy, history: list[OwnQuestion]) -> int:
    """Return how many more may be asked: by their number, and by the calls that were made."""
    n_used = sum(row.state != QuestionState.GIVEN_UP for row in history)
    calls = TRIES_PER_QUESTION * phase.most_questions - sum(row.attempt for row in history)
    return min(phase.most_questions - n_used, calls)


def _enforce_pause(phase: UserStudy, history: list[OwnQuestion], now: datetime) -> None:
    """Raise ``TooSoon`` with the seconds left, rounded up, of the pause between two questions."""
    if not history:
        return
    pause = max(row.put_at for row in history) + timedelta(seconds=phase.pause_seconds) - now
    if pause > timedelta(0):
        raise TooSoon(ceil(pause.total_seconds()))


def _new_run(phase: UserStudy, question_set: QuestionSet, now: datetime) -> Run:
    return Run(
        id=secrets.token_hex(6),
        study_id=question_set.study_id,
        question_set=question_set,
        search_method=phase.search_method or None,
        llm=phase.llm or None,
        timestamp=now.strftime(STAMP),
        session_key=secrets.token_hex(32),
        extra={"endpoint": public_address(phase.endpoint)},
        imported_at=now,
    )
