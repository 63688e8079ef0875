"""The machine judges whose figures the owner put in use."""

from __future__ import annotations

from sqlalchemy.orm import Session

from webapp.db.tables.machine_judges import MachineJudge
from webapp.db.tables.people import Rater


def is_released(session: Session, rater: Rater) -> bool:
    """Whether a rater is a machine judge whose figures may be chosen."""
    judge = session.get(MachineJudge, rater.id)
    return judge is not None and judge.released_at is not None
