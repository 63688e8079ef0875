"""When a study's raters could see run and method, by its owner's word: reports say so."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.models import LogEntry, Study

OPEN = str(False)
"""How the log writes that blindness was switched off; see ``studies.set_switches``."""


@dataclass(frozen=True, slots=True)
class Unblinded:
    """A time in which the study was unblinded; ``until`` is ``None`` while it still is."""

    since: datetime
    until: datetime | None = None


def unblinded(session: Session, study: Study) -> tuple[Unblinded, ...]:
    """Return every time in which the study was unblinded, the earliest first."""
    changes = session.execute(
        select(LogEntry.at, LogEntry.new)
        .where(LogEntry.study_id == study.id, LogEntry.action == "set blind")
        .order_by(LogEntry.id)
    )
    found: list[Unblinded] = []
    for at, new in changes:
        if new == OPEN:
            found.append(Unblinded(at))
        elif found and found[-1].until is None:
            found[-1] = Unblinded(found[-1].since, at)
    return tuple(found)
