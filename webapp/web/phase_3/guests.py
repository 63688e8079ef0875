"""The participant who makes a request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from webapp.db.tables.phase_3 import Participant
from webapp.web.frame import access


@contextmanager
def reading() -> Iterator[tuple[Session, Participant]]:
    """Yield a session for reading and the participant who asks."""
    with access.database().reading() as session:
        yield session, _asking(session)


@contextmanager
def writing() -> Iterator[tuple[Session, Participant]]:
    """Yield a session whose user commits, and the participant who asks."""
    access.need_our_page()
    with access.database().writing() as session:
        yield session, _asking(session)


def _asking(session: Session) -> Participant:
    """Return the participant who asks; raises ``NotTakingPart`` for everybody else."""
    known = access.visitor().guest_id
    found = None if known is None else session.get(Participant, known)
    if found is None:
        raise access.NotTakingPart
    return found
