"""What raters saw beyond what a blind rater may, for the reports to name."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.db.tables.people import LogEntry
from webapp.db.tables.rating import WordingOpened
from webapp.db.tables.runs import Query
from webapp.db.tables.study import Study
from webapp.services.study import studies

BADGED = ("set badges_while_blind", str(True))
RECORDED = ("set show_record", str(True))
SUGGESTED = ("set suggest_quality", str(True))
"""The log's name of a switch and the value set; see ``studies.set_switches``."""
OPENED = "open answer of run"


class Period(Struct, frozen=True):
    """A time in which a switch was on; ``until`` is ``None`` while it still is."""

    since: datetime
    until: datetime | None = None


class Exposure(Struct, frozen=True):
    """The times in which raters saw more than the cards: see the functions of these names."""

    badged: tuple[Period, ...]
    record_shown: tuple[Period, ...]
    suggested: tuple[Period, ...]


def exposure(session: Session, study: Study) -> Exposure:
    """Return when raters of the study saw more than its cards."""
    return Exposure(badged(session, study), record_shown(session, study), suggested(session, study))


def badged(session: Session, study: Study) -> tuple[Period, ...]:
    """Return every time in which blind raters saw constraint badges, the earliest first."""
    return _periods(session, study, *BADGED)


def record_shown(session: Session, study: Study) -> tuple[Period, ...]:
    """Return every time in which raters saw details that only a listing's record has."""
    return _periods(session, study, *RECORDED)


def suggested(session: Session, study: Study) -> tuple[Period, ...]:
    """Return every time in which blind raters and participants were offered a grade."""
    return _periods(session, study, *SUGGESTED)


def wordings_opened(session: Session, run_ids: Sequence[str]) -> tuple[int, int]:
    """Return how often blind raters opened answers of these runs as written, and how many did.

    Each answer counts once for each rater.
    """
    of_runs = select(func.count(), func.count(WordingOpened.rater_id.distinct())).where(
        WordingOpened.query_key == Query.id, Query.run_id.in_(run_ids)
    )
    times, raters = session.execute(of_runs).one()
    return times, raters


def note_opened(
    session: Session, study: Study, run_ids: Sequence[str], position: int, now: datetime
) -> None:
    """Log that the owner opened these runs' answers to a question by run, each once."""
    subjects = [f"{run_id}/{position}" for run_id in run_ids]
    known = session.scalars(
        select(LogEntry.subject).where(
            LogEntry.study_id == study.id,
            LogEntry.action == OPENED,
            LogEntry.subject.in_(subjects),
        )
    ).all()
    for subject in subjects:
        if subject not in known:
            studies.log(session, study, OPENED, subject, None, None, now)


def _periods(session: Session, study: Study, action: str, wanted: str) -> tuple[Period, ...]:
    changes = session.execute(
        select(LogEntry.at, LogEntry.new)
        .where(LogEntry.study_id == study.id, LogEntry.action == action)
        .order_by(LogEntry.id)
    )
    found: list[Period] = []
    for at, new in changes:
        if new == wanted:
            found.append(Period(at))
        elif found and found[-1].until is None:
            found[-1] = Period(found[-1].since, at)
    return tuple(found)
