"""What there is to judge in a study, each distinct thing once, and whose share of it is what.

A unit is everything to judge about one question, whichever runs returned it; a question
that depends on its conversation is one unit per run. Giving a unit to a rater makes a task.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from sqlalchemy import (
    ColumnElement,
    Exists,
    SQLColumnExpression,
    and_,
    exists,
    func,
    or_,
    select,
)
from sqlalchemy.orm import Session

from webapp.db.models import JudgedThing, Query, Question, Rater, Result, Run, Study, Task
from webapp.records import QueryState
from webapp.services import assignments

POOL, REPEAT = "pool", "repeat"
"""The kinds of tasks: a unit for the first time, and the same once more."""
TASK_ID_BYTES = 9
DEEPEST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Unit:
    """Everything to judge about one question; ``run_id`` where its conversation matters."""

    question_id: int
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """A unit that a rater was given; ``kind`` says whether for the first time."""

    unit: Unit
    kind: str


@dataclass(frozen=True, slots=True)
class Share:
    """What of a study is one rater's.

    ``given`` is in the order of giving, ``free`` in the order in which the rater would be
    given it. ``sizes`` has the verdicts that each unit of the study asks for.
    """

    given: tuple[Given, ...]
    free: tuple[Unit, ...]
    sizes: Mapping[Unit, int]

    @property
    def first_time(self) -> list[Unit]:
        """The units given for the first time, in the order of giving."""
        return [given.unit for given in self.given if given.kind == POOL]

    @property
    def again(self) -> set[Unit]:
        """The units given once more."""
        return {given.unit for given in self.given if given.kind == REPEAT}


def sizes(session: Session, study: Study) -> dict[Unit, int]:
    """Return how many verdicts each unit asks for, in the order of the questions."""
    rows = session.execute(
        select(JudgedThing.question_id, JudgedThing.run_id, func.count())
        .join(Question, Question.id == JudgedThing.question_id)
        .where(is_shown(study))
        .group_by(JudgedThing.question_id, JudgedThing.run_id, Question.position)
        .order_by(Question.position, JudgedThing.question_id, JudgedThing.run_id)
    )
    return {Unit(question_id, run_id): count for question_id, run_id, count in rows}


def is_shown(study: Study) -> ColumnElement[bool]:
    """Return the condition on ``JudgedThing`` that the study's runs show it or left it empty.

    Only ranks within the pool's depth count. It is asked of each thing by itself, so that a
    question costs the same in a study of any size.
    """
    empty = exists().where(
        Query.emptiness_id == JudgedThing.id, Run.id == Query.run_id, Run.study_id == study.id
    )
    listed = _is_listed(study.id, DEEPEST if study.pool_depth is None else study.pool_depth)
    return or_(listed.correlate(JudgedThing), empty.correlate(JudgedThing))


def is_listed() -> ColumnElement[bool]:
    """Return the condition on (``JudgedThing``, ``Study``) that a run of the study lists it."""
    listed = _is_listed(Study.id, func.coalesce(Study.pool_depth, DEEPEST))
    return listed.correlate(JudgedThing, Study)


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


def answers_in(study: Study, unit: Unit | Task | type[Task]) -> ColumnElement[bool]:
    """Return the condition on (``Query``, ``Run``) that an answer belongs to `unit`."""
    return and_(
        Query.question_id == unit.question_id,
        Run.study_id == study.id,
        Query.state == str(QueryState.RESULTS),
        Query.run_id == func.coalesce(unit.run_id, Query.run_id),
    )


def share(session: Session, rater: Rater) -> Share:
    """Return what the rater was given and what they could still be given.

    Free is what is assigned to them, they do not have and fewer raters than the overlap have.
    """
    study = rater.study
    taken: Counter[Unit] = Counter()
    given = []
    rows = select(Task.rater_id, Task.question_id, Task.run_id, Task.kind)
    for rater_id, question_id, run_id, kind in session.execute(
        rows.order_by(Task.claimed_at, Task.id)
    ):
        unit = Unit(question_id, run_id)
        taken[unit] += kind == POOL
        if rater_id == rater.id:
            given.append(Given(unit, kind))
    found = sizes(session, study)
    own = assignments.assigned(session, rater)
    mine = {one.unit for one in given}
    free = (
        unit
        for unit in _ordered(found, rater)
        if unit not in mine
        and (own is None or unit.question_id in own)
        and (study.overlap is None or taken[unit] < study.overlap)
    )
    return Share(tuple(given), tuple(free), found)


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
    seed = f"{rater.study.order_seed}/{rater.id}"
    return sorted(found, key=lambda unit: sha256(f"{seed}/{unit}".encode()).digest())
