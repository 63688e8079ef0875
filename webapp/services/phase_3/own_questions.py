"""A participant's own questions: asked, asked again, given up, done with, and listed.

They are stored here and wait; ``asking`` puts them to the chatbot.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from msgspec import Struct
from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp import failures
from webapp.chatbot.client import public_address
from webapp.db.tables.judging import StoredSummary
from webapp.db.tables.phase_3 import OwnQuestion, Participant, UserStudy
from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Question, QuestionSet
from webapp.exporters.exports.collected_runs import STAMP
from webapp.failures import Busy, Conflict, Missing, Refused
from webapp.i18n import mark, ngettext
from webapp.importers.runs.json_runs import question_key
from webapp.records import QueryState, ReadQuery
from webapp.services.judging import events
from webapp.services.phase_3 import asking, turns
from webapp.services.phase_3.asking import rater
from webapp.services.phase_3.participants import PhaseClosed
from webapp.services.phase_3.turns import State, state_of

LONGEST = 2000
"""The most characters of a question, by the chatbots' contract."""
TRIES_PER_QUESTION = 3
"""A participant's tries, as a multiple of the questions they may ask."""
RUN_ID_BYTES = 6


class UnfitQuestion(Refused):
    """A question has 1 to 2000 characters."""

    message = mark("A question has 1 to %(most)s characters")
    remedy = mark("Please change it and send it again.")
    status = 422


class QuestionStillOpen(Conflict):
    """The participant has a question that they are not done with; its position is the argument."""

    message = mark("You have not finished your other question yet")
    remedy = mark("This one waits here.")


class TooSoon(Busy):
    """The chatbot is to be spared for a while; the argument is how many seconds."""

    message = mark("You asked only just now")
    status = 429

    remedy = mark("Please wait a little, then send it again.")

    def advice(self) -> str:
        """Return how long to wait."""
        return ngettext(
            "Please wait %(n)s second, then send it again.",
            "Please wait %(n)s seconds, then send it again.",
            self.args[0],
        )


class NoQuestionLeft(Conflict):
    """The participant has asked as many questions as there are to ask."""

    message = mark("You have asked all the questions that one participant can ask")
    remedy = mark("Their answers stay here to be rated.")


class TriedTooOften(Conflict):
    """The participant's questions were put to the chatbot as often as they may be."""

    message = mark("It was tried too often")
    remedy = mark("Please leave this question and ask another.")
    status = 429


NOT_ASKED = (UnfitQuestion, QuestionStillOpen, TooSoon, NoQuestionLeft, TriedTooOften)
"""Why a question is not put to the chatbot, each told on the page where it was typed."""


class UnknownQuestion(Missing):
    """The participant asked no such question, or it is not in that state."""

    message = mark("You asked no such question")
    remedy = failures.RELOAD


class OwnQuestionLine(Struct, frozen=True):
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
        return self._asks and self.quality is None

    @property
    def is_rated(self) -> bool:
        """Whether all that the answer asks for was given."""
        return self._asks and not self.open_judgments and self.quality is not None

    @property
    def _asks(self) -> bool:
        return self.state is State.ANSWERED and self.answer_state is not QueryState.UNREADABLE


class Allowance(Struct, frozen=True):
    """How many questions are ``left`` of the ``most`` that each participant may ask."""

    left: int = 0
    most: int = 0
    is_open: bool = False


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
    turns with those of other origins. A question whose answer is rated in full is done with; the
    text of one that is open once more is that question. Raises ``UnfitQuestion``,
    ``QuestionStillOpen``, ``TooSoon``, ``NoQuestionLeft`` and ``PhaseClosed``.
    """
    text = text.strip()
    if not 1 <= len(text) <= LONGEST:
        raise UnfitQuestion(most=LONGEST)
    phase = _begin(session, participant)
    for line in lines(session, participant, now):
        if line.is_open and line.is_rated:
            done(session, participant, line.position, now)
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
    own = OwnQuestion(conversation=conversation, session_id=session_id, attempt=0)
    turns.put_in_line(session, own, participant, origin, now)
    own.participant, own.question = participant, question
    session.add(own)
    _need_run(session, participant, phase, now)
    session.flush()
    return question.position


def ask_again(
    session: Session, participant: Participant, position: int, now: datetime, *, origin: str = ""
) -> None:
    """Let a question that failed or was interrupted wait to be asked once more.

    One that is waiting, being asked or answered stays as it is. Raises ``UnknownQuestion``,
    ``TooSoon``, ``TriedTooOften`` and ``PhaseClosed``.
    """
    phase = _begin(session, participant)
    found = _find(session, participant, position)
    if state_of(found, now) not in {State.FAILED, State.INTERRUPTED}:
        return
    asked = _asked(session, participant)
    if sum(known.attempt for known in asked) >= TRIES_PER_QUESTION * phase.most_questions:
        raise TriedTooOften
    _spare(phase, asked, now)
    turns.put_in_line(session, found, participant, origin, now)
    found.alive_until = found.error = found.error_code = found.excerpt = None


def give_up(session: Session, participant: Participant, position: int, now: datetime) -> None:
    """Close a question that failed or was interrupted: it counts as a failed call.

    It takes none of the questions the participant may ask. Raises ``UnknownQuestion``.
    """
    events.lock(session, rater(participant))
    found = _find(session, participant, position)
    if found.state == State.GIVEN_UP:
        return
    if state_of(found, now) not in {State.FAILED, State.INTERRUPTED}:
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
    asking.keep_entry(session, found, entry)
    found.state, found.closed_at, found.origin = str(State.GIVEN_UP), now, None


def done(session: Session, participant: Participant, position: int, now: datetime) -> None:
    """Close an answered question, rated in full or not; raises ``UnknownQuestion``."""
    events.lock(session, rater(participant))
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
            state=state_of(own, now),
            is_open=own.closed_at is None,
            error_code=own.error_code,
            answer_state=QueryState(answer) if answer else None,
            open_judgments=summary.open_judgments if summary else 0,
            quality=summary.quality if summary else None,
            put_at=own.put_at,
            answered_at=own.answered_at,
            before=turns.before(session, own, now) if own.state == State.WAITING else 0,
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


def _begin(session: Session, participant: Participant) -> UserStudy:
    """Return phase 3, once no other transaction writes for the same participant."""
    events.lock(session, rater(participant))
    phase = session.get(UserStudy, participant.study_id)
    if phase is None or not phase.is_open:
        raise PhaseClosed
    return phase


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
    room = rater(participant).study_id
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
    room = rater(participant).study_id
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
