"""The questionnaire of phase 3: a participant's answers on usability, and two comments."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi import failures
from relevansi.db.tables.people import Rater
from relevansi.db.tables.phase_3 import (
    QuestionnaireAnswer,
)
from relevansi.failures import Refused
from relevansi.i18n import mark
from relevansi.metrics.phase_3.user_study import LEAST, MOST
from relevansi.records import COMMENTS, USABILITY_ITEMS, Click
from relevansi.services.judging import events
from relevansi.services.judging.answer_ratings import LONGEST_NOTES
from relevansi.services.judging.events import Target


class UnfitAnswer(Refused, ValueError):
    message = mark("This request cannot be answered")
    remedy = failures.RELOAD


class Questionnaire(Struct, frozen=True):
    """One rater's answers: ten of 1 to 5 (``None`` if unanswered), and two texts."""

    usability: tuple[int | None, ...]
    helped: str
    missing: str

    @property
    def unanswered(self) -> tuple[int, ...]:
        """The numbers (from 1) of the scale's items without an answer."""
        return tuple(n for n, answer in enumerate(self.usability, start=1) if answer is None)


def answer(session: Session, rater: Rater, item: str, value: str | None, click: Click) -> None:
    """Record a rater's answer to one item; ``None`` takes it back.

    The same event twice changes nothing. Raises ``UnfitAnswer`` for an unknown item or an
    answer outside 1 to 5, and ``EventIdTaken``.
    """
    if item in USABILITY_ITEMS:
        if value is not None and value not in {str(n) for n in range(LEAST, MOST + 1)}:
            raise UnfitAnswer(f"{value!r} is not within {LEAST} to {MOST}")
    elif item in COMMENTS:
        value = (value or "")[:LONGEST_NOTES] or None
    else:
        raise UnfitAnswer(f"the questionnaire has no {item!r}")
    events.lock(session, rater)
    events.record(session, rater, Target(item), value, click)


def of_rater(session: Session, rater: Rater) -> Questionnaire:
    return of_raters(session, [rater.id])[rater.id]


def of_raters(session: Session, rater_ids: list[int]) -> dict[int, Questionnaire]:
    """Return the questionnaires of some raters, blank where nothing was answered."""
    rows = select(QuestionnaireAnswer).where(QuestionnaireAnswer.rater_id.in_(rater_ids))
    answers = {(row.rater_id, row.item): row for row in session.scalars(rows)}
    blank = QuestionnaireAnswer(score=None, text="")
    questionnaires = {}
    for key in rater_ids:
        scores = tuple(answers.get((key, item), blank).score for item in USABILITY_ITEMS)
        texts = [answers.get((key, item), blank).text for item in COMMENTS]
        questionnaires[key] = Questionnaire(scores, *texts)
    return questionnaires
