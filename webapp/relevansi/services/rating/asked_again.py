"""Questions asked again blind, because their raters judged them on pages that named the method.

A rater's ordinary task then shows verdicts and grades that were given openly as not yet given. They
count until they are given once more, in the task and so blind (docs/decisions/0038).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from msgspec import Struct
from sqlalchemy import (
    ColumnElement,
    Select,
    SQLColumnExpression,
    and_,
    case,
    exists,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy.orm import Session

from relevansi.db.rows import core
from relevansi.db.tables.judging import Event, JudgedItem, Judgment, QueryRating, Task
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Question, Study
from relevansi.failures import Conflict
from relevansi.i18n import mark
from relevansi.records import QueryState
from relevansi.services.judging.verdicts import ON_RUN, VALUE_OF, Judged, made_by
from relevansi.services.rating import pool
from relevansi.services.rating.pool import POOL, Unit
from relevansi.services.study import studies
from relevansi.services.study.question_sets import is_put_to_raters


class NothingToAskAgain(Conflict):
    message = mark("There is nothing to ask again")
    remedy = mark("Only a study that is rated blind asks again, and only what was given openly.")


class OpenWork(Struct, frozen=True):
    """The verdicts and grades given openly by raters who still judge, and on how many questions."""

    verdicts: int = 0
    grades: int = 0
    questions: int = 0
    raters: int = 0


@cache
def hides(row: Judged) -> ColumnElement[bool]:
    """Return the condition on (``Task``, `row`) that the task shows `row` as not yet given."""
    openly = exists().where(made_by(row), ON_RUN, Event.received_at <= Task.asked_again_at)
    return and_(Task.asked_again_at.is_not(None), openly.correlate(Task, row))


def count_open(
    session: Session, rater: Rater, question: int | None = None
) -> dict[Unit, tuple[int, int, int]]:
    """Return how many verdicts and grades the rater has still to give again, by unit."""
    of_rater = [Rater.id == rater.id, Event.received_at <= Task.asked_again_at]
    if question is not None:
        of_rater.append(Task.question_id == question)
    return {unit: counts for (_, unit), counts in _openly(session, rater.study, *of_rater).items()}


def askable(session: Session, study: Study) -> OpenWork:
    """Return the work that can be asked again, none in a study that is not blind."""
    return _work(_askable(session, study)) if studies.is_blind(session, study) else OpenWork()


def waiting(session: Session, study: Study) -> OpenWork:
    """Return the work that was asked again and not given since."""
    return _work(_openly(session, study, Event.received_at <= Task.asked_again_at))


def ask(session: Session, study: Study, now: datetime) -> OpenWork:
    """Ask again, blind, what raters gave openly; logged. Raises ``NothingToAskAgain``."""
    # In the queue of raters who are given questions: none of them gets a second task of a unit.
    session.execute(select(Study.id).where(Study.id == study.id).with_for_update())
    work_by_unit = _askable(session, study) if studies.is_blind(session, study) else {}
    if not work_by_unit:
        raise NothingToAskAgain
    raters = {rater.id: rater for rater in studies.raters(session, study)}
    for place, (rater_id, unit) in enumerate(work_by_unit):
        given_at = now + timedelta(microseconds=place)
        task = session.scalar(select(Task).where(_is_first(rater_id, *unit)))
        task = task or pool.make_task(session, raters[rater_id], unit, POOL, given_at)
        task.asked_again_at, task.postponed_at = now, None
    work = _work(work_by_unit)
    summary = f"{work.verdicts} verdicts, {work.grades} grades, {work.raters} raters"
    studies.log(session, study, "ask again blind", study.name, None, summary, now)
    session.flush()
    return work


def _is_first(rater_id: Any, question_id: Any, run_id: Any) -> ColumnElement[bool]:
    """Return the condition that a ``Task`` is the first of a rater and a unit, by their values."""
    return and_(
        Task.rater_id == rater_id,
        Task.question_id == question_id,
        Task.run_id.is_not_distinct_from(run_id),
        Task.kind == POOL,
    )


_Open = dict[tuple[int, Unit], tuple[int, int, int]]
"""By rater and unit the numbers of verdicts, of grades, and of empty lists among the verdicts."""


def _askable(session: Session, study: Study) -> _Open:
    later = Event.received_at > Task.asked_again_at
    return _openly(session, study, or_(Task.asked_again_at.is_(None), later))


def _openly(session: Session, study: Study, *where: ColumnElement[bool]) -> _Open:
    counts_by_unit: dict[tuple[int, Unit], list[int]] = defaultdict(lambda: [0, 0, 0])
    for kind, statement in enumerate(_statements(study)):
        rows = core(session).execute(statement.where(*where))
        for rater_id, question_id, run_id, n, lists in rows:
            counts = counts_by_unit[rater_id, Unit(question_id, run_id)]
            counts[kind] = n
            counts[2] += lists
    return {key: (counts[0], counts[1], counts[2]) for key, counts in counts_by_unit.items()}


def _statements(study: Study) -> Iterator[Select[*tuple[Any, ...]]]:
    judgments = select(Judgment).join(JudgedItem, JudgedItem.id == Judgment.judged_item_id)
    judgments = judgments.where(pool.is_shown(study.id, study.pool_depth))
    yield _by_task(judgments, Judgment, study, JudgedItem.question_id, JudgedItem.run_id)
    answers = select(QueryRating).join(Query, Query.id == QueryRating.query_key)
    answers = answers.join(Question, Question.id == Query.question_id)
    answers = answers.where(Query.state != str(QueryState.UNREADABLE))
    of_unit = case((Question.context_dependent, Query.run_id))
    yield _by_task(answers, QueryRating, study, Query.question_id, of_unit)


def _by_task(
    rows: Select[Any],
    row: Judged,
    study: Study,
    question_id: SQLColumnExpression[int],
    run_id: SQLColumnExpression[str | None],
) -> Select[*tuple[Any, ...]]:
    is_list = case((JudgedItem.item_id.is_(None), 1), else_=0) if row is Judgment else literal(0)
    return (
        rows.join(Event, and_(made_by(row), ON_RUN))
        .join(Rater, Rater.id == row.rater_id)
        .outerjoin(Task, _is_first(row.rater_id, question_id, run_id))
        .where(Rater.study_id == study.id, Rater.removed_at.is_(None), Rater.is_machine.is_(False))
        .where(VALUE_OF[row].is_not(None), is_put_to_raters(question_id))
        .with_only_columns(row.rater_id, question_id, run_id, func.count(), func.sum(is_list))
        .group_by(row.rater_id, question_id, run_id)
        .order_by(row.rater_id, question_id)
    )


def _work(open_work: _Open) -> OpenWork:
    return OpenWork(
        verdicts=sum(verdicts for verdicts, _, _ in open_work.values()),
        grades=sum(grades for _, grades, _ in open_work.values()),
        questions=len({unit.question_id for _, unit in open_work}),
        raters=len({rater_id for rater_id, _ in open_work}),
    )
