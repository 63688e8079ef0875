"""A participant's withdrawal: the data deleted, the data kept, and copies that may remain."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct
from sqlalchemy import delete, func, select, text, update
from sqlalchemy.orm import Session

from webapp.db.tables.judging import Event, JudgedThing, Judgment, QueryRating, StoredSummary
from webapp.db.tables.people import LogEntry, Rater
from webapp.db.tables.phase_3 import OwnQuestion, Participant, QuestionnaireAnswer
from webapp.db.tables.runs import Query, Result, Run
from webapp.db.tables.study import Question, QuestionSet, Study
from webapp.services.phase_3 import links, user_studies
from webapp.services.phase_3.pseudonyms import subject
from webapp.services.study import studies

EXPORTED = "phase 3 export"
WITHDRAWN = "phase 3 withdrawal"


class WithdrawalCost(Struct, frozen=True):
    """How much goes with a participant."""

    questions: int
    judgments: int
    ratings: int
    answers: int
    events: int


class Copy(Struct, frozen=True):
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
    study, about = participant.study, subject(participant)
    tags = (LogEntry.study_id == study.id) & LogEntry.subject.startswith(f"{about}, ")
    session.execute(update(LogEntry).where(tags).values(old=None, new=None))
    user_studies.lock(session, study).withdrawn += 1
    room = participant.rater.study_id if participant.rater else None
    session.flush()
    links.delete_all(session, participant)
    session.execute(delete(OwnQuestion).where(OwnQuestion.participant_id == participant.id))
    session.execute(delete(Participant).where(Participant.id == participant.id))
    if room is not None:
        _delete_room(session, room)
    studies.log(session, study, WITHDRAWN, about, None, None, now)
    session.flush()
    session.expire_all()


def _made(
    session: Session, study: Study, since: datetime | None, until: datetime | None
) -> tuple[Copy, ...]:
    wanted = select(LogEntry).where(LogEntry.study_id == study.id, LogEntry.action == EXPORTED)
    if since is not None:
        wanted = wanted.where(LogEntry.at >= since)
    if until is not None:
        wanted = wanted.where(LogEntry.at <= until)
    return tuple(Copy(row.subject, row.at) for row in session.scalars(wanted.order_by(LogEntry.id)))


def _delete_room(session: Session, room: int) -> None:
    """Delete a participant's own study with every row in it."""
    raters = select(Rater.id).where(Rater.study_id == room).scalar_subquery()
    runs = select(Run.id).where(Run.study_id == room).scalar_subquery()
    queries = select(Query.id).where(Query.run_id.in_(runs)).scalar_subquery()
    sets = select(QuestionSet.id).where(QuestionSet.study_id == room).scalar_subquery()
    questions = select(Question.id).where(Question.question_set_id.in_(sets)).scalar_subquery()
    for said in (Event, Judgment, QueryRating, StoredSummary, QuestionnaireAnswer):
        session.execute(delete(said).where(said.rater_id.in_(raters)))
    session.execute(delete(Result).where(Result.query_key.in_(queries)))
    session.execute(delete(Query).where(Query.run_id.in_(runs)))
    session.execute(delete(JudgedThing).where(JudgedThing.question_id.in_(questions)))
    session.execute(delete(Run).where(Run.study_id == room))
    session.execute(delete(Question).where(Question.question_set_id.in_(sets)))
    session.execute(delete(QuestionSet).where(QuestionSet.study_id == room))
    session.execute(delete(Rater).where(Rater.study_id == room))
    session.execute(delete(Study).where(Study.id == room))
