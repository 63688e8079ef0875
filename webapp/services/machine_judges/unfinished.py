"""What was on its way when the last process ended, as a server asks before it goes on with it.

Whatever it takes to go on stands in `own_questions` and `machine_calls`, which most servers
never need.
"""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.models import MachineSession, OwnQuestion

WAITING = "waiting"
"""How a question is stored that nobody has put to the chatbot yet."""


def is_any_question_waiting(session: Session) -> bool:
    """Whether any participant's question waits to be asked."""
    found = select(OwnQuestion.id).where(OwnQuestion.state == WAITING)
    return session.scalar(found.limit(1)) is not None


def judges_at_work(session: Session) -> list[tuple[int, int]]:
    """Return the machine judges with a running session, and how many calls each makes at once."""
    rows = session.execute(
        select(MachineSession.rater_id, MachineSession.at_once).where(
            MachineSession.ended_at.is_(None)
        )
    )
    return [(rater_id, at_once) for rater_id, at_once in rows]
