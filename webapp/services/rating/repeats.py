"""Hidden repeats: some questions are asked a second time, whole, and nothing reveals which.

How many, which ones and when follows from the study's secret and share before the first is
given, so that the number of questions a rater sees never changes with one. The second
verdict measures how far a rater agrees with themselves; it is never the verdict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, exists, func, or_, select
from sqlalchemy.orm import Session

from webapp.db.tables.judging import Event, JudgedThing, Judgment, QueryRating
from webapp.db.tables.people import Rater
from webapp.db.tables.rating import Repeat, RepeatRating, Task
from webapp.db.tables.runs import Query, Result, Run
from webapp.metrics.judging.ranking import counted, suggested_quality
from webapp.records import QueryState, Relevance
from webapp.services.rating import pool
from webapp.services.rating.pool import REPEAT, Unit
from webapp.services.rating.repeat_plan import TASKS_BETWEEN
from webapp.services.rating.shares import StudyShare


def due(
    session: Session,
    rater: Rater,
    share: StudyShare,
    now: datetime,
    left: Collection[Unit] = (),
    among: Callable[[Unit], bool] = lambda _unit: True,
) -> Task | None:
    """Give the rater the repeat that is due, `among` some units; ``None`` if none is.

    No unit is asked again while it is `left` open for the first time, nor right after it: the
    rater may have come back to it late. It comes anyway only when nothing else is left to do.
    """
    ready = [unit for unit in _ready(share, left) if unit not in left and among(unit)]
    if not ready:
        return None
    latest = _latest(session, rater)
    rested = [unit for unit in ready if unit not in latest]
    if not rested and (share.free or left):
        return None
    return _give(session, rater, (rested or ready)[0], now)


def is_due(share: StudyShare, left: Collection[Unit] = ()) -> bool:
    """Whether the rater, with these units `left` open, has got to something asked again."""
    return bool(_ready(share, left))


def _ready(share: StudyShare, left: Collection[Unit]) -> list[Unit]:
    """Return the repeats due by now; units put off and still open count as not reached."""
    reached = len(share.first_time) - len(share.postponed.intersection(left))
    return [one.unit for one in share.planned if one.after <= reached]


def _latest(session: Session, rater: Rater) -> set[Unit]:
    """Return the units that the rater judged last, as many as must lie between."""
    rows = session.execute(
        select(Task.question_id, Task.run_id)
        .join(Event, Event.task_id == Task.id)
        .where(Event.rater_id == rater.id)
        .group_by(Task.id, Task.question_id, Task.run_id)
        .order_by(func.max(Event.id).desc())
        .limit(TASKS_BETWEEN)
    )
    return {Unit(*row) for row in rows}


def is_open() -> ColumnElement[bool]:
    """Return the condition on ``Task`` that something of it was not answered again."""
    return or_(
        exists().where(Repeat.task_id == Task.id, Repeat.verdict.is_(None)),
        exists().where(RepeatRating.task_id == Task.id, RepeatRating.quality.is_(None)),
    )


class Left(NamedTuple):
    """The numbers of verdicts and qualities still to be given again, and of open tasks.

    ``lists`` are the verdicts on empty lists.
    """

    judgments: int = 0
    unrated: int = 0
    tasks: int = 0
    lists: int = 0


def left(session: Session, rater: Rater) -> Left:
    """Return the verdicts and qualities still open in the repeats given to the rater."""
    mine = Task.rater_id == rater.id, Task.kind == REPEAT
    unsaid = select(func.count()).select_from(Repeat).join(Task)
    unsaid = unsaid.where(*mine, Repeat.verdict.is_(None))
    unrated = select(func.count()).select_from(RepeatRating).join(Task)
    unrated = unrated.where(*mine, RepeatRating.quality.is_(None))
    open_tasks = select(func.count()).select_from(Task).where(*mine, is_open())
    lists = unsaid.join(JudgedThing).where(JudgedThing.property_id.is_(None))
    counts = (counted.scalar_subquery() for counted in (unsaid, unrated, open_tasks, lists))
    return Left(*session.execute(select(*counts)).one())


def verdicts(session: Session, task: Task | Row[Any]) -> dict[int, tuple[str, datetime]]:
    """Return the repeated verdicts and their times, by judged thing."""
    rows = session.execute(
        select(Repeat.judged_thing_id, Repeat.verdict, Repeat.changed_at).where(
            Repeat.task_id == task.id
        )
    )
    return {thing: (verdict, at) for thing, verdict, at in rows if verdict and at}


def suggested(
    session: Session, task: Row[Any], answers: Mapping[int, QueryState]
) -> dict[int, int | None]:
    """Return the quality that the repeated verdicts suggest for each of these answers."""
    same = (Repeat.judged_thing_id == Result.judged_thing_id) & (Repeat.task_id == task.id)
    rows = session.execute(
        select(Result.query_key, Repeat.verdict)
        .outerjoin(Repeat, same)
        .where(Result.query_key.in_(answers))
    )
    said: dict[int, list[Relevance | None]] = defaultdict(list)
    for key, verdict in rows:
        said[key].append(Relevance(verdict) if verdict else None)
    return {
        key: suggested_quality(state, counted(said[key], cannot_tell=task.cannot_tell))
        for key, state in answers.items()
    }


def _give(session: Session, rater: Rater, unit: Unit, now: datetime) -> Task:
    """Give the rater a repeat of everything they judged of a unit."""
    judged = (
        select(JudgedThing.id)
        .join(Judgment)
        .where(
            pool.in_unit(unit),
            pool.is_shown(rater.study_id, rater.study.pool_depth),
            Judgment.rater_id == rater.id,
            Judgment.verdict.is_not(None),
        )
    )
    rated = (
        select(Query.id)
        .join(Run)
        .join(QueryRating, QueryRating.query_key == Query.id)
        .where(
            pool.answers_in(rater.study_id, unit),
            QueryRating.rater_id == rater.id,
            QueryRating.quality.is_not(None),
        )
    )
    task = pool.give(session, rater, unit, REPEAT, now)
    for thing in session.scalars(judged).all():
        session.add(Repeat(task_id=task.id, judged_thing_id=thing))
    for key in session.scalars(rated).all():
        session.add(RepeatRating(task_id=task.id, query_key=key))
    session.flush()
    return task
