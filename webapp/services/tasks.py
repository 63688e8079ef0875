"""What a blind rater is given next, and what they say of it: no run, method or rank in sight.

A unit is everything to judge about one question, whichever runs returned it; a question
that depends on its conversation is one unit per run. Giving a unit to a rater makes a task.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from sqlalchemy import ColumnElement, Select, SelectBase, and_, exists, func, or_, select
from sqlalchemy.orm import Session, aliased

from webapp.db.models import (
    Event,
    JudgedThing,
    Judgment,
    Query,
    QueryRating,
    Question,
    Rater,
    Repeat,
    Result,
    Run,
    Study,
    Task,
)
from webapp.records import Click, EmptyOutcome, QueryState, Relevance
from webapp.services import events
from webapp.services.events import Target
from webapp.services.judgments import MOST_NOTES, Keep, NotToJudge, Rating, quality_text

POOL, REPEAT = "pool", "repeat"
TASK_ID_BYTES = 9
KEY_LENGTH = 16
TASKS_BETWEEN = 2
"""How many other tasks lie between a verdict and its repetition, at the least."""


class UnknownTask(LookupError):
    """The rater was never given this, or the card or answer is not in it."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Everything to judge about one question; ``run_id`` where its conversation matters."""

    question_id: int
    run_id: str | None = None


def units(session: Session, study: Study) -> list[Unit]:
    """Return all there is to judge in the study, in the order of the questions."""
    rows = session.execute(
        select(JudgedThing.question_id, JudgedThing.run_id)
        .join(Question, Question.id == JudgedThing.question_id)
        .where(JudgedThing.id.in_(shown_things(study)))
        .group_by(JudgedThing.question_id, JudgedThing.run_id, Question.position)
        .order_by(Question.position, JudgedThing.question_id, JudgedThing.run_id)
    )
    return [Unit(question_id, run_id) for question_id, run_id in rows]


def shown_things(study: Study) -> Select[tuple[int | None]]:
    """Return the statement over the judged things that the study's runs show or left empty.

    Only ranks within the pool's depth count.
    """
    in_study = Run.study_id == study.id
    shown = select(Result.judged_thing_id).join(Query).join(Run).where(in_study)
    if study.pool_depth is not None:
        shown = shown.where(Result.rank <= study.pool_depth)
    empty = (
        select(Query.emptiness_id)
        .join(Run)
        .where(in_study, Query.emptiness_id.is_not(None))
        .distinct()
    )
    both = shown.union(empty).subquery()
    return select(both.c[0])


def next_task(session: Session, rater: Rater, now: datetime) -> Task | None:
    """Return what the rater is to do now, given to them if need be; ``None`` when all is done.

    First what they began, then a repetition that is due, then a unit that nobody or too few
    were given. Two raters asking at once never exceed the study's overlap.
    """
    session.execute(select(Study.id).where(Study.id == rater.study_id).with_for_update())
    begun = _begun(session, rater)
    if begun is not None:
        return begun
    return _due_repeat(session, rater, now) or _claim(session, rater, now)


def find(session: Session, rater: Rater, task_id: str) -> Task:
    """Return one of the rater's own tasks; raises ``UnknownTask``."""
    task = session.get(Task, task_id)
    if task is None or task.rater_id != rater.id:
        raise UnknownTask(task_id)
    return task


def given_to(session: Session, rater: Rater) -> list[str]:
    """Return the ids of the rater's tasks in the order in which they were given."""
    rows = select(Task.id).where(Task.rater_id == rater.id)
    return list(session.scalars(rows.order_by(Task.claimed_at, Task.id)))


def things(session: Session, task: Task) -> list[JudgedThing]:
    """Return the properties to judge in a task, in the order its rater sees them."""
    wanted = select(JudgedThing).where(*_of_unit(task), JudgedThing.property_id.is_not(None))
    if task.kind == REPEAT:
        wanted = wanted.join(Repeat).where(Repeat.task_id == task.id)
    else:
        wanted = wanted.where(JudgedThing.id.in_(shown_things(task.rater.study)))
    return sorted(session.scalars(wanted), key=lambda thing: key(task, thing.id))


def emptiness(session: Session, task: Task) -> JudgedThing | None:
    """Return what to classify, if a run came back empty for the question."""
    if task.kind == REPEAT:
        return None
    wanted = select(JudgedThing).where(
        *_of_unit(task),
        JudgedThing.property_id.is_(None),
        JudgedThing.id.in_(shown_things(task.rater.study)),
    )
    return session.scalar(wanted)


def answers(session: Session, task: Task) -> list[Query]:
    """Return the listed answers whose quality is to be rated, in the rater's own order."""
    if task.kind == REPEAT:
        return []
    wanted = select(Query).join(Run).where(_answers(task.rater.study, task))
    return sorted(session.scalars(wanted), key=lambda query: key(task, -query.id))


def key(task: Task, number: int) -> str:
    """Return the name of a card or answer within a task: it says nothing and stays the same.

    It orders them too: shuffled by the study's stored seed, for each rater anew.
    """
    text = f"{task.rater.study.order_seed}/{task.rater_id}/{number}"
    return sha256(text.encode()).hexdigest()[:KEY_LENGTH]


def judge(
    session: Session,
    rater: Rater,
    task_id: str,
    card: str,
    relevance: Relevance | None,
    click: Click,
) -> None:
    """Record a verdict on the card named `card`; ``None`` clears it.

    Raises ``UnknownTask`` and ``EventIdTaken``.
    """
    events.lock(session, rater)
    task = find(session, rater, task_id)
    for thing in things(session, task):
        if key(task, thing.id) == card:
            _record(session, task, thing.id, relevance, click)
            return
    raise UnknownTask(task_id, card)


def rate(
    session: Session, rater: Rater, task_id: str, answer: str | None, rating: Rating, click: Click
) -> None:
    """Record quality and notes of the answer named `answer`, or the empty outcome.

    Raises ``UnknownTask``, ``NotToJudge``, ``EventIdTaken`` and, for a quality outside 0 to
    5, ``ValueError``.
    """
    events.lock(session, rater)
    task = find(session, rater, task_id)
    if not isinstance(rating.empty_outcome, Keep):
        _classify(session, task, rating.empty_outcome, click)
    if isinstance(rating.quality, Keep) and isinstance(rating.notes, Keep):
        return
    query = _answer(session, task, answer)
    target = Target.rating(query, "quality", task.id)
    if not isinstance(rating.quality, Keep):
        events.record(session, rater, target, quality_text(rating.quality), click)
    if not isinstance(rating.notes, Keep):
        notes = Target.rating(query, "notes", task.id)
        events.record(session, rater, notes, rating.notes[:MOST_NOTES] or None, click)
    events.refresh(session, rater, [target])


def undo(session: Session, rater: Rater, click: Click) -> str | None:
    """Take back the rater's latest change in any task; return the task's id.

    ``None`` when nothing is left. Sending the same undo twice changes nothing.
    """
    events.lock(session, rater)
    mine = Event.rater_id == rater.id
    repeated = session.scalar(select(Event).where(mine, Event.event_id == click.event_id))
    last = repeated or events.last_change(session, rater, Event.task_id.is_not(None))
    if last is None:
        return None
    if repeated is None:
        target = Target.of(last)
        events.record(session, rater, target, last.old, click, cause="undo", undoes=last)
        if last.field != "repeat":
            events.refresh(session, rater, [target])
    return last.task_id


def is_done(session: Session, rater: Rater, task_id: str) -> bool:
    """Whether nothing is left to do in one of the rater's tasks."""
    still_open = select(Task.id).where(Task.id == task_id, is_open(rater.study))
    return session.scalar(still_open) is None


def is_open(study: Study) -> ColumnElement[bool]:
    """Return the condition on ``Task`` that its rater has something left to do in it.

    What is nested twice must be told that its ``Task`` is the outermost one: SQLAlchemy looks
    one level up, and would take anybody's verdict for the rater's.
    """
    unjudged = exists().where(
        JudgedThing.question_id == Task.question_id,
        JudgedThing.run_id.is_not_distinct_from(Task.run_id),
        JudgedThing.id.in_(shown_things(study)),
        ~exists()
        .where(
            Judgment.rater_id == Task.rater_id,
            Judgment.judged_thing_id == JudgedThing.id,
            Judgment.verdict.is_not(None),
        )
        .correlate(Task, JudgedThing),
    )
    unrated = exists().where(
        _answers(study, Task),
        Run.id == Query.run_id,
        ~exists()
        .where(
            QueryRating.rater_id == Task.rater_id,
            QueryRating.query_key == Query.id,
            QueryRating.quality.is_not(None),
        )
        .correlate(Task, Query),
    )
    unrepeated = exists().where(Repeat.task_id == Task.id, Repeat.verdict.is_(None))
    return or_(
        and_(Task.kind == POOL, or_(unjudged, unrated)), and_(Task.kind == REPEAT, unrepeated)
    )


def _record(session: Session, task: Task, thing_id: int, verdict: str | None, click: Click) -> None:
    if task.kind == REPEAT:
        target = Target("repeat", thing_id=thing_id, task_id=task.id)
        events.record(session, task.rater, target, verdict, click)
        return
    target = Target("verdict", thing_id=thing_id, task_id=task.id)
    events.record(session, task.rater, target, verdict, click)
    events.refresh(session, task.rater, [target])


def _classify(session: Session, task: Task, outcome: EmptyOutcome | None, click: Click) -> None:
    thing = emptiness(session, task)
    if thing is None:
        raise NotToJudge
    _record(session, task, thing.id, outcome, click)


def _answer(session: Session, task: Task, name: str | None) -> Query:
    for query in answers(session, task):
        if key(task, -query.id) == name:
            return query
    raise UnknownTask(task.id, name)


def _of_unit(task: Task) -> Sequence[ColumnElement[bool]]:
    return (
        JudgedThing.question_id == task.question_id,
        JudgedThing.run_id.is_not_distinct_from(task.run_id),
    )


def _answers(study: Study, task: Task | type[Task]) -> ColumnElement[bool]:
    """Return the condition on (``Query``, ``Run``) that an answer belongs to `task`."""
    return and_(
        Query.question_id == task.question_id,
        Run.study_id == study.id,
        Query.state == str(QueryState.RESULTS),
        Query.run_id == func.coalesce(task.run_id, Query.run_id),
    )


def _begun(session: Session, rater: Rater) -> Task | None:
    return session.scalar(
        select(Task)
        .where(Task.rater_id == rater.id, is_open(rater.study))
        .order_by(Task.claimed_at, Task.id)
        .limit(1)
    )


def free_units(session: Session, rater: Rater) -> list[Unit]:
    """Return what the rater could still be given, in the order in which it would be."""
    study = rater.study
    given: Counter[Unit] = Counter()
    mine: set[Unit] = set()
    rows = select(Task.question_id, Task.run_id, Task.rater_id).where(Task.kind == POOL)
    for question_id, run_id, rater_id in session.execute(rows):
        unit = Unit(question_id, run_id)
        given[unit] += 1
        if rater_id == rater.id:
            mine.add(unit)
    return [
        unit
        for unit in _ordered(units(session, study), rater)
        if unit not in mine and (study.overlap is None or given[unit] < study.overlap)
    ]


def _claim(session: Session, rater: Rater, now: datetime) -> Task | None:
    """Give the rater the first unit that too few have, if there is one."""
    free = free_units(session, rater)
    return _give(session, rater, free[0], POOL, now) if free else None


def _ordered(found: list[Unit], rater: Rater) -> list[Unit]:
    if not rater.study.shuffle_questions:
        return found
    seed = f"{rater.study.order_seed}/{rater.id}"
    return sorted(found, key=lambda unit: sha256(f"{seed}/{unit}".encode()).digest())


def _give(session: Session, rater: Rater, unit: Unit, kind: str, now: datetime) -> Task:
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


def _due_repeat(session: Session, rater: Rater, now: datetime) -> Task | None:
    """Give the rater some verdicts again, once their share of repetitions is due."""
    given = select(Judgment.verdict).where(
        Judgment.rater_id == rater.id, Judgment.verdict.is_not(None)
    )
    judged = _count(session, given)
    asked = _count(session, select(Repeat.task_id).join(Task).where(Task.rater_id == rater.id))
    due = judged * rater.study.repeat_percent // 100 - asked
    if due < 1:
        return None
    task = _longest_ago(session, rater)
    if task is None:
        return None
    chosen = _judged_things(session, task)[:due]
    again = _give(session, rater, Unit(task.question_id, task.run_id), REPEAT, now)
    session.add_all(Repeat(task_id=again.id, judged_thing_id=thing.id) for thing in chosen)
    session.flush()
    return again


def _longest_ago(session: Session, rater: Rater) -> Task | None:
    """Return the first task with a verdict that was not asked again, unless it is too fresh."""
    mine = and_(Task.rater_id == rater.id, Task.kind == POOL)
    order = (Task.claimed_at.desc(), Task.id)
    fresh = select(Task.id).where(mine).order_by(*order).limit(TASKS_BETWEEN)
    again = aliased(Task)
    repeated = exists().where(
        again.kind == REPEAT,
        again.rater_id == Task.rater_id,
        again.question_id == Task.question_id,
        again.run_id.is_not_distinct_from(Task.run_id),
    )
    judged = exists().where(
        JudgedThing.question_id == Task.question_id,
        JudgedThing.run_id.is_not_distinct_from(Task.run_id),
        JudgedThing.property_id.is_not(None),
        JudgedThing.id.in_(shown_things(rater.study)),
        Judgment.judged_thing_id == JudgedThing.id,
        Judgment.rater_id == Task.rater_id,
        Judgment.verdict.is_not(None),
    )
    return session.scalar(
        select(Task)
        .where(mine, Task.id.not_in(fresh), ~repeated, judged)
        .order_by(Task.claimed_at, Task.id.desc())
        .limit(1)
    )


def _judged_things(session: Session, task: Task) -> list[JudgedThing]:
    """Return the properties of a task that its rater has judged, in the rater's order."""
    judged = set(
        session.scalars(
            select(Judgment.judged_thing_id).where(
                Judgment.rater_id == task.rater_id, Judgment.verdict.is_not(None)
            )
        )
    )
    return [thing for thing in things(session, task) if thing.id in judged]


def _count(session: Session, rows: SelectBase) -> int:
    return session.scalar(select(func.count()).select_from(rows.subquery())) or 0
