"""The times in which raters saw more than a blind rater may, for the reports to name."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct
from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.people import LogEntry
from webapp.db.tables.study import Study

UNBLINDED = ("set blind", str(False))
BADGED = ("set badges_while_blind", str(True))
RECORDED = ("set show_record", str(True))
SUGGESTED = ("set suggest_quality", str(True))
"""The log's name of a switch and the value set; see ``studies.set_switches``."""


class Period(Struct, frozen=True):
    """A time in which a switch was on; ``until`` is ``None`` while it still is."""

    since: datetime
    until: datetime | None = None


class Exposure(Struct, frozen=True):
    """The times in which raters saw more than the cards: see the functions of these names."""

    unblinded: tuple[Period, ...]
    badged: tuple[Period, ...]
    record_shown: tuple[Period, ...]
    suggested: tuple[Period, ...]


def exposure(session: Session, study: Study) -> Exposure:
    """Return when raters of the study saw more than its cards."""
    return Exposure(
        unblinded(session, study),
        badged(session, study),
        record_shown(session, study),
        suggested(session, study),
    )


def unblinded(session: Session, study: Study) -> tuple[Period, ...]:
    """Return every time in which raters could see run and method, the earliest first."""
    return _periods(session, study, *UNBLINDED)


def badged(session: Session, study: Study) -> tuple[Period, ...]:
    """Return every time in which blind raters saw constraint badges, the earliest first."""
    return _periods(session, study, *BADGED)


def record_shown(session: Session, study: Study) -> tuple[Period, ...]:
    """Return every time in which raters saw details that only a listing's record has."""
    return _periods(session, study, *RECORDED)


def suggested(session: Session, study: Study) -> tuple[Period, ...]:
    """Return every time in which blind raters and participants were offered a grade."""
    return _periods(session, study, *SUGGESTED)


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
