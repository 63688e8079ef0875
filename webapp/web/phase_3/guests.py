"""The participant that a badge belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from webapp.db.tables.study import Study
from webapp.services.phase_3 import links
from webapp.services.phase_3.links import ParticipantBadge

HOME = "own_questions.index"
"""The first page of a participant, by endpoint."""


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
