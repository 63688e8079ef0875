"""The questions that a study does not ask: those that its samples did not draw.

They are in no rater's share, in no figure, and never count as missing.
"""

from __future__ import annotations

from functools import cache

from sqlalchemy import ColumnElement, Select, SQLColumnExpression, exists, select
from sqlalchemy.orm import Session

from webapp.db.tables.planning import PlanningRule, SampledQuestion
from webapp.db.tables.runs import Query
from webapp.db.tables.study import Question, QuestionSet


def unasked(session: Session, study_id: int) -> frozenset[int]:
    """Return the ids of the questions of a study that nobody is asked."""
    sets = select(QuestionSet.id).where(QuestionSet.study_id == study_id)
    return frozenset(session.scalars(_left_out().where(Question.question_set_id.in_(sets))))


def is_put_to_raters(question_id: SQLColumnExpression[int]) -> ColumnElement[bool]:
    """Return the condition that the study asks the question with this id."""
    return question_id.not_in(_left_out())


def is_answer_put_to_raters(query_key: SQLColumnExpression[int]) -> ColumnElement[bool]:
    """Return the condition that the study asks the question of the ``Query`` with this key.

    An index has the answers to a question, so that nothing is read where all are asked.
    """
    answers = select(Query.id).where(Query.question_id.in_(_left_out()))
    return query_key.not_in(answers.correlate(None))


@cache
def _left_out() -> Select[int]:
    """Return the statement over the ids of the questions that the samples did not draw."""
    from webapp.services.planning import samples

    drawn = exists().where(
        SampledQuestion.rule_id == PlanningRule.id, SampledQuestion.question_id == Question.id
    )
    of_set = Question.question_set_id == PlanningRule.question_set_id
    found = select(Question.id).join(PlanningRule, of_set).where(samples.leaves_out(), ~drawn)
    return found.correlate(None)
