"""The closing questionnaire: the System Usability Scale and two questions in free words."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp import failures
from webapp.db.tables.people import Rater
from webapp.db.tables.phase_3 import QuestionnaireAnswer
from webapp.failures import Refused
from webapp.i18n import mark
from webapp.metrics.judging.queries import Undefined
from webapp.metrics.phase_3.usability import LEAST, MOST, usability_score
from webapp.records import COMMENTS, USABILITY_ITEMS, Click
from webapp.services.judging import events
from webapp.services.judging.events import MOST_NOTES, Target


class UnfitAnswer(Refused, ValueError):
    """The questionnaire has no such item, or the item no such answer."""

    message = mark("This request cannot be answered")
    remedy = failures.RELOAD


class Questionnaire(Struct, frozen=True):
    """One rater's answers: ten of 1 to 5 (``None`` if unanswered), and two texts."""

    usability: tuple[int | None, ...]
    helped: str
    missing: str

    @property
    def score(self) -> float | Undefined:
        """The SUS score; undefined while an item has no answer."""
        return usability_score(self.usability)

    @property
    def unanswered(self) -> tuple[int, ...]:
        """The numbers (from 1) of the scale's items without an answer."""
        return tuple(n for n, answer in enumerate(self.usability, start=1) if answer is None)


def answer(session: Session, rater: Rater, item: str, said: str | None, click: Click) -> None:
    """Record a rater's answer to one item; ``None`` takes it back.

    The same event twice changes nothing. Raises ``UnfitAnswer`` for an unknown item or an
    answer outside 1 to 5, and ``EventIdTaken``.
    """
    if item in USABILITY_ITEMS:
        if said is not None and said not in {str(n) for n in range(LEAST, MOST + 1)}:
            raise UnfitAnswer(f"{said!r} is not within {LEAST} to {MOST}")
    elif item in COMMENTS:
        said = (said or "")[:MOST_NOTES] or None
    else:
        raise UnfitAnswer(f"the questionnaire has no {item!r}")
    events.lock(session, rater)
    events.record(session, rater, Target(item), said, click)


def of_rater(session: Session, rater: Rater) -> Questionnaire:
    """Return a rater's answers to all items."""
    return of_raters(session, [rater.id])[rater.id]


def of_raters(session: Session, rater_ids: list[int]) -> dict[int, Questionnaire]:
    """Return the answers of these raters, by rater."""
    rows = session.scalars(
        select(QuestionnaireAnswer).where(QuestionnaireAnswer.rater_id.in_(rater_ids))
    )
    said = {(row.rater_id, row.item): row for row in rows}
    return {
        rater_id: Questionnaire(
            tuple(
                row.score if (row := said.get((rater_id, item))) else None
                for item in USABILITY_ITEMS
            ),
            *(row.text if (row := said.get((rater_id, item))) else "" for item in COMMENTS),
        )
        for rater_id in rater_ids
    }
