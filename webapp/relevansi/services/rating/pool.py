"""The pool of a study: everything to judge, each distinct thing once.

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

from relevansi.db.engine import LruCache, tables
from relevansi.db.tables.judging import JudgedItem, Judgment, Task
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, QuestionSet, Study
from relevansi.records import QueryState

POOL, REPEAT = "pool", "repeat"
"""The kinds of tasks: a unit for the first time, and the same once more."""
TASK_ID_BYTES = 9
DEEPEST = 2**31 - 1
MOST_NAMED = 5_000
"""The most questions named in one statement, since databases limit its parameters."""
MOST_KEPT = 32
"""So many studies have their counts kept, for each database."""


class QueryFilter(Struct, frozen=True):
    only_open: bool = False
    category: str | None = None


class Unit(NamedTuple):
    """Everything to judge about one question; ``run_id`` where its conversation matters.

    A tuple, since thousands are looked up whenever a page shows its rater's progress.
    """

    question_id: int
    run_id: str | None = None


_cache = LruCache[tuple[int, str], Mapping[Unit, int]](MOST_KEPT)
_looked_up = LruCache[tuple[int, str], frozenset[Unit]](MOST_KEPT)


def categories(session: Session, study: Study) -> dict[int, str]:
    rows = select(Question.id, Question.category).join(QuestionSet)
    return dict(session.execute(rows.where(QuestionSet.study_id == study.id)).all())


def sizes(session: Session, study_id: int, revision: str) -> Mapping[Unit, int]:
    """Return how many verdicts each unit of a study asks for, in its present `revision`."""
    # Kept: no click changes that, and counting 300 questions of 3 runs takes a fifth of one.
    key = study_id, revision
    counts = _cache.get(session, key)
    if counts is None:
        of_study = select(Question.id).join(QuestionSet).where(QuestionSet.study_id == study_id)
        counts = _count_verdicts(session, study_id, session.scalars(of_study).all(), None)
        _cache.store(session, key, counts)
    return counts


def count_open(session: Session, rater: Rater, units: Collection[Unit]) -> dict[Unit, int]:
    questions = sorted({unit.question_id for unit in units})
    counts = _count_verdicts(session, rater.study_id, questions, rater.id)
    return {unit: counts.get(unit, 0) for unit in units}


def _count_verdicts(
    session: Session, study_id: int, questions: Sequence[int], rater_id: int | None
) -> dict[Unit, int]:
    statement = _counts(of_one=len(questions) == 1, unjudged=rater_id is not None)
    counts: dict[Unit, int] = {}
    for start in range(0, len(questions), MOST_NAMED):
        portion = questions[start : start + MOST_NAMED]
        which = {"question": portion[0]} if len(questions) == 1 else {"questions": portion}
        values = {**which, "study_id": study_id, "rater_id": rater_id}
        rows = tables(session).execute(statement, values)
        counts |= {Unit(question_id, run_id): count for question_id, run_id, count in rows}
    return counts


@cache
def _counts(*, of_one: bool, unjudged: bool) -> Select[*tuple[Any, ...]]:
    # Only runs of a study list its questions' things, so the runs need not be read. A list of
    # questions has SQLAlchemy write the statement anew each time, so clicks name a single one.
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

    Its runs show it or left it empty; blind raters also judge what one of them looked up.
    """
    # It is asked of each thing by itself: a question costs the same in a study of any size.
    in_pool = Result.rank <= (DEEPEST if depth is None else depth)
    of_study = Query.id == Result.query_key, Run.id == Query.run_id, Run.study_id == study_id
    listed = exists().where(Result.judged_item_id == JudgedItem.id, in_pool, *of_study)
    empty = _is_empty(study_id).correlate(JudgedItem)
    is_of_runs = or_(listed.correlate(JudgedItem), empty)
    return or_(is_of_runs, _is_evidence()) if is_blind else is_of_runs


def is_listed() -> ColumnElement[bool]:
    """Return the condition on (``JudgedItem``, ``Study``) that it is listed or evidence."""
    # For things of a unit: only runs of its study list them, so the runs need not be read.
    # Without a depth no result row is read: its index has the thing it shows.
    in_pool = or_(Study.pool_depth.is_(None), Result.rank <= Study.pool_depth)
    listed = exists().where(Result.judged_item_id == JudgedItem.id, in_pool)
    return or_(listed.correlate(JudgedItem, Study), _is_evidence())


def _is_evidence() -> ColumnElement[bool]:
    # Whatever its verdict became: what is asked changes with the study's revision, by pins alone.
    pin = aliased(Judgment)
    is_pinned = exists().where(pin.judged_item_id == JudgedItem.id, pin.is_evidence)
    return is_pinned.correlate(JudgedItem)


def looked_up(session: Session, study_id: int, revision: str) -> frozenset[Unit]:
    """Return the units of a study that have evidence, in its present `revision`."""
    key = study_id, revision
    units = _looked_up.get(session, key)
    if units is None:
        rows = select(JudgedItem.question_id, JudgedItem.run_id).distinct().join(Judgment)
        rows = rows.join(Rater).where(Rater.study_id == study_id, Judgment.is_evidence)
        units = frozenset(Unit(*row) for row in tables(session).execute(rows))
        _looked_up.store(session, key, units)
    return units


def is_asked() -> ColumnElement[bool]:
    """Return the condition on (``JudgedItem``, ``Study``) that a run lists it or left it empty."""
    return or_(is_listed(), _is_empty(Study.id).correlate(JudgedItem, Study))


def _is_empty(study_id: int | SQLColumnExpression[int]) -> Exists:
    return exists().where(
        Query.emptiness_id == JudgedItem.id, Run.id == Query.run_id, Run.study_id == study_id
    )


def in_unit(unit: Unit | Task | type[Task]) -> ColumnElement[bool]:
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


def give(session: Session, rater: Rater, unit: Unit, kind: str, now: datetime) -> Task:
    key = secrets.token_urlsafe(TASK_ID_BYTES)
    task = Task(id=key, rater=rater, **unit._asdict(), kind=kind, claimed_at=now)
    session.add(task)
    session.flush()
    return task


SECRET_DIGITS = 64
"""A secret is 256 bits, kept as hexadecimal digits."""


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

    They are kept: a blind rater's progress asks for those of all their questions at every click,
    which for 1,000 questions takes a tenth of the time so.

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
    """Return the SHA-256 of a study's secret, as it is kept: it shows later which one it was."""
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

    `again` are given once more already: giving a repeat takes it from this plan and changes no
    other, while the share stays as it is.
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
