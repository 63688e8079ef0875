"""The decisions by hand that go with a run."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.db.tables.gold import CardDecision
from webapp.db.tables.runs import Query
from webapp.i18n import ngettext


def losses(session: Session, run_id: str) -> list[str]:
    """Return the number of all steps that people took on the cards of a run, in words."""
    steps = select(func.count()).select_from(CardDecision).join(Query)
    lost = session.scalar(steps.where(Query.run_id == run_id))
    if not lost:
        return []
    return [
        ngettext(
            "%(n)s decision by hand on a card checked against gold questions",
            "%(n)s decisions by hand on cards checked against gold questions",
            lost,
        )
    ]
