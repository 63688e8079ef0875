"""A participant's own questions: asked once, on their way to the chatbot, answered or not.

A question is stored before the chatbot is asked, so typed text is never lost. The caller that
puts it to the chatbot (see web.phase_3.asking) takes it with ``claim``, keeps it alive with
``keep_alive`` and ends with ``answered`` or ``failed``; no transaction is open meanwhile. A
question whose caller died is known by its time, and can be asked again.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import ColumnElement, func, or_, select, update
from sqlalchemy.orm import Session

from webapp import failures
from webapp.chatbot.answers import Answer, Message, results_count
from webapp.chatbot.client import public_address
from webapp.db.tables.judging import StoredSummary
from webapp.db.tables.people import Rater
from webapp.db.tables.phase_3 import OwnQuestion, Participant, UserStudy
from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Question, QuestionSet
from webapp.exporters.exports.collected_runs import STAMP, run_file
from webapp.failures import Missing
from webapp.i18n import mark
from webapp.importers.runs import json_runs
from webapp.importers.runs.json_runs import question_key
from webapp.records import CollectedAnswer, CollectedRun, QueryState, ReadQuery
from webapp.services.judging import events, live_metrics
from webapp.services.judging.judged_things import Pool
from webapp.services.phase_3 import user_studies
from webapp.services.phase_3.participants import PhaseClosed
from webapp.services.phase_3.user_studies import UserStudySettings
from webapp.services.runs import imports

LONGEST = 2000
"""The most characters of a question, by the chatbots' contract."""
ALIVE = timedelta(seconds=30)
"""A call of which nothing was heard for so long has died with its caller."""
TRIES_PER_QUESTION = 3
"""A participant's tries, as a multiple of the questions they may ask."""
RUN_ID_BYTES = 6


class State(StrEnum):
    """The state of a question; ``INTERRUPTED`` is never stored."""

    WAITING = "waiting"
    ASKING = "asking"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    ANSWERED = "answered"
    GIVEN_UP = "given up"


class UnfitQuestion(ValueError):
    """A question has 1 to 2000 characters."""


class QuestionStillOpen(Exception):
    """The participant has a question that they are not done with; it is at that position."""

    def __init__(self, position: int) -> None:
        super().__init__(str(position))
        self.position = position


class TooSoon(Exception):
    """The chatbot is to be spared for ``seconds`` more."""

    def __init__(self, seconds: int) -> None:
        super().__init__(str(seconds))
        self.seconds = seconds


class NoQuestionLeft(Exception):
    """The participant has asked as many questions as there are to ask."""


class UnknownQuestion(Missing):
    """The participant asked no such question, or it is not in that state."""

    message = mark("You asked no such question")
    remedy = failures.RELOAD


@dataclass(frozen=True, slots=True)
class OwnQuestionLine:
    """One question as it is now; ``open_judgments`` and ``quality`` are of its rating.

    ``before`` counts the questions of all participants that are asked first.
    """

    position: int
    text: str
    category: str
    conversation: int
    context_dependent: bool
    state: State
    is_open: bool
    error_code: str | None
    answer_state: QueryState | None
    open_judgments: int
    quality: float | None
    put_at: datetime
    answered_at: datetime | None
    before: int = 0

    @property
    def is_unrated(self) -> bool:
        """Whether the answer asks for a quality, as every readable one does, and has none."""
        asks = self.state is State.ANSWERED and self.answer_state is not QueryState.UNREADABLE
        return asks and self.quality is None


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many questions are ``left`` of the ``most`` that each participant may ask."""

    left: int = 0
    most: int = 0
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class QuestionCall:
    """A question on its way: the request, the chatbot, and the number of the attempt."""

    id: int
    attempt: int
    asked: Message
    settings: UserStudySettings
    assigns_sessions: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a call gave no answer: its kind, in words, and how the unusable answer began."""

    code: str
    error: str
    excerpt: str = ""


def ask(
    session: Session,
    participant: Participant,
    text: str,
    now: datetime,
    *,
    new_conversation: bool = False,
    origin: str = "",
) -> int:
    """Return the position (from 1) of a new question, which now waits to be asked.

    Questions of one `origin` (an unreadable form of the address; else the participant) take
    turns with those of other origins. The text of the open question once more is that
    question. Raises ``UnfitQuestion``, ``QuestionStillOpen``, ``TooSoon``,
    ``NoQuestionLeft`` and ``PhaseClosed``.
    """
    text = text.strip()
    if not 1 <= len(text) <= LONGEST:
        raise UnfitQuestion
    phase = _begin(session, participant)
    asked = _asked(session, participant)
    for known in asked:
        if known.closed_at is None:
            if known.question.text == text:
                return known.question.position
            raise QuestionStillOpen(known.question.position)
    if _left(phase, asked) <= 0:
        raise NoQuestionLeft
    _spare(phase, asked, now)
    conversation, session_id = _conversation(asked, new_conversation)
    question = _question(session, participant, asked, text, conversation)
    session.add(
        OwnQuestion(
            participant=participant,
            question=question,
            conversation=conversation,
            session_id=session_id,
            state=str(State.WAITING),
            origin=_origin(participant, origin),
            turn=_turn(session, _origin(participant, origin), now),
            put_at=now,
        )
    )
    _need_run(session, participant, phase, now)
    session.flush()
    return question.position


def ask_again(
    session: Session, participant: Participant, position: int, now: datetime, *, origin: str = ""
) -> None:
    """Let a question that failed or was interrupted wait to be asked once more.

    One that is waiting, being asked or answered stays as it is. Raises ``UnknownQuestion``,
    ``TooSoon``, ``NoQuestionLeft`` and ``PhaseClosed``.
    """
    phase = _begin(session, participant)
    found = _find(session, participant, position)
    if _state(found, now) not in {State.FAILED, State.INTERRUPTED}:
        return
    asked = _asked(session, participant)
    if sum(known.attempt for known in asked) >= TRIES_PER_QUESTION * phase.most_questions:
        raise NoQuestionLeft
    _spare(phase, asked, now)
    found.turn = _turn(session, _origin(participant, origin), now)
    found.origin = _origin(participant, origin)
    found.state, found.put_at = str(State.WAITING), now
    found.attempt += 1
    found.alive_until = found.error = found.error_code = found.excerpt = None


def give_up(session: Session, participant: Participant, position: int, now: datetime) -> None:
    """Close a question that failed or was interrupted: it counts as a failed call.

    It takes none of the questions the participant may ask. Raises ``UnknownQuestion``.
    """
    events.lock(session, _rater(participant))
    found = _find(session, participant, position)
    if found.state == State.GIVEN_UP:
        return
    if _state(found, now) not in {State.FAILED, State.INTERRUPTED}:
        raise UnknownQuestion(position)
    entry = ReadQuery(
        query_id=position,
        question=found.question.text,
        category=found.question.category,
        response="",
        state=QueryState.FAILED,
        error=found.error or str(State.INTERRUPTED),
        extra={"error_code": found.error_code, "answer_excerpt": found.excerpt},
    )
    _keep(session, found, entry)
    found.state, found.closed_at, found.origin = str(State.GIVEN_UP), now, None


def done(session: Session, participant: Participant, position: int, now: datetime) -> None:
    """Close an answered question, rated in full or not; raises ``UnknownQuestion``."""
    events.lock(session, _rater(participant))
    found = _find(session, participant, position)
    if found.state == State.GIVEN_UP:
        return
    if found.state != State.ANSWERED:
        raise UnknownQuestion(position)
    found.closed_at = found.closed_at or now


def lines(session: Session, participant: Participant, now: datetime) -> tuple[OwnQuestionLine, ...]:
    """Return a participant's questions in the order they were asked."""
    rows = session.execute(
        select(OwnQuestion, Question, Query.state, StoredSummary)
        .join(Question, Question.id == OwnQuestion.question_id)
        .outerjoin(Query, Query.id == OwnQuestion.query_key)
        .outerjoin(StoredSummary, StoredSummary.query_key == Query.id)
        .where(OwnQuestion.participant_id == participant.id)
        .order_by(Question.position)
    )
    return tuple(
        OwnQuestionLine(
            position=question.position,
            text=question.text,
            category=question.category,
            conversation=own.conversation,
            context_dependent=question.context_dependent,
            state=_state(own, now),
            is_open=own.closed_at is None,
            error_code=own.error_code,
            answer_state=QueryState(answer) if answer else None,
            open_judgments=summary.open_judgments if summary else 0,
            quality=summary.quality if summary else None,
            put_at=own.put_at,
            answered_at=own.answered_at,
            before=_before(session, own, now) if own.state == State.WAITING else 0,
        )
        for own, question, answer, summary in rows
    )


def allowance(session: Session, participant: Participant) -> Allowance:
    """Return how many more questions a participant may ask; none while phase 3 is closed."""
    phase = session.get(UserStudy, participant.study_id)
    if phase is None or not phase.is_open:
        return Allowance()
    left = max(0, _left(phase, _asked(session, participant)))
    return Allowance(left, phase.most_questions, is_open=True)


def is_any_waiting(session: Session) -> bool:
    """Whether any participant's question waits to be asked."""
    found = select(OwnQuestion.id).where(OwnQuestion.state == State.WAITING)
    return session.scalar(found.limit(1)) is not None


def claim(session: Session, now: datetime) -> QuestionCall | None:
    """Return the question that is next, now being asked; ``None`` if none is or none may be.

    Never more are asked at once than the study allows. Raises nothing: the caller reports a
    chatbot that cannot be asked.
    """
    waiting = _next(session)
    if waiting is None:
        return None
    phase = user_studies.lock(session, waiting.participant.study)
    # Between the read and the lock another caller may have taken it.
    waiting = _next(session)
    if waiting is None or _on_their_way(session, phase, now) >= phase.at_once:
        return None
    waiting.state, waiting.alive_until = str(State.ASKING), now + ALIVE
    session.flush()
    settings = user_studies.settings(phase)
    theirs = user_studies.assigns_sessions(settings)
    return QuestionCall(
        id=waiting.id,
        attempt=waiting.attempt,
        asked=_message(session, waiting, settings, theirs),
        settings=settings,
        assigns_sessions=theirs,
    )


def keep_alive(session: Session, ids: Collection[int], now: datetime) -> None:
    """Note that these questions are still being asked."""
    being_asked = OwnQuestion.id.in_(ids) & (OwnQuestion.state == str(State.ASKING))
    session.execute(update(OwnQuestion).where(being_asked).values(alive_until=now + ALIVE))


def answered(session: Session, call: QuestionCall, answer: Answer, now: datetime) -> bool:
    """Keep an answer with its cards; whether it was still waited for.

    An answer that cannot be kept makes the question a failed one.
    """
    own = _called(session, call)
    if own is None:
        return False
    entry = read(own.question, call, answer)
    if call.assigns_sessions and answer.session_id:
        own.session_id = answer.session_id
    _keep(session, own, entry)
    own.state, own.answered_at = str(State.ANSWERED), now
    own.alive_until = own.origin = None
    return True


def failed(session: Session, call: QuestionCall, why: Failed) -> bool:
    """Keep why a question got no answer; whether one was still waited for."""
    own = _called(session, call)
    if own is None:
        return False
    own.state = str(State.FAILED)
    own.alive_until = own.origin = None
    own.error, own.error_code, own.excerpt = why.error, why.code, why.excerpt or None
    return True


def read(question: Question, call: QuestionCall, answer: Answer) -> ReadQuery:
    """Return an answer with its cards, read as ``relevansi collect`` has its file read.

    Raises an ``ImportRefused`` for an answer that no file could hold.
    """
    asked = call.asked
    kept = CollectedAnswer(
        query_id=question.position,
        question=question.text,
        category=question.category,
        context_dependent=question.context_dependent,
        response=answer.text,
        results_count=results_count(answer),
        latency_ms=answer.latency_ms,
        tries=answer.tries,
        usage=answer.usage,
        metadata=answer.metadata,
        properties=answer.properties,
    )
    run = CollectedRun(
        timestamp="",
        thread_id=asked.session_id,
        user_id=asked.user_id,
        search_method=asked.method,
        llm=call.settings.llm,
        endpoint=public_address(call.settings.endpoint),
        total_questions=1,
        answers=(kept,),
    )
    (entry,) = json_runs.read("answer", run_file(run)).queries
    return entry


def _begin(session: Session, participant: Participant) -> UserStudy:
    """Return phase 3, once no other transaction writes for the same participant."""
    events.lock(session, _rater(participant))
    phase = session.get(UserStudy, participant.study_id)
    if phase is None or not phase.is_open:
        raise PhaseClosed
    return phase


def _rater(participant: Participant) -> Rater:
    assert participant.rater is not None  # every participant has agreed
    return participant.rater


def _asked(session: Session, participant: Participant) -> list[OwnQuestion]:
    wanted = (
        select(OwnQuestion)
        .join(Question)
        .where(OwnQuestion.participant_id == participant.id)
        .order_by(Question.position)
    )
    return list(session.scalars(wanted))


def _find(session: Session, participant: Participant, position: int) -> OwnQuestion:
    found = session.scalar(
        select(OwnQuestion)
        .join(Question)
        .where(OwnQuestion.participant_id == participant.id, Question.position == position)
    )
    if found is None:
        raise UnknownQuestion(position)
    return found


def _state(own: OwnQuestion, now: datetime) -> State:
    if own.state == State.ASKING and (own.alive_until is None or own.alive_until <= now):
        return State.INTERRUPTED
    return State(own.state)


def _left(phase: UserStudy, asked: list[OwnQuestion]) -> int:
    """Return how many more may be asked: by questions that got an answer, and by calls made."""
    got = sum(own.state != State.GIVEN_UP for own in asked)
    calls = TRIES_PER_QUESTION * phase.most_questions - sum(own.attempt for own in asked)
    return min(phase.most_questions - got, calls)


def _spare(phase: UserStudy, asked: list[OwnQuestion], now: datetime) -> None:
    """Raise ``TooSoon`` while the participant's last question is too recent."""
    if not asked:
        return
    pause = max(own.put_at for own in asked) + timedelta(seconds=phase.pause_seconds) - now
    if pause > timedelta(0):
        raise TooSoon(-(-pause // timedelta(seconds=1)))


def _conversation(asked: list[OwnQuestion], new: bool) -> tuple[int, str]:
    """Return number and session of the conversation that the next question belongs to."""
    if asked and not new:
        return asked[-1].conversation, asked[-1].session_id
    number = asked[-1].conversation + 1 if asked else 1
    return number, f"relevansi_{secrets.token_hex(8)}"


def _question(
    session: Session,
    participant: Participant,
    asked: list[OwnQuestion],
    text: str,
    conversation: int,
) -> Question:
    """Return the question's row; it depends on the earlier answers of its conversation."""
    room = _rater(participant).study_id
    question = Question(
        question_set_id=session.scalars(
            select(QuestionSet.id).where(QuestionSet.study_id == room)
        ).one(),
        position=len(asked) + 1,
        text=text,
        key=question_key(text),
        category="",
        context_dependent=any(
            own.conversation == conversation and own.state == State.ANSWERED for own in asked
        ),
    )
    session.add(question)
    return question


def _need_run(session: Session, participant: Participant, phase: UserStudy, now: datetime) -> None:
    """Give a participant the run that holds their answers, with the chatbot's labels."""
    if participant.run_id is not None:
        return
    room = _rater(participant).study_id
    run = Run(
        id=secrets.token_hex(RUN_ID_BYTES),
        study_id=room,
        question_set=session.scalars(select(QuestionSet).where(QuestionSet.study_id == room)).one(),
        search_method=phase.search_method or None,
        llm=phase.llm or None,
        timestamp=now.strftime(STAMP),
        session_key=secrets.token_hex(32),
        extra={"endpoint": public_address(phase.endpoint)},
        imported_at=now,
    )
    session.add(run)
    participant.run = run


def _keep(session: Session, own: OwnQuestion, entry: ReadQuery) -> None:
    """Store the chatbot's answer to a question as a query of the participant's run."""
    participant = own.participant
    assert participant.run is not None
    query = Query(
        run=participant.run,
        question=own.question,
        query_id=own.question.position,
        response=entry.response,
        state=str(entry.state),
        claimed_count=entry.claimed_count,
        error=entry.error,
        extra=dict(entry.extra),
    )
    session.add(query)
    session.flush()
    imports.fill(Pool(session, participant.run.question_set, entry.cards), query, entry)
    session.flush()
    own.query_key = query.id
    live_metrics.refresh(session, [_rater(participant).id], Query.id == query.id)


def _next(session: Session) -> OwnQuestion | None:
    return session.scalar(
        select(OwnQuestion)
        .where(OwnQuestion.state == str(State.WAITING))
        .order_by(OwnQuestion.turn, OwnQuestion.put_at, OwnQuestion.id)
        .limit(1)
        .execution_options(populate_existing=True)
    )


def _origin(participant: Participant, origin: str) -> str:
    return origin or f"participant {participant.id}"


def _turn(session: Session, origin: str, now: datetime) -> int:
    """Return the round in which a question is put: each origin has one in every round.

    A newcomer begins in the round that is next: no origin waits for all earlier questions of
    another one, and later ones cannot overtake it again and again.
    """
    is_waiting = OwnQuestion.state == str(State.WAITING)
    begin = session.scalar(select(func.min(OwnQuestion.turn)).where(is_waiting))
    if begin is None:
        begin = session.scalar(select(func.max(OwnQuestion.turn))) or 0
    theirs = (OwnQuestion.origin == origin) & (is_waiting | _alive(now))
    last = session.scalar(select(func.max(OwnQuestion.turn)).where(theirs))
    return begin if last is None else max(begin, last + 1)


def _alive(now: datetime) -> ColumnElement[bool]:
    return (OwnQuestion.state == str(State.ASKING)) & (OwnQuestion.alive_until > now)


def _on_their_way(session: Session, phase: UserStudy, now: datetime) -> int:
    wanted = (
        select(func.count())
        .select_from(OwnQuestion)
        .join(Participant)
        .where(Participant.study_id == phase.study_id, _alive(now))
    )
    return session.scalar(wanted) or 0


def _before(session: Session, own: OwnQuestion, now: datetime) -> int:
    """Return how many questions are on their way or have their turn before `own`."""
    sooner = (OwnQuestion.turn == own.turn) & (OwnQuestion.put_at < own.put_at)
    waiting = OwnQuestion.state == str(State.WAITING)
    earlier = waiting & ((OwnQuestion.turn < own.turn) | sooner)
    wanted = select(func.count()).select_from(OwnQuestion).where(or_(_alive(now), earlier))
    return session.scalar(wanted) or 0


def _message(
    session: Session, own: OwnQuestion, settings: UserStudySettings, theirs: bool
) -> Message:
    """Return the request, with the answered turns of its conversation."""
    turns = [
        (question, response)
        for question, response in session.execute(
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
    ]
    return Message(
        message=own.question.text,
        session_id="" if theirs and not turns else own.session_id,
        user_id=own.participant.run_id or "",
        method=settings.search_method,
        earlier=tuple(turns),
    )


def _called(session: Session, call: QuestionCall) -> OwnQuestion | None:
    """Return the question of a call that is still waited for, locked."""
    own = session.get(OwnQuestion, call.id)
    if own is None:
        return None
    events.lock(session, _rater(own.participant))
    session.refresh(own)
    is_waited_for = own.state == State.ASKING and own.attempt == call.attempt
    return own if is_waited_for else None
