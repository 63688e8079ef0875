"""The tasks of a blind rater, without run, method or rank.

A task is a unit of the pool that was given to a rater, for the first time or once more (see
``pool`` and ``workloads``); no page shows which of the two it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cache, lru_cache
from string import ascii_uppercase
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, bindparam, case, exists, or_, select
from sqlalchemy.orm import Session

from relevansi.db.rows import core
from relevansi.db.tables.judging import Event, JudgedItem, Judgment, QueryRating, Repeat, Task
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Question, Study
from relevansi.failures import Missing
from relevansi.i18n import mark
from relevansi.services.judging import events
from relevansi.services.rating import asked_again, pool, workloads
from relevansi.services.rating.pool import POOL, REPEAT, Purpose, Unit
from relevansi.services.rating.workloads import Workload
from relevansi.services.study.question_sets import is_put_to_raters

KEY_LENGTH = 16


class UnknownTask(Missing):
    message = mark("You were given nothing to rate at this address")
    remedy = mark("It may be another rater's, or gone. Open the first page: it shows what is next.")
    program_remedy = mark(
        "It may be another rater's, or gone. POST /api/v1/tasks gives what is next."
    )


def read(session: Session, rater: Rater, task_id: str) -> Row[Any]:
    """Return a task with its question and its study's settings; raises ``UnknownTask``."""
    values = {"task_id": task_id, "rater_id": rater.id}
    task: Row[Any] | None = core(session).execute(_own_task(), values).first()
    if task is None:
        raise UnknownTask(task_id)
    return task


@cache
def _own_task() -> Select[*tuple[Any, ...]]:
    question = Question.text.label("question"), Question.category, Question.context_dependent
    study = (
        *(Study.order_secret, Study.figures, Study.show_pictures, Study.marks_words, Study.scale),
        *(Study.measures, Study.suggest_quality, Study.cannot_tell, Study.asks_quality),
        *(Study.reasons, Study.kind.label("of_items")),
    )
    return (
        select(*Task.__table__.columns, *question, *study)
        .join_from(Task, Question, Question.id == Task.question_id)
        .join(Rater, Rater.id == Task.rater_id)
        .join(Study, Study.id == Rater.study_id)
        .where(Task.id == bindparam("task_id"), Task.rater_id == bindparam("rater_id"))
    )


def items_of(session: Session, task: Task | Row[Any]) -> list[Row[Any]]:
    """Return the judged items of a task with their verdicts, in the order its rater sees them."""
    rows = core(session).execute(_items_of_task(), {"task_id": task.id})
    return sorted(rows, key=lambda item: key(task, item.id))


@cache
def _items_of_task() -> Select[*tuple[Any, ...]]:
    item = JudgedItem
    columns = select(item.id, item.question_id, item.run_id, item.item_id, item.card)
    is_hidden = or_(Task.kind == REPEAT, asked_again.hides(Judgment))
    reason = case((is_hidden, None), else_=Judgment.reason).label("reason")
    return _with_items(columns.add_columns(reason))


@cache
def cards_to_judge() -> Select[*tuple[Any, ...]]:
    # The task, its study and its cards in one statement, since every click waits for it.
    task = select(JudgedItem.id, Task.rater_id, Task.kind).where(JudgedItem.item_id.is_not(None))
    study = Study.order_secret, Study.scale, Study.figures, Study.reasons
    columns = task.add_columns(*study, Study.kind.label("of_items"))
    return _with_items(columns).where(Task.rater_id == bindparam("rater_id"))


def _with_items(columns: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    """Return the statement over the items of a task: a repeat has its own and its own verdicts."""
    # The items are joined by their question first: by an "or" alone SQLite would read all of them.
    item, is_repeat = JudgedItem, Task.kind == REPEAT
    first = case((asked_again.hides(Judgment), None), else_=Judgment.verdict)
    is_shown = and_(pool.in_unit(Task), pool.is_asked())
    is_own = and_(Judgment.judged_item_id == item.id, Judgment.rater_id == Task.rater_id)
    return (
        columns.add_columns(case((is_repeat, Repeat.verdict), else_=first).label("verdict"))
        .join_from(Task, Rater, Rater.id == Task.rater_id)
        .join(Study, Study.id == Rater.study_id)
        .join(item, item.question_id == Task.question_id)
        .outerjoin(Repeat, and_(Repeat.task_id == Task.id, Repeat.judged_item_id == item.id))
        .outerjoin(Judgment, is_own)
        .where(
            Task.id == bindparam("task_id"),
            or_(and_(is_repeat, Repeat.task_id.is_not(None)), and_(~is_repeat, is_shown)),
        )
    )


def key(task: Task | Row[Any], number: int) -> str:
    """Return the name of a card or answer within a task: it reveals nothing and never changes.

    `number` is a judged item's, or minus an answer's. Sorting by the names shuffles, by the
    study's secret and for each rater and time anew (docs/decisions/0022).
    """
    study: Any = task.rater.study if isinstance(task, Task) else task
    drawn_for = task.rater_id, task.kind, number
    return pool.draw(study.order_secret, Purpose.CARDS, *drawn_for).hex()[:KEY_LENGTH]


def letter(number: int) -> str:
    """Return the name of the answer at `number`, counted from 0.

    >>> letter(0), letter(25), letter(26)
    ('A', 'Z', 'A2')
    """
    round_, place = divmod(number, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(round_ + 1) if round_ else "")


Among = Callable[[Unit], bool]
"""Whether a unit is one of those that are asked for."""


def lock(session: Session, rater: Rater) -> None:
    """Make the raters who are given questions of a study queue."""
    session.execute(select(Study.id).where(Study.id == rater.study_id).with_for_update())


def next_task(
    session: Session, rater: Rater, now: datetime, among: Among = lambda _unit: True
) -> Task | None:
    """Return the task the rater is at or comes next, given to them if need be, `among` some units.

    First a task they began, then a repeat that is due, then a unit given to too few raters or
    none, at last a task they put off. Two raters asking at once never exceed the overlap.
    """
    lock(session, rater)  # else two raters could be given the last place of one unit
    begun = begun_tasks(session, rater)
    tasks_among = [task for task in begun if among(Unit(task.question_id, task.run_id))]
    if tasks_among and tasks_among[0].postponed_at is None:
        return tasks_among[0]
    task = assign_next(session, rater, now, begun, among)
    if task is None and tasks_among:
        return tasks_among[0]
    return task


def assign_next(
    session: Session, rater: Rater, now: datetime, begun: Sequence[Task], among: Among
) -> Task | None:
    workload = _with_finished(session, rater, now)
    repeat = workloads.next_repeat(session, rater, workload, now, _open_units(begun), among)
    if repeat is not None:
        return repeat
    free = next(filter(among, workload.free), None)
    return pool.make_task(session, rater, free, POOL, now) if free is not None else None


def _with_finished(session: Session, rater: Rater, now: datetime) -> Workload:
    """Return the workload in which units finished elsewhere, in a run or a file, are given."""
    workload = workloads.of_rater(session, rater)
    finished = [unit for unit in workload.free if not workload.units[unit].is_open]
    # Before now, so that they come before a task that is given at this moment.
    for place, unit in enumerate(finished, start=-len(finished)):
        pool.make_task(session, rater, unit, POOL, now + timedelta(microseconds=place))
    return workloads.of_rater(session, rater) if finished else workload


def put_off(session: Session, rater: Rater, task_id: str, now: datetime) -> None:
    """Let a task come after all others of its rater; one that is done stays where it is."""
    events.lock(session, rater)
    task = find(session, rater, task_id)
    if not is_done(session, rater, task_id):
        task.postponed_at = now
        session.flush()


def prefetch(session: Session, rater: Rater, now: datetime, limit: int) -> list[Task]:
    """Return up to `limit` current and next tasks, given to the rater by now, to work offline."""
    lock(session, rater)
    begun = begun_tasks(session, rater)
    tasks = [task for task in begun if task.postponed_at is None][:limit]
    _with_finished(session, rater, now)
    # With an overlap a unit given ahead of time would be taken from another rater.
    while len(tasks) < limit and rater.study.overlap is None:
        workload = workloads.of_rater(session, rater)
        # A repeat that is due comes before a new unit, and is given only when it is shown.
        if not workload.free or workloads.ready(workload, _open_units(begun)):
            break
        given_at = now + timedelta(microseconds=len(tasks))  # they are read in this order
        tasks.append(pool.make_task(session, rater, workload.free[0], POOL, given_at))
    postponed = [task for task in begun if task.postponed_at is not None]
    return [*tasks, *postponed][:limit]


def find(session: Session, rater: Rater, task_id: str) -> Task:
    """Return a task of the rater; raises ``UnknownTask`` for another one's too."""
    task = session.get(Task, task_id)
    if task is None or task.rater_id != rater.id:
        raise UnknownTask(task_id)
    return task


def ids_of_rater(session: Session, rater: Rater) -> list[str]:
    """Return the ids of the rater's tasks in the order in which they were given."""
    rows = select(Task.id).where(Task.rater_id == rater.id)
    return list(session.scalars(rows.order_by(Task.claimed_at, Task.id)))


def of_question(
    session: Session, rater: Rater, run_ids: Sequence[str], position: int
) -> dict[str, str]:
    """Return the task in which the rater judges a question of the runs, by the id of each run."""
    is_of_unit = (Task.question_id == Query.question_id) & (
        Task.run_id.is_(None) | (Task.run_id == Query.run_id)
    )
    rows = select(Query.run_id, Task.id).join_from(Query, Question).join(Task, is_of_unit)
    rows = rows.where(Query.run_id.in_(run_ids), Question.position == position)
    own_rows = session.execute(rows.where(Task.rater_id == rater.id, Task.kind == POOL))
    return dict(own_rows.all())


def rated_openly(session: Session, rater: Rater) -> bool:
    """Whether the rater judged in runs, whose pages name the method, and never in a task."""
    own_events = select(Event.id).where(Event.rater_id == rater.id).limit(1)
    if session.scalar(own_events.where(Event.task_id.is_not(None))) is not None:
        return False
    return session.scalar(own_events.where(Event.query_key.is_not(None))) is not None


def cards(session: Session, task: Task | Row[Any]) -> list[Row[Any]]:
    """Return the items of a task that are cards, so not the emptiness of its question."""
    return [item for item in items_of(session, task) if item.item_id is not None]


def is_done(session: Session, rater: Rater, task_id: str) -> bool:
    """Whether nothing is left to do in a task."""
    still_open = select(Task.id).where(Task.id == task_id, is_open(rater.study))
    return session.scalar(still_open) is None


def is_open(study: Study) -> ColumnElement[bool]:
    """Return the condition on ``Task`` that its rater has something left to do in it.

    A statement nested twice correlates its ``Task`` with the outermost one: SQLAlchemy by itself
    goes one level up only, and would take any rater's verdict for this rater's.
    """
    return _is_open(study.id, study.pool_depth)


@lru_cache
def _is_open(study_id: int, depth: int | None) -> ColumnElement[bool]:
    # Built once, since SQLAlchemy takes long over it and every next question asks it twice.
    verdict = exists().where(
        *(Judgment.rater_id == Task.rater_id, Judgment.judged_item_id == JudgedItem.id),
        *(Judgment.verdict.is_not(None), ~asked_again.hides(Judgment)),
    )
    grade = exists().where(
        *(QueryRating.rater_id == Task.rater_id, QueryRating.query_key == Query.id),
        *(QueryRating.quality.is_not(None), ~asked_again.hides(QueryRating)),
    )
    is_shown = and_(pool.in_unit(Task), pool.is_shown(study_id, depth))
    asks_grade = pool.answers_in(study_id, Task), Query.asks_quality, Run.id == Query.run_id
    unjudged = exists().where(is_shown, ~verdict.correlate(Task, JudgedItem))
    unrated = exists().where(*asks_grade, ~grade.correlate(Task, Query))
    is_pool_open = and_(Task.kind == POOL, or_(unjudged, unrated))
    return or_(is_pool_open, and_(Task.kind == REPEAT, workloads.is_open()))


def open_ids(session: Session, rater: Rater) -> set[str]:
    """Return the ids of the rater's tasks in which something is left to do."""
    rows = select(Task.id).where(Task.rater_id == rater.id, is_open(rater.study))
    return set(session.scalars(rows))


def begun_tasks(session: Session, rater: Rater) -> Sequence[Task]:
    is_late = case((Task.postponed_at.is_(None), 0), else_=1)
    rows = select(Task).where(
        Task.rater_id == rater.id, is_open(rater.study), is_put_to_raters(Task.question_id)
    )
    order = is_late, Task.postponed_at, Task.claimed_at, Task.id
    return session.scalars(rows.order_by(*order)).all()


def _open_units(begun: Sequence[Task]) -> set[Unit]:
    return {Unit(task.question_id, task.run_id) for task in begun if task.kind == POOL}
