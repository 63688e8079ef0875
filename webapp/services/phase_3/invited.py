"""Whether a study has a link for participants: then everybody signs in."""

from __future__ import annotations

from sqlalchemy import ColumnElement, exists

from webapp.db.tables.phase_3 import ParticipantLink
from webapp.db.tables.study import Study


def invited() -> ColumnElement[bool]:
    """Return the condition on a study that it has a link for participants."""
    return exists().where(ParticipantLink.study_id == Study.id)
