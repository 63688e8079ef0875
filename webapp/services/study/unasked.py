"""The questions that a study does not ask: those that a wing leaves out, as by a sample.

They are in no rater's share, in no figure, and never count as missing. A wing's module
``left_out`` has the statement over their ids, as a part of statements that every click carries out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from sqlalchemy import ColumnElement, Select, SQLColumnExpression, and_, select, true
from sqlalchemy.orm import Session

from webapp import rooms
from webapp.db.tables.runs import Query
from webapp.db.tables.study import Question, QuestionSet


def unasked(session: Session, study_id: int) -> frozenset[int]:
    """Return the ids of the questions of a study that nobody is asked."""
    sets = select(QuestionSet.id).where(QuestionSet.study_id == study_id)
    of_study = Question.question_set_id.in_(sets)
    return frozenset(
        number for found in _left_out() for number in session.scalars(found.where(of_study))
    )


def is_put_to_raters(question_id: SQLColumnExpression[int]) -> ColumnElement[bool]:
    """Return the condition that the study asks the question with this id."""
    return and_(true(), *(question_id.not_in(found) for found in _left_out()))


def is_answer_put_to_raters(query_key: SQLColumnExpression[int]) -> ColumnElement[bool]:
    """Return the condition that the study asks the question of the ``Query`` with this key.

    An index has the answers to a question, so that nothing is read where all are asked.
    """
    answers = (select(Query.id).where(Query.question_id.in_(found)) for found in _left_out())
    return and_(true(), *(query_key.not_in(found.correlate(None)) for found in answers))


def _left_out() -> Iterator[Select[int]]:
    for wing in rooms.contributions("services", "left_out"):
        yield _made(wing.left_out)


@cache
def _made(statement: Callable[[], Select[int]]) -> Select[int]:
    return statement().correlate(None)
