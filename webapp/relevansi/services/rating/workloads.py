"""A rater's workload: the units given to them, those still to be given, and the progress in both.

A page asks for the whole workload and a click changes one question of it, so it is cached between
clicks: newer events name the questions to read again.

Hidden repeats: some questions are asked a second time, whole, and nothing reveals which. It follows
from the study's secret and share before the first is given, so that the number of questions never
changes. The second verdict, never the verdict, says how far a rater agrees with themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import (
    ColumnElement,
    Integer,
    Row,
    Select,
    Subquery,
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

from relevansi.db.caches import LruCache
from relevansi.db.rows import core
from relevansi.db.tables.judging import (
    Event,
    JudgedItem,
    Judgment,
    QueryRating,
    Repeat,
    RepeatRating,
    StoredSummary,
    Task,
)
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Question, QuestionSet, Study
from relevansi.metrics.judging.queries import as_counted
from relevansi.records import QueryState, Relevance, Scale
from relevansi.services.judging import changes, stored_summaries
from relevansi.services.judging.changes import Changes
from relevansi.services.rating import asked_again, pool
from relevansi.services.rating.pool import POOL, REPEAT, TASKS_BETWEEN, Purpose, Unit, draw
from relevansi.services.study import assignments, studies
from relevansi.services.study.question_sets import is_put_to_raters

CACHED_RATERS = 128
"""Raters whose workloads are cached, for each database."""
RELOAD_ABOVE = 20
"""Where the rater changed more questions since, all are read again at once."""


class UnitProgress(NamedTuple):
    """How far one rater is with a unit: open and all judgments, answers and empty lists.

    A tuple, since a workload has thousands.
    """

    open_judgments: int
    judgments: int
    unrated: int
    answers: int
    open_lists: int = 0
    lists: int = 0
    category: str = ""

    @property
    def is_open(self) -> bool:
        return self.open_judgments > 0 or self.unrated > 0


class GivenTask(NamedTuple):
    """A unit that a rater was given; ``kind`` is ``POOL`` for the first time, else ``REPEAT``."""

    task_id: str
    unit: Unit
    kind: str
    postponed_at: datetime | None = None


class Workload(Struct, frozen=True):
    """One rater's workload of a study.

    ``tasks`` are in the order of giving, ``free`` units in the order in which the rater would be
    given them. ``planned`` are the repeats still to be given, each with the number of units
    after which it comes; ``units`` are all of the study.
    """

    tasks: tuple[GivenTask, ...]
    free: tuple[Unit, ...]
    units: Mapping[Unit, UnitProgress]
    planned: Mapping[Unit, int] = {}

    @property
    def first_time(self) -> list[GivenTask]:
        return [task for task in self.tasks if task.kind == POOL]


_CacheEntry = tuple[Changes, tuple[object, ...], Workload]
_cache = LruCache[int, _CacheEntry](CACHED_RATERS)
"""Each workload with all that decided it: a difference in one of them makes another workload."""


def of_rater(session: Session, rater: Rater) -> Workload:
    """Return the units the rater was given and those they could still be given."""
    # A cached one may be older than the database: changes and fingerprint say what still holds.
    before, fingerprint_before, workload = _cache.get(session, rater.id) or (None, None, None)
    now = changes.since(session, rater, before)
    row = core(session).execute(_task_fingerprint(), {"rater_id": rater.id}).one()
    is_asked_again = row.asked_again_at is not None and studies.is_blind(session, rater.study)
    full_units = _full_units(session, row.overlap)
    fingerprint = (*row, full_units)
    if workload is None or now.touched is None or len(now.touched) > RELOAD_ABOVE:
        workload = None
        units = _units(session, rater, now.revision, again=is_asked_again)
    else:
        units = {**workload.units}
        for question in now.touched:
            units |= _units(session, rater, now.revision, question, again=is_asked_again)
    if workload is not None and fingerprint_before == fingerprint:
        workload = replace(workload, units=units)
    else:
        workload = _workload(session, rater, units, full_units)
    _cache.store(session, rater.id, (now, fingerprint, workload))
    return workload


def _workload(
    session: Session, rater: Rater, units: Mapping[Unit, UnitProgress], full_units: Collection[Unit]
) -> Workload:
    columns = select(Task.id, Task.question_id, Task.run_id, Task.kind, Task.postponed_at)
    of_rater = columns.where(Task.rater_id == rater.id, is_put_to_raters(Task.question_id))
    rows = core(session).execute(of_rater.order_by(Task.claimed_at, Task.id))
    tasks = tuple(
        GivenTask(task_id, Unit(question_id, run_id), kind, postponed_at)
        for task_id, question_id, run_id, kind, postponed_at in rows
    )
    assigned = assignments.assigned(session, rater)
    unavailable = {task.unit for task in tasks}.union(full_units)
    order: Iterable[Unit] = (u for u in units if assigned is None or u.question_id in assigned)
    if rater.study.shuffle_questions:
        secret, rater_id = rater.study.order_secret, rater.id
        order = sorted(order, key=lambda unit: draw(secret, Purpose.QUESTIONS, rater_id, *unit))
    workload = Workload(tasks, tuple(unit for unit in order if unit not in unavailable), units)
    late = sorted(
        (task.postponed_at, task.unit) for task in workload.first_time if task.postponed_at
    )
    at_once = [task.unit for task in workload.first_time if not task.postponed_at]
    in_order = [*at_once, *workload.free, *(unit for _, unit in late)]
    again = {task.unit for task in tasks if task.kind == REPEAT}
    return replace(workload, planned=pool.planned(rater, in_order, units, again))


@cache
def _task_fingerprint() -> Select[*tuple[Any, ...]]:
    """Return the statement whose one row differs once a rater's tasks do."""
    of_rater = Rater.id == bindparam("rater_id")
    overlap = select(Study.overlap).join(Rater, Rater.study_id == Study.id).where(of_rater)
    return select(
        *(func.count(), func.max(Task.claimed_at)),
        *(func.count(Task.postponed_at), func.max(Task.postponed_at)),
        func.max(Task.asked_again_at).label("asked_again_at"),
        overlap.scalar_subquery().label("overlap"),
    ).where(Task.rater_id == bindparam("rater_id"))


def _full_units(session: Session, overlap: int | None) -> frozenset[Unit]:
    """Return the units that were given to as many raters as the overlap allows."""
    if overlap is None:
        return frozenset()
    units = select(Task.question_id, Task.run_id).group_by(Task.question_id, Task.run_id)
    full_units = units.where(Task.kind == POOL).having(func.count() >= overlap)
    return frozenset(Unit(*row) for row in session.execute(full_units))


def _units(
    session: Session, rater: Rater, revision: str, question: int | None = None, *, again: bool
) -> dict[Unit, UnitProgress]:
    # The stored summaries are read; items are counted only in units that were begun.
    values = {"rater_id": rater.id, "study_id": rater.study_id, "question": question}
    statement = _summed(of_one=question is not None)
    rows = core(session).execute(statement, values).all()
    with_evidence = pool.units_with_evidence(session, rater.study_id, revision)
    begun = [
        Unit(question_id, run_id)
        for question_id, run_id, is_open, is_begun, *_ in rows
        if (is_open and is_begun) or (question_id, run_id) in with_evidence
    ]
    open_by_unit = pool.count_open(session, rater, begun)
    openly = asked_again.count_open(session, rater, question) if again else {}
    sizes = pool.sizes(session, rater.study_id, revision)
    units = {}
    for question_id, run_id, is_open, _, unrated, answers, open_lists, lists, category in rows:
        unit = Unit(question_id, run_id)
        judgments = sizes.get(unit, 0)
        verdicts, grades, empty = openly.get(unit, (0, 0, 0))
        verdicts += open_by_unit.get(unit, judgments if is_open else 0)
        units[unit] = UnitProgress(
            *(verdicts, judgments, unrated + grades, answers, open_lists + empty, lists, category)
        )
    return units


@cache
def _summed(*, of_one: bool) -> Select[*tuple[Any, ...]]:
    # The joins are outer ones so that SQLite keeps their order and no answer's text is passed.
    row = StoredSummary
    begun = or_(row.judged_count > 0, row.empty_outcome.is_not(None))
    is_empty = row.state == str(QueryState.EMPTY)
    run_id = case((Question.context_dependent, row.run_id), else_=None).label("unit_run")
    if of_one:
        in_scope: ColumnElement[bool] = Question.id == bindparam("question")
    else:
        sets = select(QuestionSet.id).where(QuestionSet.study_id == bindparam("study_id"))
        in_scope = Question.question_set_id.in_(sets)
    is_readable = row.state != str(QueryState.UNREADABLE)
    return (
        select(
            Question.id,
            run_id,
            _any(row.open_judgments > 0).label("is_open"),
            _any(begun).label("is_begun"),
            _sum(stored_summaries.is_unrated(row)).label("unrated"),
            _sum(and_(row.asks_quality, is_readable)).label("answers"),
            _any(is_empty & row.empty_outcome.is_(None)).label("open_lists"),
            _any(is_empty).label("lists"),
            Question.category,
        )
        .join_from(Question, Query, Query.question_id == Question.id, isouter=True)
        .join(
            row,
            and_(row.query_key == Query.id, row.rater_id == bindparam("rater_id")),
            isouter=True,
        )
        .where(in_scope, is_put_to_raters(Question.id))
        .group_by(Question.position, Question.id, Question.category, run_id)
        .having(_any(is_readable) > 0)
        .order_by(Question.position, Question.id, run_id)
    )


def _any(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.max(case((condition, 1), else_=0))


def _sum(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return cast(func.sum(case((condition, 1), else_=0)), Integer)


def next_repeat(
    session: Session,
    rater: Rater,
    workload: Workload,
    now: datetime,
    open_units: Collection[Unit] = (),
    among: Callable[[Unit], bool] = lambda _unit: True,
) -> Task | None:
    """Return the repeat that the rater is given now, `among` some units; ``None`` if none is due.

    No unit is asked again while it is open for the first time, nor right after it, unless nothing
    else is left to do.
    """
    due_now = [
        unit for unit in ready(workload, open_units) if unit not in open_units and among(unit)
    ]
    if not due_now:
        return None
    latest = session.execute(
        select(Task.question_id, Task.run_id)
        .join(Event, Event.task_id == Task.id)
        .where(Event.rater_id == rater.id)
        .group_by(Task.id, Task.question_id, Task.run_id)
        .order_by(func.max(Event.id).desc())
        .limit(TASKS_BETWEEN)
    ).all()
    rested = [unit for unit in due_now if unit not in latest]
    if not rested and (workload.free or open_units):
        return None
    return _make_repeat(session, rater, (rested or due_now)[0], now)


def ready(workload: Workload, open_units: Collection[Unit]) -> list[Unit]:
    """Return the repeats due by now; units put off and still open are not reached."""
    reached = sum(
        not (task.postponed_at and task.unit in open_units) for task in workload.first_time
    )
    return [unit for unit, after in workload.planned.items() if after <= reached]


def is_open() -> ColumnElement[bool]:
    """Return the condition on ``Task`` that something of it was not answered again."""
    return or_(
        exists().where(Repeat.task_id == Task.id, Repeat.verdict.is_(None)),
        exists().where(
            RepeatRating.task_id == Task.id,
            RepeatRating.quality.is_(None),
            Query.id == RepeatRating.query_key,
            Query.asks_quality,
        ),
    )


def _left_in_repeats(session: Session, rater: Rater) -> tuple[int, int, int, int]:
    """Return the judgments, grades, empty lists and tasks left in the repeats given so far."""
    of_rater = Task.rater_id == rater.id, Task.kind == REPEAT
    unjudged = select(func.count()).select_from(Repeat).join(Task)
    unjudged = unjudged.where(*of_rater, Repeat.verdict.is_(None))
    unrated = select(func.count()).select_from(RepeatRating).join(Task).join(Query)
    unrated = unrated.where(*of_rater, RepeatRating.quality.is_(None), Query.asks_quality)
    lists = unjudged.join(JudgedItem).where(JudgedItem.item_id.is_(None))
    open_tasks = select(func.count()).select_from(Task).where(*of_rater, is_open())
    counts = (statement.scalar_subquery() for statement in (unjudged, unrated, lists, open_tasks))
    judgments, answers, empty, tasks = session.execute(select(*counts)).one()
    return judgments, answers, empty, tasks


def verdicts(session: Session, task: Task | Row[Any]) -> dict[int, tuple[str, datetime]]:
    """Return the verdicts given in a repeat and when, by judged item."""
    rows = select(Repeat.judged_item_id, Repeat.verdict, Repeat.changed_at)
    of_task = session.execute(rows.where(Repeat.task_id == task.id))
    return {item_id: (verdict, at) for item_id, verdict, at in of_task if verdict and at}


def _make_repeat(session: Session, rater: Rater, unit: Unit, now: datetime) -> Task:
    """Return a task that asks again for all that the rater judged and rated in a unit."""
    judged = select(JudgedItem.id).join(Judgment)
    judged = judged.where(Judgment.rater_id == rater.id, Judgment.verdict.is_not(None))
    is_shown = pool.in_unit(unit), pool.is_shown(rater.study_id, rater.study.pool_depth)
    rated = select(Query.id).join(Run).join(QueryRating, QueryRating.query_key == Query.id)
    rated = rated.where(QueryRating.rater_id == rater.id, QueryRating.quality.is_not(None))
    in_unit = pool.answers_in(rater.study_id, unit)
    task = pool.make_task(session, rater, unit, REPEAT, now)
    for item_id in session.scalars(judged.where(*is_shown)).all():
        session.add(Repeat(task_id=task.id, judged_item_id=item_id))
    for key in session.scalars(rated.where(in_unit)).all():
        session.add(RepeatRating(task_id=task.id, query_key=key))
    session.flush()
    return task


class Progress(Struct, frozen=True):
    """A rater's progress: turns done, turns given or still to be given, and work left.

    A turn is a question, once for each run where it depends on its conversation, and once more
    where it is asked again, unknown to the rater: what is shown counts ``questions``, each once, of
    which ``open_questions`` are not finished, and no repeat. ``repeats`` are the judgments, grades
    and empty lists of repeats among the others.
    """

    finished: int
    of: int
    questions: int
    open_judgments: int
    unrated: int
    open_lists: int = 0
    open_questions: int = 0
    repeats: tuple[int, int, int] = (0, 0, 0)

    @property
    def turns_left(self) -> int:
        return self.of - self.finished

    @property
    def questions_done(self) -> int:
        return self.questions - self.open_questions

    @property
    def work_left(self) -> tuple[int, int, int, int, bool]:
        """Cards, empty lists, questions and grades left, and whether repeats alone are."""
        judgments, grades, lists = self.repeats
        open_lists = self.open_lists - lists
        cards = self.open_judgments - judgments - open_lists
        is_ending = self.turns_left > 0 and not self.open_questions
        return cards, open_lists, self.open_questions, self.unrated - grades, is_ending


def progress(session: Session, rater: Rater) -> Progress:
    """Return the rater's progress in their whole workload; without blind rating, in every run."""
    workload = of_rater(session, rater)
    if not studies.is_blind(session, rater.study):  # then nothing is given, and nothing repeated
        workload = Workload((), tuple(workload.units), workload.units)
    return progress_in(session, rater, workload)


def progress_in(session: Session, rater: Rater, workload: Workload) -> Progress:
    """Return the progress in a workload; a question finished on another page is done.

    Repeats count from the beginning, so that no number grows when one is given.
    """
    units, own_units = workload.units, [task.unit for task in workload.first_time]
    first_time = [units[unit] for unit in own_units if unit in units]
    free = [units[unit] for unit in workload.free]
    planned = [units[unit] for unit in workload.planned]
    has_repeats = len(own_units) < len(workload.tasks)
    *in_repeats, open_repeats = _left_in_repeats(session, rater) if has_repeats else (0, 0, 0, 0)
    open_tasks = sum(unit.is_open for unit in first_time) + open_repeats
    to_come = [(unit.judgments, unit.answers, unit.lists) for unit in planned]
    repeats = _sums([in_repeats, *to_come])
    still_open = [(u.open_judgments, u.unrated, u.open_lists) for u in (*first_time, *free)]
    judgments, grades, lists = _sums([repeats, *still_open])
    of_rater = (*own_units, *workload.free)
    unfinished = {unit.question_id for unit in of_rater if unit in units and units[unit].is_open}
    return Progress(
        finished=len(workload.tasks) - open_tasks + sum(not unit.is_open for unit in free),
        of=len(workload.tasks) + len(free) + len(planned),
        questions=len({unit.question_id for unit in of_rater}),
        open_judgments=judgments,
        unrated=grades,
        open_lists=lists,
        open_questions=len(unfinished),
        repeats=repeats,
    )


def _sums(counts: Iterable[Sequence[int]]) -> tuple[int, int, int]:
    """Return the sums of judgments, grades and empty lists."""
    judgments, grades, lists = map(sum, zip((0, 0, 0), *counts, strict=True))
    return judgments, grades, lists


def finished_counts(session: Session, rater: Rater) -> tuple[int, int, int, int]:
    """Return the rater's questions, cards, empty lists and answers so far, repeats included."""
    judged_rows = _judged_rows(rater)
    counts = select(func.count(), func.count(judged_rows.c.item_id)).select_from(judged_rows)
    everything, cards = session.execute(counts.where(judged_rows.c.verdict.is_not(None))).one()
    rated = select(QueryRating.quality).where(QueryRating.rater_id == rater.id)
    repeated = select(RepeatRating.quality).join(Task).where(Task.rater_id == rater.id)
    grades = rated.union_all(repeated).subquery()
    questions = session.scalar(select(func.count()).where(Task.rater_id == rater.id)) or 0
    answers = session.scalar(select(func.count(grades.c[0]))) or 0
    return questions, cards, everything - cards, answers


def pooled_figure(session: Session, rater: Rater) -> tuple[int, int, float | None]:
    """Return how many of the rater's counted cards are relevant, of how many, and the ratio."""
    rows = _judged_rows(rater)
    verdicts = session.scalars(select(rows.c.verdict).where(rows.c.item_id.is_not(None)))
    relevances = map(Scale.stored(rater.study.scale).relevances.__getitem__, verdicts)
    cards = as_counted([*relevances], cannot_tell=rater.study.cannot_tell)
    relevant = cards.count(Relevance.RELEVANT)
    of = relevant + cards.count(Relevance.NOT_RELEVANT)
    return relevant, of, relevant / of if of else None


def _judged_rows(rater: Rater) -> Subquery:
    # With the verdicts of repeats: a figure without them would reveal which they are.
    columns = select(JudgedItem.item_id, Judgment.verdict).join_from(JudgedItem, Judgment)
    again = select(JudgedItem.item_id, Repeat.verdict).join_from(JudgedItem, Repeat)
    first = columns.where(Judgment.rater_id == rater.id)
    return first.union_all(again.join(Task).where(Task.rater_id == rater.id)).subquery()
