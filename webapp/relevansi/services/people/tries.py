"""The tries of one name or address within a time: counted before they are made."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, func, or_, select
from sqlalchemy.orm import Session

from relevansi.db.tables.people import Attempt
from relevansi.db.tables.study import Study
from relevansi.failures import Busy
from relevansi.i18n import mark

LONGEST_WINDOW = timedelta(hours=1)
"""The age from which a try is deleted when the next one is counted."""
TRIES, WINDOW = 5, timedelta(minutes=15)
"""Wrong passwords within the window, after which one address or one known browser waits."""
TRIES_OF_STRANGERS = 30
"""The same for all unknown browsers together, from any address."""


class TooManyTries(Busy):
    message = mark("Too many tries")
    remedy = mark(
        "Wait a quarter of an hour, then try again. A browser in which you signed in before "
        "does not wait for the tries of others."
    )
    status = 429


def count_try(
    session: Session, study: Study, name: str, now: datetime, *, most: int, window: timedelta
) -> None:
    """Count a try under a name before it is made; raises ``TooManyTries``.

    At most `most` are let through within the `window`.
    """
    # One at a time and before the try: else many tries at once would all be below the limit.
    session.execute(select(Study.id).where(Study.id == study.id).with_for_update())
    # Rows of a later time were written before the clock was put back: they do not count.
    over = or_(Attempt.at <= now - LONGEST_WINDOW, Attempt.at > now + LONGEST_WINDOW)
    session.execute(delete(Attempt).where(over))
    recent = (Attempt.at > now - window) & (Attempt.at <= now + window)
    tries = select(func.count()).where(Attempt.source == _source(study, name), recent)
    if (session.scalar(tries) or 0) >= most:
        raise TooManyTries
    session.add(Attempt(source=_source(study, name), at=now))


def _source(study: Study, name: str) -> str:
    return f"{study.id}/{name}"[:128]


def count_password_try(
    session: Session, study: Study, source: str, now: datetime, *, is_known: bool = True
) -> None:
    """Count a try at the password before it is made; raises ``TooManyTries``.

    `source` names the address that asks, or a browser in which the owner signed in before (then it
    `is_known`): wrong passwords from elsewhere never count against it. A try from an unknown one
    counts for all unknown ones together as well.
    """
    if not is_known:
        most = TRIES_OF_STRANGERS
        count_try(session, study, "password of strangers", now, most=most, window=WINDOW)
    count_try(session, study, f"password/{source}", now, most=TRIES, window=WINDOW)


def forget_tries(session: Session, study: Study, source: str, *, is_known: bool = True) -> None:
    """Delete the tries of a source that had the right password, and the last one of strangers."""
    of_source = Attempt.source == _source(study, f"password/{source}")
    session.execute(delete(Attempt).where(of_source))
    if not is_known:
        of_strangers = Attempt.source == _source(study, "password of strangers")
        last = select(func.max(Attempt.id)).where(of_strangers).scalar_subquery()
        session.execute(delete(Attempt).where(Attempt.id == last))
