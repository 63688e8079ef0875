"""The questions that a sample left out: the core asks none of them."""

from __future__ import annotations

from sqlalchemy import Select, exists, select

from webapp.db.tables.planning import PlanningRule, SampledQuestion
from webapp.db.tables.study import Question
from webapp.services.planning import samples


def left_out() -> Select[int]:
    """Return the statement over the ids of the questions that the samples did not draw.

    It reads ``Question``, so that the core can narrow it to a study or a question set.
    """
    drawn = exists().where(
        SampledQuestion.rule_id == PlanningRule.id, SampledQuestion.question_id == Question.id
    )
    of_set = Question.question_set_id == PlanningRule.question_set_id
    return select(Question.id).join(PlanningRule, of_set).where(samples.leaves_out(), ~drawn)
