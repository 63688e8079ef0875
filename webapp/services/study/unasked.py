"""The questions that a study does not ask: those that a wing leaves out, as by a sample."""

from __future__ import annotations

from sqlalchemy.orm import Session

from webapp import rooms


def unasked(session: Session, study_id: int) -> frozenset[int]:
    """Return the ids of the questions of a study that nobody is asked.

    They are in no rater's share, in no figure of a comparison, and never count as missing.
    """
    found: set[int] = set()
    for wing in rooms.contributions("services", "left_out"):
        found.update(wing.left_out(session, study_id))
    return frozenset(found)
