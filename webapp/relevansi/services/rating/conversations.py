"""The conversation before a follow-up: the questions and answers above it in its run."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Question


class EarlierTurn(Struct, frozen=True):
    """One question and its answer before a follow-up, in the same conversation."""

    question: str
    response: str


def of_question(session: Session, run_id: str | None, question_id: int) -> tuple[EarlierTurn, ...]:
    """Return the conversation of a follow-up in a run, back to the last independent question."""
    same_run = Query.run_id == run_id
    queries = select(Query.id).join(Question).where(same_run)
    follow_up = queries.where(Query.question_id == question_id, Question.context_dependent)
    last = session.scalar(follow_up) if run_id else None
    if last is None:
        return ()
    start = queries.with_only_columns(func.max(Query.id)).where(
        Query.id < last, Question.context_dependent.is_(False)
    )
    rows = session.execute(
        select(Question.text, Query.response)
        .join_from(Query, Question)
        .where(same_run, Query.id < last, Query.id >= func.coalesce(start.scalar_subquery(), 0))
        .order_by(Query.id)
    )
    return tuple(EarlierTurn(text, response) for text, response in rows)
