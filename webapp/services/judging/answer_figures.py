"""The figures of the answers to one blind question, each by its letter and never by its run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

from msgspec import Struct
from sqlalchemy import Row, Select, and_, bindparam, select
from sqlalchemy.orm import Session, aliased

from webapp.db.engine import tables
from webapp.db.tables.judging import Repeat, RepeatRating, StoredSummary, Task
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Result, Run
from webapp.db.tables.study import Study
from webapp.metrics.judging.queries import QueryJudgments, summarise
from webapp.metrics.judging.queries import QuerySummary as Summary
from webapp.records import VERDICTS, EmptyOutcome, QueryState
from webapp.services.judging import live_metrics
from webapp.services.rating import pool, tasks
from webapp.services.rating.pool import REPEAT


class AnswerFigures(Struct, frozen=True):
    """The figures of one answer to a question, by the rater's verdicts.

    ``letter`` names the answer within its question; in another question it names another run's.
    """

    letter: str
    summary: Summary


def of_task(session: Session, task: Row[Any]) -> tuple[AnswerFigures, ...]:
    """Return the figures of every answer in a task, in the order of their letters.

    They are the stored summaries. For a question that is asked again they are made from that
    task's verdicts alone; otherwise they would reveal that it is a repeat.
    """
    found = dict(_again(session, task) if task.kind == REPEAT else _stored(session, task))
    in_order = sorted(found, key=lambda answer: tasks.key(task, -answer))
    return tuple(
        AnswerFigures(tasks.letter(number), found[answer]) for number, answer in enumerate(in_order)
    )


def _stored(session: Session, task: Row[Any]) -> Iterator[tuple[int, Summary]]:
    for row in tables(session).execute(_summaries(), {"task_id": task.id}).all():
        yield row.query_key, live_metrics.summary(row)


@cache
def _summaries() -> Select[*tuple[Any, ...]]:
    """Return the statement over the stored summaries of the answers in a task."""
    row, mine = StoredSummary, Task.rater_id
    return (
        select(*row.__table__.columns)
        .join_from(Task, Rater, Rater.id == mine)
        .join(Study, Study.id == Rater.study_id)
        .join(Query, Query.question_id == Task.question_id)
        .join(Run, Run.id == Query.run_id)
        .join(row, and_(row.query_key == Query.id, row.rater_id == mine))
        .where(Task.id == bindparam("task_id"), pool.answers_in(Study.id, Task))
    )


def _again(session: Session, task: Row[Any]) -> Iterator[tuple[int, Summary]]:
    listed: dict[int, list[Row[Any]]] = defaultdict(list)
    for row in tables(session).execute(_said_again(), {"task_id": task.id}).all():
        listed[row.id].append(row)
    for answer, rows in listed.items():
        first = rows[0]
        said = QueryJudgments(
            state=QueryState(first.state),
            verdicts=tuple(VERDICTS[row.verdict or ""] for row in rows if row.rank is not None),
            empty_outcome=EmptyOutcome(first.outcome) if first.outcome else None,
            quality=first.quality,
        )
        yield answer, summarise(said, cannot_tell=task.cannot_tell)


@cache
def _said_again() -> Select[*tuple[Any, ...]]:
    """Return the statement over the repeated verdicts on each result, one row for an empty list."""
    emptiness = aliased(Repeat)
    same, empty = Repeat.task_id == Task.id, emptiness.task_id == Task.id
    return (
        select(
            *(Query.id, Query.state, RepeatRating.quality, Result.rank, Repeat.verdict),
            emptiness.verdict.label("outcome"),
        )
        .join_from(Task, RepeatRating, RepeatRating.task_id == Task.id)
        .join(Query, Query.id == RepeatRating.query_key)
        .outerjoin(Result, Result.query_key == Query.id)
        .outerjoin(Repeat, and_(same, Repeat.judged_thing_id == Result.judged_thing_id))
        .outerjoin(emptiness, and_(empty, emptiness.judged_thing_id == Query.emptiness_id))
        .where(Task.id == bindparam("task_id"))
        .order_by(Query.id, Result.rank)
    )
