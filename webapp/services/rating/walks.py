"""How a blind rater moves between questions: on, back, on to a new one, within a filter."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from msgspec import Struct
from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.services.rating import pool, shares, tasks
from webapp.services.rating.pages import QueryFilter
from webapp.services.rating.pool import Unit
from webapp.services.rating.progress import Progress
from webapp.services.rating.shares import Given, StudyShare

EVERYTHING = QueryFilter()


class TaskPlace(Struct, frozen=True):
    """The place of a task among those the rater was given, and the ways from it.

    ``position`` is 1-based among all of them, ``None`` for a question that nobody is asked any
    more. ``previous`` and ``next`` are the ids of the
    nearest tasks that the filter lets through; ``leads_further``: after the last of
    these a new one can be given. ``is_left``: something within the filter is open.
    """

    position: int | None
    previous: str | None
    next: str | None
    leads_further: bool
    is_left: bool


def place(
    session: Session,
    rater: Rater,
    share: StudyShare,
    progress: Progress,
    task_id: str,
    wanted: QueryFilter = EVERYTHING,
) -> TaskPlace:
    """Return the place of one of the rater's tasks; `progress` is theirs in `share`."""
    at = _at(share, task_id)
    shown = _shown(session, rater, wanted)
    next_one = next(filter(shown, share.given[at + 1 :]), None)
    is_more, is_left = progress.of > len(share.given), progress.left > 0
    if wanted.category:
        unit_shown = _unit_shown(session, rater, wanted)
        planned = (one.unit for one in share.planned)
        is_more = any(map(unit_shown, (*share.free, *planned)))
        opened = tasks.open_ids(session, rater)
        begun = (one.unit for one in share.given if one.task_id in opened)
        is_left = is_more or any(map(unit_shown, begun))
    previous = next(filter(shown, reversed(share.given[:at])), None)
    return TaskPlace(
        position=at + 1 if at < len(share.given) else None,
        previous=previous.task_id if previous else None,
        next=next_one.task_id if next_one else None,
        leads_further=next_one is None and is_more,
        is_left=is_left,
    )


def categories(session: Session, rater: Rater, share: StudyShare) -> tuple[str, ...]:
    """Return the categories of all questions in the rater's share, in question order."""
    of = pool.categories(session, rater.study)
    mine = {one.unit for one in share.given} | set(share.free)
    return tuple(dict.fromkeys(of[unit.question_id] for unit in share.units if unit in mine))


def onward(
    session: Session, rater: Rater, now: datetime, wanted: QueryFilter, after: str | None = None
) -> str | None:
    """Return the id of the task to go to within a filter; ``None`` if there is none.

    `after` a task it is the next one that was given, or a new one while the study's rules
    allow it; else, and without `after`, the next one to do. In a category with nothing
    left to do it is the first that was given.
    """
    tasks.lock(session, rater)
    unit_shown = _unit_shown(session, rater, wanted)
    if after is not None:
        tasks.find(session, rater, after)
        share = shares.share(session, rater)
        at = _at(share, after)
        later = next(filter(_shown(session, rater, wanted), share.given[at + 1 :]), None)
        if later is not None:
            return later.task_id
        new = tasks.new(session, rater, now, unit_shown)
        if new is not None:
            return new.id
    task = tasks.next_task(session, rater, now, unit_shown)
    if task is not None or not wanted.category:
        return task.id if task is not None else None
    given = shares.share(session, rater).given
    return next((one.task_id for one in given if unit_shown(one.unit)), None)


def _at(share: StudyShare, task_id: str) -> int:
    """Return the index of a task among those given; after them all if nobody is asked it."""
    given = [one.task_id for one in share.given]
    return given.index(task_id) if task_id in given else len(given)


def _shown(session: Session, rater: Rater, wanted: QueryFilter) -> Callable[[Given], bool]:
    """Return whether the filter lets a given task through."""
    unit_shown = _unit_shown(session, rater, wanted)
    if not wanted.only_open:
        return lambda given: unit_shown(given.unit)
    opened = tasks.open_ids(session, rater)
    return lambda given: given.task_id in opened and unit_shown(given.unit)


def _unit_shown(session: Session, rater: Rater, wanted: QueryFilter) -> Callable[[Unit], bool]:
    """Return whether a unit is of the category that the filter names."""
    if not wanted.category:
        return lambda _unit: True
    of = pool.categories(session, rater.study)
    return lambda unit: of.get(unit.question_id) == wanted.category
