"""The questions that a sample left out: the core asks none of them."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.planning import SampledQuestion
from webapp.db.tables.study import Question
from webapp.services.planning import samples


def left_out(session: Session, study_id: int) -> Collection[int]:
    """Return the ids of the questions that the samples of a study did not draw."""
    drawn = {rule.question_set_id: rule.id for rule in samples.sampling(session, study_id)}
    if not drawn:
        return ()
    sampled = select(SampledQuestion.question_id).where(SampledQuestion.rule_id.in_(drawn.values()))
    rows = select(Question.id).where(
        Question.question_set_id.in_(drawn), Question.id.not_in(sampled)
    )
    return session.scalars(rows).all()
