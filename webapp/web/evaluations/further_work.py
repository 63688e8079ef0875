"""The items of evaluations, offered to a rater who has rated everything else."""

from __future__ import annotations

from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.services.evaluations import item_rating
from webapp.web.frame.rooms import ShownPart


def offered(session: Session, rater: Rater) -> ShownPart:
    """Return the evaluations whose items wait for raters."""
    offers = item_rating.offers(session, rater)
    return ShownPart("evaluations/item_rating/_further.html", offers)
