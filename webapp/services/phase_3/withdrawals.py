"""A participant who withdraws: what goes, what stays, and which copies may still hold it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session

from webapp.db.models import (
    Event,
    Judgment,
    LogEntry,
    OwnQuestion,
    Participant,
    QueryRating,
    QuestionnaireAnswer,
    Study,
)
from webapp.services.phase_3 import participants
from webapp.services.study import studies

EXPORTED = "phase 3 export"
WITHDRAWN = "phase 3 withdrawal"


@dataclass(frozen=True, slots=True)
class Cost:
    """How much goes with a participant."""

    questions: int
    judgments: int
    ratings: int
    answers: int
    events: int


@dataclass(frozen=True, slots=True)
class Copy:
    """A file that was made of phase 3, and when; it holds what there was then."""

    name: str
    at: datetime


def cost(session: Session, participant: Participant) -> Cost:
    """Return what a withdrawal would delete."""
    asked = select(func.count()).where(OwnQuestion.participant_id == participant.id)
    said = {
        table: select(func.count()).where(table.rater_id == participant.rater_id)
        for table in (Judgment, QueryRating, QuestionnaireAnswer, Event)
    }
    counts = [session.scalar(wanted) or 0 for wanted in (asked, *said.values())]
    return Cost(*counts)


def note_export(session: Session, study: Study, name: str, now: datetime) -> None:
    """Log that a file with what participants gave was made."""
    studies.log(session, study, EXPORTED, name, None, None, now)


def exports(session: Session, study: Study) -> tuple[Copy, ...]:
    """Return every file that was made of phase 3, in order."""
    return _made(session, study, None, None)


def copies(session: Session, participant: Participant) -> tuple[Copy, ...]:
    """Return the files made since a participant agreed, which may hold what they gave."""
    if participant.agreed_at is None:
        return ()
    return _made(session, participant.study, participant.agreed_at, None)


def copies_before_last(session: Session, study: Study) -> tuple[Copy, ...]:
    """Return the files made before the last withdrawal: they may hold who is gone."""
    last = session.scalar(
        select(func.max(LogEntry.at)).where(
            LogEntry.study_id == study.id, LogEntry.action == WITHDRAWN
        )
    )
    return () if last is None else _made(session, study, None, last)


def withdraw(session: Session, participant: Participant, now: datetime) -> None:
    """Delete a participant with all they gave; a count stays, and in the log their number.

    What the owner made of their words goes from the log too. SQLite overwrites what is
    deleted, so that the file holds no trace of it either.
    """
    if session.get_bind().dialect.name == "sqlite":
        session.execute(text("PRAGMA secure_delete = ON"))
    about = f"{participants.subject(participant)}, "
    tags = (LogEntry.study_id == participant.study_id) & LogEntry.subject.startswith(about)
    session.execute(update(LogEntry).where(tags).values(old=None, new=None))
    participants.withdraw(session, participant, now)


def _made(
    session: Session, study: Study, since: datetime | None, until: datetime | None
) -> tuple[Copy, ...]:
    wanted = select(LogEntry).where(LogEntry.study_id == study.id, LogEntry.action == EXPORTED)
    if since is not None:
        wanted = wanted.where(LogEntry.at >= since)
    if until is not None:
        wanted = wanted.where(LogEntry.at <= until)
    return tuple(Copy(row.subject, row.at) for row in session.scalars(wanted.order_by(LogEntry.id)))
