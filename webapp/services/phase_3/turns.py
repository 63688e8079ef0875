"""The order in which participants' questions are put to the chatbot: whose turn is next."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from webapp.db.tables.phase_3 import OwnQuestion, Participant, UserStudy
from webapp.services.workers import leases


class State(StrEnum):
    """The state of a question; ``INTERRUPTED`` is never stored."""

    WAITING = "waiting"
    ASKING = "asking"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    ANSWERED = "answered"
    GIVEN_UP = "given up"


WAITING = OwnQuestion.state == str(State.WAITING)


def state_of(own: OwnQuestion, now: datetime) -> State:
    """Return the state of a question; interrupted when its caller died."""
    return State.INTERRUPTED if leases.is_lost(own, now) else State(own.state)


def next_waiting(session: Session) -> OwnQuestion | None:
    """Return the question whose turn it is."""
    return session.scalar(
        select(OwnQuestion)
        .where(WAITING)
        .order_by(OwnQuestion.turn, OwnQuestion.put_at, OwnQuestion.id)
        .limit(1)
        .execution_options(populate_existing=True)
    )


def calls_at_once(session: Session) -> int:
    """Return how many calls may be made at the same time; none while no question waits."""
    waiting = next_waiting(session)
    phase = session.get(UserStudy, waiting.participant.study_id) if waiting else None
    return phase.at_once if phase else 0


def on_their_way(session: Session, phase: UserStudy, now: datetime) -> int:
    """Return how many questions of a study are being asked."""
    wanted = (
        select(func.count())
        .select_from(OwnQuestion)
        .join(Participant)
        .where(Participant.study_id == phase.study_id, leases.are_held(OwnQuestion, now))
    )
    return session.scalar(wanted) or 0


def put_in_line(
    session: Session, own: OwnQuestion, participant: Participant, origin: str, now: datetime
) -> None:
    """Let a question wait in the next round in which its origin has none.

    The origin is an unreadable form of the address, else the participant. A newcomer begins in
    the round that is next: no origin waits for all earlier questions of another one, and later
    ones cannot overtake it again and again.
    """
    origin = origin or f"participant {participant.id}"
    begin = session.scalar(select(func.min(OwnQuestion.turn)).where(WAITING))
    if begin is None:
        begin = session.scalar(select(func.max(OwnQuestion.turn))) or 0
    theirs = (OwnQuestion.origin == origin) & or_(WAITING, leases.are_held(OwnQuestion, now))
    last = session.scalar(select(func.max(OwnQuestion.turn)).where(theirs))
    own.turn = begin if last is None else max(begin, last + 1)
    own.state, own.origin, own.put_at = str(State.WAITING), origin, now


def before(session: Session, own: OwnQuestion, now: datetime) -> int:
    """Return how many questions are on their way or have their turn before `own`."""
    sooner = (OwnQuestion.turn == own.turn) & (OwnQuestion.put_at < own.put_at)
    earlier = WAITING & ((OwnQuestion.turn < own.turn) | sooner)
    held = leases.are_held(OwnQuestion, now)
    wanted = select(func.count()).select_from(OwnQuestion).where(or_(held, earlier))
    return session.scalar(wanted) or 0
