"""How often one may try: every try is a row, so that all processes count together."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, func, or_, select
from sqlalchemy.orm import Session

from webapp.db.tables.people import Attempt
from webapp.db.tables.study import Study
from webapp.failures import Busy
from webapp.i18n import mark

LONGEST_WINDOW = timedelta(hours=1)
"""A row is kept for so long, and not longer than until the next try."""


class TooManyTries(Busy):
    """Too many tries of late; the person who made them has to wait."""

    message = mark("Too many tries")
    remedy = mark(
        "Wait a quarter of an hour, then try again. A browser in which you signed in before "
        "does not wait for the tries of others."
    )
    status = 429


def knock(
    session: Session, study: Study, name: str, now: datetime, *, most: int, window: timedelta
) -> None:
    """Count a try under a name before it is made; raises ``TooManyTries``.

    Counting first, one at a time, lets no number of tries at once exceed the limit.
    """
    session.execute(select(Study.id).where(Study.id == study.id).with_for_update())
    # Rows of a later time were written before the clock was put back: they do not count.
    over = or_(Attempt.at <= now - LONGEST_WINDOW, Attempt.at > now + LONGEST_WINDOW)
    session.execute(delete(Attempt).where(over))
    recent = (Attempt.at > now - window) & (Attempt.at <= now + window)
    counted = select(func.count()).where(Attempt.source == _source(study, name), recent)
    if (session.scalar(counted) or 0) >= most:
        raise TooManyTries
    session.add(Attempt(source=_source(study, name), at=now))


def forgive(session: Session, study: Study, name: str) -> None:
    """Forget the tries under a name whose holder has signed in."""
    session.execute(delete(Attempt).where(Attempt.source == _source(study, name)))


def _source(study: Study, name: str) -> str:
    return f"{study.id}/{name}"[:128]
