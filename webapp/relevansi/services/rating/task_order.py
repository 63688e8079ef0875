"""The way of a blind rater through tasks: the place of each, and which one is next."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from msgspec import Struct
from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.services.rating import pool, workloads
from relevansi.services.rating.pool import QueryFilter, Unit
from relevansi.services.rating.tasks import (
    Among,
    assign_next,
    begun_tasks,
    find,
    lock,
    next_task,
    open_ids,
)
from relevansi.services.rating.workloads import GivenTask, Progress, Workload

EVERYTHING = QueryFilter()


class TaskPlace(Struct, frozen=True):
    """The place of a task among those the rater was given, and the ways from it.

    ``position`` is ``None`` for a question that nobody is asked any more. ``leads_further``: after
    the last a new one can be given. ``is_left``: something within the filter is open.
    """

    position: int | None
    previous: str | None
    next: str | None
    leads_further: bool
    is_left: bool


def place(
    session: Session,
    rater: Rater,
    workload: Workload,
    progress: Progress,
    task_id: str,
    query_filter: QueryFilter = EVERYTHING,
) -> TaskPlace:
    """Return the place of a task within a filter, and the ways from it."""
    at = _at(workload, task_id)
    is_task_shown, unit_shown = _conditions(session, rater, query_filter)
    later = next(filter(is_task_shown, workload.tasks[at + 1 :]), None)
    earlier = next(filter(is_task_shown, reversed(workload.tasks[:at])), None)
    is_more, is_left = progress.of > len(workload.tasks), progress.turns_left > 0
    if query_filter.category:
        is_more = any(map(unit_shown, (*workload.free, *workload.planned)))
        opened = open_ids(session, rater)
        is_left = is_more or any(
            unit_shown(task.unit) for task in workload.tasks if task.task_id in opened
        )
    return TaskPlace(
        position=at + 1 if at < len(workload.tasks) else None,
        previous=earlier and earlier.task_id,
        next=later and later.task_id,
        leads_further=later is None and is_more,
        is_left=is_left,
    )


def onward(
    session: Session,
    rater: Rater,
    now: datetime,
    query_filter: QueryFilter,
    after: str | None = None,
) -> str | None:
    """Return the id of the task to go to within a filter; ``None`` if there is none.

    `after` a task it is the next one that was given, or a new one; else the next one to do. In a
    category with nothing left to do it is the first that was given.
    """
    lock(session, rater)
    is_task_shown, unit_shown = _conditions(session, rater, query_filter)
    if after is not None:
        find(session, rater, after)
        workload = workloads.of_rater(session, rater)
        later = next(filter(is_task_shown, workload.tasks[_at(workload, after) + 1 :]), None)
        if later is not None:
            return later.task_id
        begun = begun_tasks(session, rater)
        further = assign_next(session, rater, now, begun, unit_shown)
        if further is not None:
            return further.id
    task = next_task(session, rater, now, unit_shown)
    if task is not None:
        return task.id
    if not query_filter.category:
        return None
    for given_task in workloads.of_rater(session, rater).tasks:
        if unit_shown(given_task.unit):
            return given_task.task_id
    return None


def _at(workload: Workload, task_id: str) -> int:
    """Return the index of a task, that behind the last for one of a question not asked any more."""
    task_ids = [task.task_id for task in workload.tasks]
    return task_ids.index(task_id) if task_id in task_ids else len(task_ids)


def _conditions(
    session: Session, rater: Rater, query_filter: QueryFilter
) -> tuple[Callable[[GivenTask], bool], Among]:
    """Return whether a task, and whether a unit, is within a filter, as functions."""
    categories = pool.categories(session, rater.study) if query_filter.category else {}
    open_tasks = open_ids(session, rater) if query_filter.only_open else set()

    def unit_shown(unit: Unit) -> bool:
        category = query_filter.category
        return not category or categories.get(unit.question_id) == category

    def is_task_shown(task: GivenTask) -> bool:
        return (not query_filter.only_open or task.task_id in open_tasks) and unit_shown(task.unit)

    return is_task_shown, unit_shown
