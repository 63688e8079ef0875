"""The conversation that a follow-up question depends on."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.db.tables.runs import Query
from webapp.db.tables.study import Question


class EarlierTurn(Struct, frozen=True):
    """One earlier question of the conversation and the chatbot's answer."""

    question: str
    response: str


def of_question(session: Session, run_id: str | None, question_id: int) -> tuple[EarlierTurn, ...]:
    """Return the conversation of a question that belongs to a run; nothing without a run."""
    query = run_id and session.scalar(
        select(Query).where(Query.run_id == run_id, Query.question_id == question_id)
    )
    return earlier_turns(session, query) if query else ()


def earlier_turns(session: Session, query: Query) -> tuple[EarlierTurn, ...]:
    """Return the conversation back to the last independent question."""
    if not query.question.context_dependent:
        return ()
    same_run = Query.run_id == query.run_id
    start = (
        select(func.max(Query.id))
        .join(Question)
        .where(same_run, Query.id < query.id, Question.context_dependent.is_(False))
    ).scalar_subquery()
    rows = session.execute(
        select(Question.text, Query.response)
        .join_from(Query, Question)
        .where(same_run, Query.id < query.id, Query.id >= func.coalesce(start, 0))
        .order_by(Query.id)
    )
    return tuple(EarlierTurn(text, response) for text, response in rows)
