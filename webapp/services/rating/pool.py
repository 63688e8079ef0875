"""The pool of a study: everything to judge, each distinct thing once, and each rater's share.

A unit is everything to judge about one question, from all runs; a question
that depends on its conversation is one unit per run. Giving a unit to a rater makes a task.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy import (
    ColumnElement,
    Engine,
    Exists,
    Integer,
    Select,
    SQLColumnExpression,
    and_,
    bindparam,
    case,
    cast,
    exists,
    func,
    or_,
    select,
)
from sqlalchemy.orm import Session

from webapp.db.connection import tables
from webapp.db.tables.judging import JudgedThing, Judgment, StoredSummary
from webapp.db.tables.people import LogEntry, Rater
from webapp.db.tables.rating import Task
from webapp.db.tables.runs import Query, Result, Run, RunFile
from webapp.db.tables.study import Question, QuestionSet, Study
from webapp.records import QueryState
from webapp.services.judging import live_metrics
from webapp.services.rating import orders
from webapp.services.rating.orders import Purpose
from webapp.services.study import assignments
from webapp.services.study.unasked import is_put_to_raters

POOL, REPEAT = "pool", "repeat"
"""The kinds of tasks: a unit for the first time, and the same once more."""
TASK_ID_BYTES = 9
DEEPEST = 2**31 - 1
MOST_NAMED = 5_000
"""The most questions named in one statement, since databases limit its parameters."""
MOST_KEPT = 32
"""So many studies have their counts kept, for each database."""
_kept: WeakKeyDictionary[Engine, dict[tuple[Any, ...], dict[Unit, int]]] = WeakKeyDictionary()


class Unit(NamedTuple):
    """Everything to judge about one question; ``run_id`` where its conversation matters.

    A tuple, since thousands are looked up whenever a page shows its rater's progress.
    """

    question_id: int
    run_id: str | None = None


class UnitProgress(NamedTuple):
    """How far one rater is with a unit.

    ``is_open``: a listed thing is unjudged, also below the pool's depth. ``is_begun``: one is
    judged. ``unrated`` of its ``answers`` lack their quality.
    """

    is_open: bool
    is_begun: bool
    unrated: int
    answers: int


class Given(NamedTuple):
    """A unit that a rater was given as a task; ``kind`` is whether for the first time.

    ``postponed_at`` is when they put it off, if they did.
    """

    task_id: str
    unit: Unit
    kind: str
    postponed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class StudyShare:
    """One rater's share of a study.

    ``given`` is in the order of giving, ``free`` in the order in which the rater would be
    given it. ``units`` are all of the study, with the rater's progress in each.
    """

    given: tuple[Given, ...]
    free: tuple[Unit, ...]
    units: Mapping[Unit, UnitProgress]

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


def units(session: Session, rater: Rater) -> dict[Unit, UnitProgress]:
    """Return every unit of the rater's study in the order of the questions, and how far they are.

    The stored summaries are read; the things themselves need not be. Questions that are not asked
    have no unit.
    """
    values = {"rater_id": rater.id, "study_id": rater.study_id}
    rows = tables(session).execute(_units(), values).all()
    return {
        Unit(question_id, run_id): UnitProgress(bool(is_open), bool(is_begun), unrated, answers)
        for question_id, run_id, is_open, is_begun, unrated, answers in rows
    }


@cache
def _units() -> Select[*tuple[Any, ...]]:
    """Return the statement behind ``units``: a unit without a readable answer is none.

    The joins are outer ones so that SQLite keeps their order and no answer's text is passed.
    """
    row = StoredSummary
    begun = or_(row.judged_count > 0, row.empty_outcome.is_not(None))
    run_id = case((Question.context_dependent, row.run_id), else_=None).label("unit_run")
    sets = select(QuestionSet.id).where(QuestionSet.study_id == bindparam("study_id"))
    answers = _sum(row.state != str(QueryState.UNREADABLE))
    return (
        select(
            Question.id,
            run_id,
            _any(row.open_judgments > 0),
            _any(begun),
            _sum(live_metrics.is_unrated(row)),
            answers,
        )
        .join_from(Question, Query, Query.question_id == Question.id, isouter=True)
        .join(
            row,
            and_(row.query_key == Query.id, row.rater_id == bindparam("rater_id")),
            isouter=True,
        )
        .where(Question.question_set_id.in_(sets), is_put_to_raters(Question.id))
        .group_by(Question.position, Question.id, run_id)
        .having(answers > 0)
        .order_by(Question.position, Question.id, run_id)
    )


def _any(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.max(case((condition, 1), else_=0))


def _sum(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return cast(func.sum(case((condition, 1), else_=0)), Integer)


def categories(session: Session, study: Study) -> dict[int, str]:
    """Return the category of every question of a study, by the question's id."""
    sets = select(QuestionSet.id).where(QuestionSet.study_id == study.id)
    rows = select(Question.id, Question.category).where(Question.question_set_id.in_(sets))
    return dict(session.execute(rows).all())


def sizes(session: Session, study: Study, wanted: Collection[Unit]) -> dict[Unit, int]:
    """Return how many verdicts each of these units asks for.

    No click changes that, but counting 300 questions of 3 runs takes a fifth of one. So counts are
    kept while the study has the same runs, files and log.
    """
    if not wanted:
        return {}
    connection = tables(session)
    now = connection.execute(_changes(), {"study_id": study.id}).one()
    kept = _kept.setdefault(connection.engine, {})
    found = kept.get(key := (study.id, study.pool_depth, *now))
    if found is None:
        sets = select(QuestionSet.id).where(QuestionSet.study_id == study.id)
        questions = session.scalars(select(Question.id).where(Question.question_set_id.in_(sets)))
        if len(kept) >= MOST_KEPT:
            kept.clear()
        found = kept[key] = _counted(session, study, questions.all(), None)
    return {unit: found.get(unit, 0) for unit in wanted}


@cache
def _changes() -> Select[*tuple[Any, ...]]:
    """Return the statement whose row differs once a study's runs list something else."""
    # Every import stores a file, and whatever else an owner does to a run is logged.
    runs = select(Run.id).where(Run.study_id == bindparam("study_id")).order_by(Run.id).subquery()
    named = select(func.aggregate_strings(runs.c.id, ",")).scalar_subquery()
    stored = select(func.count()).where(RunFile.run_id == runs.c.id).scalar_subquery()
    logged = select(func.count()).where(LogEntry.study_id == bindparam("study_id"))
    return select(named, stored, logged.scalar_subquery())


def left(session: Session, rater: Rater, wanted: Collection[Unit]) -> dict[Unit, int]:
    """Return how many verdicts one rater has still to give in each of these units."""
    found = _counted(session, rater.study, sorted({unit.question_id for unit in wanted}), rater.id)
    return {unit: found.get(unit, 0) for unit in wanted}


def _counted(
    session: Session, study: Study, questions: Sequence[int], rater_id: int | None
) -> dict[Unit, int]:
    statement = _counts(deep=study.pool_depth is None, unjudged=rater_id is not None)
    found: dict[Unit, int] = {}
    for start in range(0, len(questions), MOST_NAMED):
        named = questions[start : start + MOST_NAMED]
        values = {"questions": named, "depth": study.pool_depth, "rater_id": rater_id}
        rows = tables(session).execute(statement, values)
        found |= {Unit(question_id, run_id): count for question_id, run_id, count in rows}
    return found


@cache
def _counts(*, deep: bool, unjudged: bool = False) -> Select[*tuple[Any, ...]]:
    """Return the statement that counts the things of units: all, or the unjudged ones.

    Only runs of a study list its questions' things, so the runs need not be read.
    """
    thing = JudgedThing
    listed = exists().where(Result.judged_thing_id == thing.id)
    if not deep:
        listed = listed.where(Result.rank <= bindparam("depth"))
    shown = or_(listed, exists().where(Query.emptiness_id == thing.id))
    named = thing.question_id.in_(bindparam("questions", expanding=True))
    statement = select(thing.question_id, thing.run_id, func.count()).where(shown, named)
    if unjudged:
        said = exists().where(
            Judgment.rater_id == bindparam("rater_id"),
            Judgment.judged_thing_id == thing.id,
            Judgment.verdict.is_not(None),
        )
        statement = statement.where(~said.correlate(thing))
    return statement.group_by(thing.question_id, thing.run_id)


def is_shown(study: Study) -> ColumnElement[bool]:
    """Return the condition on ``JudgedThing`` that the study's runs show it or left it empty.

    Only ranks within the pool's depth count. It is asked of each thing by itself, so that a
    question costs the same in a study of any size.
    """
    return _is_shown(study.id, _depth(study))


def is_listed() -> ColumnElement[bool]:
    """Return the condition on (``JudgedThing``, ``Study``) that a run lists it.

    For things of a unit: only runs of its study list them, so the runs need not be read.
    """
    # Without a depth no result row is read: its index has the thing it shows.
    in_pool = or_(Study.pool_depth.is_(None), Result.rank <= Study.pool_depth)
    listed = exists().where(Result.judged_thing_id == JudgedThing.id, in_pool)
    return listed.correlate(JudgedThing, Study)


def is_asked() -> ColumnElement[bool]:
    """Return the condition on (``JudgedThing``, ``Study``) that ``is_shown`` is, in a unit."""
    return or_(is_listed(), _is_empty(Study.id).correlate(JudgedThing, Study))


def _depth(study: Study) -> int:
    return DEEPEST if study.pool_depth is None else study.pool_depth


def _is_shown(
    study_id: int | SQLColumnExpression[int], depth: int | SQLColumnExpression[int]
) -> ColumnElement[bool]:
    listed, empty = _is_listed(study_id, depth), _is_empty(study_id)
    return or_(listed.correlate(JudgedThing), empty.correlate(JudgedThing))


def _is_empty(study_id: int | SQLColumnExpression[int]) -> Exists:
    return exists().where(
        Query.emptiness_id == JudgedThing.id, Run.id == Query.run_id, Run.study_id == study_id
    )


def _is_listed(
    study_id: int | SQLColumnExpression[int], depth: int | SQLColumnExpression[int]
) -> Exists:
    return exists().where(
        Result.judged_thing_id == JudgedThing.id,
        Result.rank <= depth,
        Query.id == Result.query_key,
        Run.id == Query.run_id,
        Run.study_id == study_id,
    )


def in_unit(unit: Unit | Task | type[Task]) -> ColumnElement[bool]:
    """Return the condition on ``JudgedThing`` that it belongs to `unit`."""
    return and_(
        JudgedThing.question_id == unit.question_id,
        JudgedThing.run_id.is_not_distinct_from(unit.run_id),
    )


def answers_in(study: Study | type[Study], unit: Unit | Task | type[Task]) -> ColumnElement[bool]:
    """Return the condition on (``Query``, ``Run``) that an answer belongs to `unit`.

    Every readable one asks for its quality: an empty list and a failed call too.
    """
    return and_(
        Query.question_id == unit.question_id,
        Run.study_id == study.id,
        Query.state != str(QueryState.UNREADABLE),
        Query.run_id == func.coalesce(unit.run_id, Query.run_id),
    )


def share(session: Session, rater: Rater) -> StudyShare:
    """Return the units the rater was given and those they could still be given.

    A unit is free if it is assigned to them, not given to them yet, and given to fewer raters
    than the overlap.
    """
    rows = tables(session).execute(_given(), {"rater_id": rater.id}).all()
    given = [Given(name, Unit(*unit), kind, late) for name, *unit, kind, late in rows]
    found = units(session, rater)
    own = assignments.assigned(session, rater)
    mine = {one.unit for one in given}
    gone = _taken(session, rater.study)
    free = (
        unit
        for unit in _ordered(found, rater)
        if unit not in mine and unit not in gone and (own is None or unit.question_id in own)
    )
    return StudyShare(tuple(given), tuple(free), found)


@cache
def _given() -> Select[*tuple[Any, ...]]:
    """Return the statement over a rater's tasks in the order of giving, without those not asked."""
    columns = select(Task.id, Task.question_id, Task.run_id, Task.kind, Task.postponed_at)
    own = columns.where(Task.rater_id == bindparam("rater_id"), is_put_to_raters(Task.question_id))
    return own.order_by(Task.claimed_at, Task.id)


def _taken(session: Session, study: Study) -> set[Unit]:
    """Return the units that as many raters were given as the study's overlap allows."""
    if study.overlap is None:
        return set()
    rows = select(Task.question_id, Task.run_id, func.count()).where(Task.kind == POOL)
    counts = session.execute(rows.group_by(Task.question_id, Task.run_id))
    return {Unit(question, run) for question, run, raters in counts if raters >= study.overlap}


def give(session: Session, rater: Rater, unit: Unit, kind: str, now: datetime) -> Task:
    """Return the task that makes a unit the rater's."""
    task = Task(
        id=secrets.token_urlsafe(TASK_ID_BYTES),
        rater=rater,
        question_id=unit.question_id,
        run_id=unit.run_id,
        kind=kind,
        claimed_at=now,
    )
    session.add(task)
    session.flush()
    return task


def _ordered(found: Iterable[Unit], rater: Rater) -> list[Unit]:
    if not rater.study.shuffle_questions:
        return list(found)
    secret = rater.study.order_secret
    return sorted(found, key=lambda unit: orders.draw(secret, Purpose.QUESTIONS, rater.id, *unit))
