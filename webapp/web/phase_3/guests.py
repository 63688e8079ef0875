"""The participant who makes a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from webapp.db.tables.phase_3 import Participant
from webapp.db.tables.study import Study
from webapp.services.phase_3 import links
from webapp.services.phase_3.links import ParticipantBadge
from webapp.web.frame import access

HOME = "own_questions.index"
"""The first page of a participant, by endpoint."""
GUIDE = "participants"
"""The guide for participants, by name."""


def recognise(
    session: Session, study: Study, badge: Mapping[str, Any], now: datetime
) -> int | None:
    """Return the participant's id; ``None`` for a badge of another version or one that ended."""
    try:
        carried = ParticipantBadge(**badge)
    except TypeError:
        return None
    found = links.recognise(session, study, carried, now)
    return None if found is None else found.id


def name(session: Session, participant_id: int) -> str | None:
    """Return the pseudonym of a participant; ``None`` for one who withdrew."""
    found = session.get(Participant, participant_id)
    return None if found is None else found.pseudonym


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
