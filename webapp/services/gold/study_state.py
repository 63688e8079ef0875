"""How far the gold questions of a study and the decisions by hand have come."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.db.tables.gold import CardDecision, GoldVersion
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study


def state(session: Session, study: Study) -> str:
    """Return the numbers of the newest version and of the newest decision: none is altered."""
    raters = select(Rater.id).where(Rater.study_id == study.id)
    version = select(func.max(GoldVersion.id)).where(GoldVersion.rater_id.in_(raters))
    decision = select(func.max(CardDecision.id)).where(CardDecision.rater_id.in_(raters))
    return f"{session.scalar(version)} {session.scalar(decision)}"
