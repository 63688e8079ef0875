"""A study asks all its questions unless a sample leaves some out."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.services.rating.blind_raters import stored
from tests.services.runs.runs import card, query
from webapp.db.tables.runs import Query
from webapp.db.tables.study import Question, Study
from webapp.services.study.question_sets import is_answer_put_to_raters, is_put_to_raters, unasked


@pytest.fixture(name="questions", autouse=True)
def _questions(session: Session, study: Study) -> list[int]:
    """The ids of four questions that one run answers."""
    stored(session, study, "api", *(query(n, card(f"a{n}"), text=f"Q{n}") for n in range(1, 5)))
    return list(session.scalars(select(Question.id).order_by(Question.position)))


def asked(session: Session) -> tuple[list[int], list[int]]:
    """Return the positions of the questions that are asked, and the numbers of their answers."""
    positions = select(Question.position).where(is_put_to_raters(Question.id))
    numbers = select(Query.query_id).where(is_answer_put_to_raters(Query.id))
    return (
        list(session.scalars(positions.order_by(Question.position))),
        list(session.scalars(numbers.order_by(Query.query_id))),
    )


def test_without_a_sample_every_question_is_asked(session: Session, study: Study) -> None:
    assert unasked(session, study.id) == frozenset()
    assert asked(session) == ([1, 2, 3, 4], [1, 2, 3, 4])
