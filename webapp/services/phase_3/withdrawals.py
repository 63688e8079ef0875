"""A participant's withdrawal: the data deleted, the data kept, and copies that may remain."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session

from webapp.db.tables.judging import Event, Judgment, QueryRating
from webapp.db.tables.people import LogEntry
from webapp.db.tables.phase_3 import OwnQuestion, Participant, QuestionnaireAnswer
from webapp.db.tables.study import Study
from webapp.services.phase_3 import participants
from webapp.services.study import studies

EXPORTED = "phase 3 export"
WITHDRAWN = "phase 3 withdrawal"


@dataclass(frozen=True, slots=True)
class WithdrawalCost:
    """How much goes with a participant."""

    questions: int
    judgments: int
    ratings: int
    answers: int
    events: int


@dataclass(frozen=True, slots=True)
class Copy:
    """A file made from the data of phase 3, and when it was made."""

    name: str
    at: datetime


def cost(session: Session, participant: Participant) -> WithdrawalCost:
    """Return the counts of the data that a withdrawal would delete."""
    asked = select(func.count()).where(OwnQuestion.participant_id == participant.id)
    said = {
        table: select(func.count()).where(table.rater_id == participant.rater_id)
        for table in (Judgment, QueryRating, QuestionnaireAnswer, Event)
    }
    counts = [session.scalar(wanted) or 0 for wanted in (asked, *said.values())]
    return WithdrawalCost(*counts)


def note_export(session: Session, study: Study, name: str, now: datetime) -> None:
    """Log that a file with participants' data was made."""
    studies.log(session, study, EXPORTED, name, None, None, now)


def exports(session: Session, study: Study) -> tuple[Copy, ...]:
    """Return every file that was made of phase 3, in order."""
    return _made(session, study, None, None)


def copies(session: Session, participant: Participant) -> tuple[Copy, ...]:
    """Return the files made since a participant agreed, which may hold their data."""
    if participant.agreed_at is None:
        return ()
    return _made(session, participant.study, participant.agreed_at, None)


def copies_before_last(session: Session, study: Study) -> tuple[Copy, ...]:
    """Return the files made before the last withdrawal: they may hold the withdrawn data."""
    last = session.scalar(
        select(func.max(LogEntry.at)).where(
            LogEntry.study_id == study.id, LogEntry.action == WITHDRAWN
        )
    )
    return () if last is None else _made(session, study, None, last)


def withdraw(session: Session, participant: Participant, now: datetime) -> None:
    """Delete a participant with all their data; a count stays, and their number in the log.

    The owner's coding of their words is deleted from the log too. SQLite overwrites deleted
    data, so that the file holds no trace of it either.
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
