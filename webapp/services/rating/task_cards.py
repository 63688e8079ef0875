"""One task of a blind rater: the things it asks for, under names without meaning."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from string import ascii_uppercase
from typing import Any, NamedTuple

from sqlalchemy import Row, Select, and_, bindparam, case, select
from sqlalchemy.orm import Session

from webapp.db.connection import tables
from webapp.db.tables.judging import JudgedThing, Judgment
from webapp.db.tables.people import Rater
from webapp.db.tables.rating import Repeat, Task
from webapp.db.tables.study import Question, Study
from webapp.failures import Missing
from webapp.i18n import mark
from webapp.services.rating import asked_again, orders, pool
from webapp.services.rating.orders import Purpose
from webapp.services.rating.pool import REPEAT

KEY_LENGTH = 16


class UnknownTask(Missing):
    """The rater was never given this, or the card or answer is not in it."""

    message = mark("You were given nothing to rate at this address")
    remedy = mark("It may be another rater's, or gone. Open the first page: it shows what is next.")


class AskedThing(NamedTuple):
    """A thing that a task asks for, and the verdict on it; an emptiness shows no property."""

    id: int
    question_id: int
    run_id: str | None
    property_id: int | None
    verdict: str | None
    card: dict[str, Any] | None = None


def read(session: Session, rater: Rater, task_id: str) -> Row[Any]:
    """Return one of the rater's own tasks with its question and what the study says of its page.

    Raises ``UnknownTask``.
    """
    values = {"task_id": task_id, "rater_id": rater.id}
    found: Row[Any] | None = tables(session).execute(_own_task(), values).first()
    if found is None:
        raise UnknownTask(task_id)
    return found


@cache
def _own_task() -> Select[*tuple[Any, ...]]:
    question = (Question.text, Question.category, Question.context_dependent)
    return (
        select(*Task.__table__.columns, *question)
        .add_columns(Study.order_seed, Study.order_secret, Study.figures, Study.show_pictures)
        .add_columns(Study.suggest_quality, Study.cannot_tell)
        .join_from(Task, Question, Question.id == Task.question_id)
        .join(Rater, Rater.id == Task.rater_id)
        .join(Study, Study.id == Rater.study_id)
        .where(Task.id == bindparam("task_id"), Task.rater_id == bindparam("rater_id"))
    )


def things(session: Session, task: Row[Any], *, with_cards: bool = False) -> list[AskedThing]:
    """Return the things a task asks for with their verdicts, in the order its rater sees them."""
    statement = _asked(again=task.kind == REPEAT, with_cards=with_cards)
    rows = tables(session).execute(statement, {"task_id": task.id})
    return sorted((AskedThing(*row) for row in rows), key=lambda thing: key(task, thing.id))


@cache
def _asked(*, again: bool, with_cards: bool) -> Select[*tuple[Any, ...]]:
    """Return the statement behind ``things``."""
    thing = JudgedThing
    columns: list[Any] = [thing.id, thing.question_id, thing.run_id, thing.property_id]
    first = case((asked_again.hides(Judgment), None), else_=Judgment.verdict)
    verdict = Repeat.verdict if again else first
    columns += [verdict, *([thing.card] * with_cards)]
    own = Task.id == bindparam("task_id")
    if again:
        asked = select(*columns).join_from(Task, Repeat, Repeat.task_id == Task.id)
        return asked.join(thing, thing.id == Repeat.judged_thing_id).where(own)
    return (
        select(*columns)
        .join_from(Task, Rater, Rater.id == Task.rater_id)
        .join(Study, Study.id == Rater.study_id)
        .join(thing, and_(pool.in_unit(Task), pool.is_asked()))
        .outerjoin(
            Judgment,
            and_(Judgment.judged_thing_id == thing.id, Judgment.rater_id == Task.rater_id),
        )
        .where(own)
    )


def key(task: Task | Row[Any], number: int) -> str:
    """Return the name of a card or answer within a task: without meaning, and always the same.

    It orders them too: shuffled by the study's secret, for each rater and time anew.
    """
    return _key(_Naming.of(task), number)


class _Naming(NamedTuple):
    """Everything that the names in a task follow from; ``seed`` is only in an old task."""

    secret: str
    seed: int | None
    rater_id: int
    kind: str

    @classmethod
    def of(cls, task: Task | Row[Any]) -> _Naming:
        study = task.rater.study if isinstance(task, Task) else task
        seed = study.order_seed if task.keeps_seed_order else None
        return cls(study.order_secret, seed, task.rater_id, task.kind)


def _key(naming: _Naming, number: int) -> str:
    secret, seed, rater_id, kind = naming
    if seed is None:
        drawn = orders.draw(secret, Purpose.CARDS, rater_id, kind, number)
    else:  # begun before studies had a secret: its cards stay where they are
        again = "/again" if kind == REPEAT else ""
        drawn = sha256(f"{seed}/{rater_id}/{number}{again}".encode()).digest()
    return drawn.hex()[:KEY_LENGTH]


def letter(number: int) -> str:
    """Return the name of the answer at `number`, counted from 0.

    >>> letter(0), letter(25), letter(26)
    ('A', 'Z', 'A2')
    """
    round_, place = divmod(number, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(round_ + 1) if round_ else "")
