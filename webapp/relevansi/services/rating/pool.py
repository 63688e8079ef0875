"""The pool of a study: everything to judge, each distinct item once.

A unit is everything to judge about one question, from all runs; a question
that depends on its conversation is one unit per run. Giving a unit to a rater makes a task.

Orders are drawn from the study's secret: HMAC-SHA-256 with a key of 256 bits, so that from any
number of drawn names neither the key nor another name follows (decision 0022). Pages and files
hold its commitment alone.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Collection, Container, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import cache, lru_cache
from hashlib import sha256
from operator import itemgetter
from typing import Any, NamedTuple

from msgspec import Struct
from sqlalchemy import (
    ColumnElement,
    Exists,
    Select,
    SQLColumnExpression,
    and_,
    bindparam,
    exists,
    func,
    or_,
    select,
)
from sqlalchemy.orm import Session, aliased

from relevansi.db.caches import LruCache
from relevansi.db.rows import core
from relevansi.db.tables.judging import JudgedItem, Judgment, Task
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, QuestionSet, Study
from relevansi.records import QueryState

POOL, REPEAT = "pool", "repeat"
"""The kinds of tasks: a unit for the first time, and the same once more."""
TASK_ID_BYTES = 9
DEEPEST = 2**31 - 1
QUESTIONS_PER_STATEMENT = 5_000
"""Databases limit the parameters of one statement."""
CACHED_STUDIES = 32
"""Studies whose counts are cached, for each database."""


class QueryFilter(Struct, frozen=True):
    only_open: bool = False
    category: str | None = None


class Unit(NamedTuple):
    """Everything to judge about one question; ``run_id`` where its conversation matters.

    A tuple, since thousands are keys of mappings whenever a page shows its rater's progress.
    """

    question_id: int
    run_id: str | None = None


_sizes = LruCache[tuple[int, str], Mapping[Unit, int]](CACHED_STUDIES)
_units_with_evidence = LruCache[tuple[int, str], frozenset[Unit]](CACHED_STUDIES)


def categories(session: Session, study: Study) -> dict[int, str]:
    """Return the category of each question of a study, by the question's id."""
    rows = select(Question.id, Question.category).join(QuestionSet)
    return dict(session.execute(rows.where(QuestionSet.study_id == study.id)).all())


def sizes(session: Session, study_id: int, revision: str) -> Mapping[Unit, int]:
    """Return how many verdicts each unit of a study asks for, in its present `revision`."""
    # Cached: no click changes it, and counting 300 questions of 3 runs takes a fifth of a click.
    key = study_id, revision
    counts = _sizes.get(session, key)
    if counts is None:
        of_study = select(Question.id).join(QuestionSet).where(QuestionSet.study_id == study_id)
        counts = _count_verdicts(session, study_id, session.scalars(of_study).all(), None)
        _sizes.store(session, key, counts)
    return counts


def count_open(session: Session, rater: Rater, units: Collection[Unit]) -> dict[Unit, int]:
    """Return how many verdicts the rater has still to give in each of `units`."""
    questions = sorted({unit.question_id for unit in units})
    counts = _count_verdicts(session, rater.study_id, questions, rater.id)
    return {unit: counts.get(unit, 0) for unit in units}


def _count_verdicts(
    session: Session, study_id: int, questions: Sequence[int], rater_id: int | None
) -> dict[Unit, int]:
    statement = _counts(of_one=len(questions) == 1, unjudged=rater_id is not None)
    counts: dict[Unit, int] = {}
    for start in range(0, len(questions), QUESTIONS_PER_STATEMENT):
        portion = questions[start : start + QUESTIONS_PER_STATEMENT]
        which = {"question": portion[0]} if len(questions) == 1 else {"questions": portion}
        values = {**which, "study_id": study_id, "rater_id": rater_id}
        rows = core(session).execute(statement, values)
        counts |= {Unit(question_id, run_id): count for question_id, run_id, count in rows}
    return counts


@cache
def _counts(*, of_one: bool, unjudged: bool) -> Select[*tuple[Any, ...]]:
    # Only runs of a study list its questions' items, so the runs need not be read. A list of
    # questions makes SQLAlchemy compile the statement each time, so clicks name a single one.
    item = JudgedItem
    is_shown_item = or_(is_listed(), exists().where(Query.emptiness_id == item.id).correlate(item))
    in_portion: ColumnElement[bool] = item.question_id.in_(bindparam("questions", expanding=True))
    if of_one:
        in_portion = item.question_id == bindparam("question")
    columns = select(item.question_id, item.run_id, func.count())
    statement = columns.join_from(item, Study, Study.id == bindparam("study_id"))
    statement = statement.where(in_portion, is_shown_item)
    if unjudged:
        is_own = Judgment.rater_id == bindparam("rater_id"), Judgment.judged_item_id == item.id
        is_judged = exists().where(*is_own, Judgment.verdict.is_not(None))
        statement = statement.where(~is_judged.correlate(item))
    return statement.group_by(item.question_id, item.run_id)


def is_shown(study_id: int, depth: int | None, *, is_blind: bool = True) -> ColumnElement[bool]:
    """Return the condition on ``JudgedItem`` that the study asks for a verdict on it.

    Its runs show it or left it empty; blind raters also judge evidence from the catalogue.
    """
    # It is asked of each item by itself: a question costs the same in a study of any size.
    in_pool = Result.rank <= (DEEPEST if depth is None else depth)
    of_study = Query.id == Result.query_key, Run.id == Query.run_id, Run.study_id == study_id
    listed = exists().where(Result.judged_item_id == JudgedItem.id, in_pool, *of_study)
    empty = _is_empty(study_id).correlate(JudgedItem)
    is_of_runs = or_(listed.correlate(JudgedItem), empty)
    return or_(is_of_runs, _is_evidence()) if is_blind else is_of_runs


def is_listed() -> ColumnElement[bool]:
    """Return the condition on (``JudgedItem``, ``Study``) that it is listed or evidence."""
    # For items of a unit: only runs of its study list them, so the runs need not be read.
    # Without a depth no result row is read: its index has the item that it shows.
    in_pool = or_(Study.pool_depth.is_(None), Result.rank <= Study.pool_depth)
    listed = exists().where(Result.judged_item_id == JudgedItem.id, in_pool)
    return or_(listed.correlate(JudgedItem, Study), _is_evidence())


def _is_evidence() -> ColumnElement[bool]:
    # With any verdict: what raters are asked changes only by pins, which revise the study.
    pin = aliased(Judgment)
    is_pinned = exists().where(pin.judged_item_id == JudgedItem.id, pin.is_evidence)
    return is_pinned.correlate(JudgedItem)


def units_with_evidence(session: Session, study_id: int, revision: str) -> frozenset[Unit]:
    """Return the units of a study that have evidence, in its present `revision`."""
    key = study_id, revision
    units = _units_with_evidence.get(session, key)
    if units is None:
        rows = select(JudgedItem.question_id, JudgedItem.run_id).distinct().join(Judgment)
        rows = rows.join(Rater).where(Rater.study_id == study_id, Judgment.is_evidence)
        units = frozenset(Unit(*row) for row in core(session).execute(rows))
        _units_with_evidence.store(session, key, units)
    return units


def is_asked() -> ColumnElement[bool]:
    """Return the condition on (``JudgedItem``, ``Study``) that a run lists it or left it empty."""
    return or_(is_listed(), _is_empty(Study.id).correlate(JudgedItem, Study))


def _is_empty(study_id: int | SQLColumnExpression[int]) -> Exists:
    return exists().where(
        Query.emptiness_id == JudgedItem.id, Run.id == Query.run_id, Run.study_id == study_id
    )


def in_unit(unit: Unit | Task | type[Task]) -> ColumnElement[bool]:
    """Return the condition on ``JudgedItem`` that it belongs to `unit`."""
    return and_(
        JudgedItem.question_id == unit.question_id,
        JudgedItem.run_id.is_not_distinct_from(unit.run_id),
    )


def answers_in(
    study_id: int | SQLColumnExpression[int], unit: Unit | Task | type[Task]
) -> ColumnElement[bool]:
    """Return the condition on (``Query``, ``Run``) that an answer belongs to `unit`."""
    return and_(
        Query.question_id == unit.question_id,
        Run.study_id == study_id,
        Query.state != str(QueryState.UNREADABLE),
        Query.run_id == func.coalesce(unit.run_id, Query.run_id),
    )


def make_task(session: Session, rater: Rater, unit: Unit, kind: str, now: datetime) -> Task:
    """Return a new task: the unit is given to the rater from now on."""
    key = secrets.token_urlsafe(TASK_ID_BYTES)
    task = Task(id=key, rater=rater, **unit._asdict(), kind=kind, claimed_at=now)
    session.add(task)
    session.flush()
    return task


SECRET_DIGITS = 64
"""A secret is 256 bits, stored as hexadecimal digits."""


class Purpose(StrEnum):
    """The purposes of an order: the same numbers drawn for another one give another order."""

    CARDS = "cards"
    QUESTIONS = "questions"
    AGAIN = "again"
    VOTES = "votes"
    MACHINE = "machine"


@lru_cache(maxsize=2**15)
def draw(secret: str, purpose: Purpose, *numbers: object) -> bytes:
    """Return the 32 bytes that a study's secret draws for `numbers`; sorting by them shuffles.

    They are cached: a blind rater's progress needs those of all their questions at every click,
    which for 1,000 questions takes a tenth of the time this way.

    >>> draw("0" * 64, Purpose.CARDS, 1, 2) == draw("0" * 64, Purpose.CARDS, 1, 2)
    True
    >>> draw("0" * 64, Purpose.CARDS, 1, 2) == draw("0" * 64, Purpose.VOTES, 1, 2)
    False
    """
    if len(secret) < SECRET_DIGITS:
        raise ValueError("this study has no secret")  # the database's default, never a key
    message = "/".join(map(str, (purpose, *numbers)))
    return hmac.digest(secret.encode(), message.encode(), "sha256")


def commitment(secret: str) -> str:
    """Return the SHA-256 of a study's secret, which proves later which secret it was."""
    return sha256(secret.encode()).hexdigest()


TASKS_BETWEEN = 2
"""How many other questions lie between a question and its repetition, at the least."""


def count(units: int, percent: int) -> int:
    """Return how many of `units` units are asked again: `percent` of them, rounded.

    The last two never are: too little would lie between.

    >>> count(30, 5), count(9, 5), count(10, 5), count(2, 100), count(6, 100)
    (2, 0, 1, 0, 4)
    """
    return max(0, min((2 * units * percent + 100) // 200, units - TASKS_BETWEEN))


def planned(
    rater: Rater, in_order: Sequence[Unit], units: Container[Unit], again: Collection[Unit]
) -> dict[Unit, int]:
    """Return the repeats to be given and after how many units each comes, the earliest first.

    `again` are given once more already: giving a repeat takes it from this plan and moves no
    other, while the workload stays as it is.
    """
    last = len(in_order)
    missing = count(last, rater.study.repeat_percent) - len(again)
    if missing < 1:
        return {}
    earliest = {unit: place for place, unit in enumerate(in_order, start=1 + TASKS_BETWEEN)}
    candidates = [
        unit for unit in in_order[: last - TASKS_BETWEEN] if unit in units and unit not in again
    ]
    secret, rater_id = rater.study.order_secret, rater.id
    drawn = sorted((draw(secret, Purpose.AGAIN, rater_id, *unit), unit) for unit in candidates)
    plan = {}
    for number, unit in drawn[:missing]:
        first = earliest[unit]
        plan[unit] = first + int.from_bytes(number) % (last - first + 1)
    return dict(sorted(plan.items(), key=itemgetter(1)))
