"""A rater's share of the pool: the units given to them, those still to be given, and how far.

A page asks for the whole share and a click changes one question of it, so a share is kept between
clicks: newer events name the questions to read again, and newer tasks are put in their place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    and_,
    bindparam,
    case,
    cast,
    func,
    or_,
    select,
)
from sqlalchemy.orm import Session

from webapp.db.connection import tables
from webapp.db.kept import Kept
from webapp.db.tables.judging import StoredSummary
from webapp.db.tables.people import Rater
from webapp.db.tables.rating import Task
from webapp.db.tables.runs import Query
from webapp.db.tables.study import Question, QuestionSet, Study
from webapp.records import QueryState
from webapp.services.judging import changes, live_metrics
from webapp.services.judging.changes import Changes
from webapp.services.rating import asked_again, orders, pool, repeat_plan
from webapp.services.rating.orders import Purpose
from webapp.services.rating.pool import POOL, REPEAT, Unit
from webapp.services.rating.repeat_plan import Planned
from webapp.services.study import assignments, studies
from webapp.services.study.unasked import is_put_to_raters

MOST_KEPT = 128
"""So many raters have their shares kept, for each database."""
MOST_AGAIN = 20
"""Where the rater changed more questions since, all are read again at once."""


class UnitProgress(NamedTuple):
    """How far one rater is with a unit.

    ``open_judgments`` verdicts of its ``judgments`` are still to be given, and ``unrated`` of its
    ``answers`` lack their quality. ``open_lists`` and ``lists`` are the verdicts among them on
    empty lists: one at most. A tuple, since a share has thousands.
    """

    open_judgments: int
    judgments: int
    unrated: int
    answers: int
    open_lists: int = 0
    lists: int = 0

    @property
    def is_open(self) -> bool:
        """Whether something of the unit is left to do."""
        return self.open_judgments > 0 or self.unrated > 0


class Given(NamedTuple):
    """A unit that a rater was given as a task; ``kind`` is whether for the first time.

    ``postponed_at`` is when they put it off, if they did.
    """

    task_id: str
    unit: Unit
    kind: str
    postponed_at: datetime | None = None


class StudyShare(Struct, frozen=True):
    """One rater's share of a study.

    ``given`` is in the order of giving, ``free`` in the order in which the rater would be
    given it. ``units`` are all of the study, with the rater's progress in each. ``planned`` are
    the repeats still to be given, the earliest first.
    """

    given: tuple[Given, ...]
    free: tuple[Unit, ...]
    units: Mapping[Unit, UnitProgress]
    planned: tuple[Planned, ...] = ()

    @property
    def first_time(self) -> list[Unit]:
        """The units given for the first time, in the order of giving."""
        return [given.unit for given in self.given if given.kind == POOL]

    @property
    def in_order(self) -> list[Unit]:
        """All units of the share in the order of work: those put off come last."""
        own = [given for given in self.given if given.kind == POOL]
        late = [(given.postponed_at, given.unit) for given in own if given.postponed_at]
        at_once = [given.unit for given in own if not given.postponed_at]
        return [*at_once, *self.free, *(unit for _, unit in sorted(late, key=itemgetter(0)))]

    @property
    def postponed(self) -> set[Unit]:
        """The units that were put off when they were given for the first time."""
        return {one.unit for one in self.given if one.kind == POOL and one.postponed_at}

    @property
    def again(self) -> set[Unit]:
        """The units given once more."""
        return {given.unit for given in self.given if given.kind == REPEAT}


class _KeptShare(NamedTuple):
    """A share, and all that decided it: a difference in one of them makes another share."""

    changes: Changes
    tasks: tuple[object, ...]
    share: StudyShare


_kept = Kept[int, _KeptShare](MOST_KEPT)


def share(session: Session, rater: Rater) -> StudyShare:
    """Return the units the rater was given and those they could still be given.

    A unit is free if it is assigned to them, not given to them yet, and given to fewer raters
    than the overlap.
    """
    before = _kept.get(session, rater.id)
    now = changes.since(session, rater, before.changes if before else None)
    *given, overlap = tables(session).execute(_tasks_mark(), {"rater_id": rater.id}).one()
    is_asked_again = given[-1] is not None and studies.is_blind(session, rater.study)
    taken = _taken(session, overlap)
    tasks = *given, taken
    if before is None or now.touched is None or len(now.touched) > MOST_AGAIN:
        units = _units(session, rater, now.revision, again=is_asked_again)
        found = _share(session, rater, units, taken)
    else:
        units = {**before.share.units}
        for question in now.touched:
            units |= _units(session, rater, now.revision, question, again=is_asked_again)
        if before.tasks == tasks:
            found = replace(before.share, units=units)
        else:
            found = _share(session, rater, units, taken)
    _kept.put(session, rater.id, _KeptShare(now, tasks, found))
    return found


def _share(
    session: Session, rater: Rater, units: Mapping[Unit, UnitProgress], taken: Collection[Unit]
) -> StudyShare:
    rows = tables(session).execute(_given(), {"rater_id": rater.id}).all()
    given = tuple(Given(name, Unit(*unit), kind, late) for name, *unit, kind, late in rows)
    own = assignments.assigned(session, rater)
    mine = {one.unit for one in given}
    free = tuple(
        unit
        for unit in _ordered(units, rater)
        if unit not in mine and unit not in taken and (own is None or unit.question_id in own)
    )
    share = StudyShare(given, free, units)
    return replace(share, planned=repeat_plan.planned(rater, share.in_order, units, share.again))


@cache
def _tasks_mark() -> Select[*tuple[Any, ...]]:
    """Return the statement whose row differs once a rater's tasks do.

    It ends with when one was last asked again, and the study's overlap.
    """
    given = func.count(), func.max(Task.claimed_at)
    postponed = func.count(Task.postponed_at), func.max(Task.postponed_at)
    mine = Rater.id == bindparam("rater_id")
    overlap = select(Study.overlap).join(Rater, Rater.study_id == Study.id).where(mine)
    asked_again = func.max(Task.asked_again_at)
    marks = select(*given, *postponed, asked_again, overlap.scalar_subquery())
    return marks.where(Task.rater_id == bindparam("rater_id"))


@cache
def _given() -> Select[*tuple[Any, ...]]:
    """Return the statement over a rater's tasks in the order of giving, without those not asked."""
    columns = select(Task.id, Task.question_id, Task.run_id, Task.kind, Task.postponed_at)
    own = columns.where(Task.rater_id == bindparam("rater_id"), is_put_to_raters(Task.question_id))
    return own.order_by(Task.claimed_at, Task.id)


def _taken(session: Session, overlap: int | None) -> frozenset[Unit]:
    """Return the units that were given to as many raters as the study's overlap allows."""
    if overlap is None:
        return frozenset()
    rows = select(Task.question_id, Task.run_id, func.count()).where(Task.kind == POOL)
    counts = session.execute(rows.group_by(Task.question_id, Task.run_id))
    return frozenset(Unit(question, run) for question, run, raters in counts if raters >= overlap)


def _ordered(units: Iterable[Unit], rater: Rater) -> list[Unit]:
    if not rater.study.shuffle_questions:
        return list(units)
    secret, rater_id = rater.study.order_secret, rater.id
    return sorted(units, key=lambda unit: orders.draw(secret, Purpose.QUESTIONS, rater_id, *unit))


def _units(
    session: Session, rater: Rater, revision: str, question: int | None = None, *, again: bool
) -> dict[Unit, UnitProgress]:
    """Return the progress in each unit of the rater's study, in the order of the questions.

    The stored summaries are read; things are counted only in units that were begun. Questions that
    are not asked have no unit. With `question` only its units are returned. `again`: the rater has
    questions that are asked again.
    """
    values = {"rater_id": rater.id, "study_id": rater.study_id, "question": question}
    statement = _summed(of_one=question is not None)
    rows = tables(session).execute(statement, values).all()
    begun = [
        Unit(question_id, run_id)
        for question_id, run_id, is_open, is_begun, *_ in rows
        if is_open and is_begun
    ]
    left = pool.left(session, rater, begun)
    openly = asked_again.left(session, rater, question) if again else {}
    sizes = pool.sizes(session, rater.study_id, revision)
    found = {}
    for question_id, run_id, is_open, _, unrated, answers, open_lists, lists in rows:
        unit = Unit(question_id, run_id)
        judgments = sizes.get(unit, 0)
        still_open = left.get(unit, judgments) if is_open else 0
        verdicts, grades, openly_empty = openly.get(unit, (0, 0, 0))
        found[unit] = UnitProgress(
            still_open + verdicts,
            judgments,
            unrated + grades,
            answers,
            open_lists + openly_empty,
            lists,
        )
    return found


@cache
def _summed(*, of_one: bool) -> Select[*tuple[Any, ...]]:
    """Return the statement behind ``_units``; without a readable answer it finds no unit.

    ``is_open``: a listed thing is unjudged, also below the pool's depth; ``is_begun``: one is
    judged. The joins are outer ones so that SQLite keeps their order and no answer's text is
    passed.
    """
    row = StoredSummary
    begun = or_(row.judged_count > 0, row.empty_outcome.is_not(None))
    is_empty = row.state == str(QueryState.EMPTY)
    run_id = case((Question.context_dependent, row.run_id), else_=None).label("unit_run")
    if of_one:
        asked: ColumnElement[bool] = Question.id == bindparam("question")
    else:
        sets = select(QuestionSet.id).where(QuestionSet.study_id == bindparam("study_id"))
        asked = Question.question_set_id.in_(sets)
    answers = _sum(row.state != str(QueryState.UNREADABLE)).label("answers")
    return (
        select(
            Question.id,
            run_id,
            _any(row.open_judgments > 0).label("is_open"),
            _any(begun).label("is_begun"),
            _sum(live_metrics.is_unrated(row)).label("unrated"),
            answers,
            _any(is_empty & row.empty_outcome.is_(None)).label("open_lists"),
            _any(is_empty).label("lists"),
        )
        .join_from(Question, Query, Query.question_id == Question.id, isouter=True)
        .join(
            row,
            and_(row.query_key == Query.id, row.rater_id == bindparam("rater_id")),
            isouter=True,
        )
        .where(asked, is_put_to_raters(Question.id))
        .group_by(Question.position, Question.id, run_id)
        .having(answers > 0)
        .order_by(Question.position, Question.id, run_id)
    )


def _any(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.max(case((condition, 1), else_=0))


def _sum(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return cast(func.sum(case((condition, 1), else_=0)), Integer)
