"""Everything a blind rater's page says about one task, and nothing about runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from string import ascii_uppercase

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.db.models import JudgedThing, Judgment, Query, QueryRating, Rater, Repeat, Task
from webapp.importers.property_identity import differences
from webapp.records import Card, EmptyOutcome, Relevance
from webapp.services import rating_page, tasks
from webapp.services.judged_things import from_row
from webapp.services.rating_page import EarlierVerdict, Turn
from webapp.services.tasks import REPEAT, Unit


class Stage(StrEnum):
    """What a task asks for now: cards first, then emptiness, then whole answers."""

    CARDS = "cards"
    EMPTINESS = "emptiness"
    ANSWERS = "answers"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class BlindCard:
    """One property to judge, at its 1-based place in this rater's order; ``key`` names it."""

    key: str
    position: int
    card: Card
    relevance: Relevance | None
    earlier: EarlierVerdict | None = None


@dataclass(frozen=True, slots=True)
class BlindAnswer:
    """One whole answer to rate 0-5, called by a letter; ``key`` names it."""

    key: str
    letter: str
    response: str
    quality: int | None
    notes: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a rater is: questions done and given or still to be given, verdicts left."""

    done: int
    of: int
    open_judgments: int


@dataclass(frozen=True, slots=True)
class BlindPage:
    """One task as its rater sees it. ``answers`` is empty until every card is judged."""

    task_id: str
    question: str
    category: str
    context_dependent: bool
    earlier_turns: tuple[Turn, ...]
    stage: Stage
    cards: tuple[BlindCard, ...]
    asks_emptiness: bool
    empty_outcome: EmptyOutcome | None
    answers: tuple[BlindAnswer, ...]
    progress: Progress
    guidelines: str
    show_pictures: bool


def blind_page(session: Session, rater: Rater, task_id: str) -> BlindPage:
    """Return the page of one of the rater's tasks; raises ``UnknownTask``."""
    task = tasks.find(session, rater, task_id)
    cards = _cards(session, task)
    empty = tasks.emptiness(session, task)
    outcome = _outcome(session, rater, empty)
    answers = _answers(session, task)
    stage = _stage(cards, empty is not None and outcome is None, answers)
    return BlindPage(
        task_id=task.id,
        question=task.question.text,
        category=task.question.category,
        context_dependent=task.question.context_dependent,
        earlier_turns=_earlier_turns(session, task),
        stage=stage,
        cards=cards,
        asks_emptiness=empty is not None,
        empty_outcome=outcome,
        answers=() if stage is Stage.CARDS else answers,
        progress=progress(session, rater),
        guidelines=rater.study.guidelines,
        show_pictures=rater.study.show_pictures,
    )


def progress(session: Session, rater: Rater) -> Progress:
    """Return how far the rater is in all that is theirs to judge."""
    study = rater.study
    given = session.scalars(
        select(Task).where(Task.rater_id == rater.id, Task.kind == tasks.POOL)
    ).all()
    still_open = select(func.count()).select_from(Task)
    open_tasks = session.scalar(
        still_open.where(Task.rater_id == rater.id, Task.kind == tasks.POOL, tasks.is_open(study))
    )
    mine = {Unit(task.question_id, task.run_id) for task in given}
    free = tasks.free_units(session, rater)
    return Progress(
        done=len(given) - (open_tasks or 0),
        of=len(given) + len(free),
        open_judgments=_open_judgments(session, rater, [*mine, *free]),
    )


def _open_judgments(session: Session, rater: Rater, wanted: Sequence[Unit]) -> int:
    judged = select(Judgment.judged_thing_id).where(
        Judgment.rater_id == rater.id, Judgment.verdict.is_not(None)
    )
    rows = session.execute(
        select(JudgedThing.question_id, JudgedThing.run_id, func.count())
        .where(JudgedThing.id.in_(tasks.shown_things(rater.study)), JudgedThing.id.not_in(judged))
        .group_by(JudgedThing.question_id, JudgedThing.run_id)
    )
    left = {Unit(question_id, run_id): count for question_id, run_id, count in rows}
    return sum(left.get(unit, 0) for unit in set(wanted))


def _stage(cards: Sequence[BlindCard], unclassified: bool, answers: Sequence[BlindAnswer]) -> Stage:
    if any(card.relevance is None for card in cards):
        return Stage.CARDS
    if unclassified:
        return Stage.EMPTINESS
    if any(answer.quality is None for answer in answers):
        return Stage.ANSWERS
    return Stage.DONE


def _cards(session: Session, task: Task) -> tuple[BlindCard, ...]:
    found = tasks.things(session, task)
    said = _repeated(session, task) if task.kind == REPEAT else _judged(session, task, found)
    earlier = (
        {} if task.kind == REPEAT else rating_page.earlier_verdicts(session, task.rater, found)
    )
    return tuple(
        BlindCard(
            key=tasks.key(task, thing.id),
            position=position,
            card=from_row(thing.card or {"title": ""}),
            relevance=said.get(thing.id),
            earlier=None if task.kind == REPEAT else _earlier(earlier.get(thing.id), thing),
        )
        for position, thing in enumerate(found, start=1)
    )


def _earlier(found: tuple[str, Card] | None, thing: JudgedThing) -> EarlierVerdict | None:
    if found is None or thing.card is None:
        return None
    verdict, other = found
    return EarlierVerdict(Relevance(verdict), other, differences(other, from_row(thing.card)))


def _judged(
    session: Session, task: Task, found: Sequence[JudgedThing]
) -> dict[int, Relevance | None]:
    rows = session.execute(
        select(Judgment.judged_thing_id, Judgment.verdict).where(
            Judgment.rater_id == task.rater_id,
            Judgment.judged_thing_id.in_([thing.id for thing in found]),
        )
    )
    return {thing_id: Relevance(verdict) if verdict else None for thing_id, verdict in rows}


def _repeated(session: Session, task: Task) -> dict[int, Relevance | None]:
    rows = session.execute(
        select(Repeat.judged_thing_id, Repeat.verdict).where(Repeat.task_id == task.id)
    )
    return {thing_id: Relevance(verdict) if verdict else None for thing_id, verdict in rows}


def _outcome(session: Session, rater: Rater, empty: JudgedThing | None) -> EmptyOutcome | None:
    judgment = session.get(Judgment, (rater.id, empty.id)) if empty else None
    return EmptyOutcome(judgment.verdict) if judgment and judgment.verdict else None


def _answers(session: Session, task: Task) -> tuple[BlindAnswer, ...]:
    found = tasks.answers(session, task)
    rows = session.scalars(
        select(QueryRating).where(
            QueryRating.rater_id == task.rater_id,
            QueryRating.query_key.in_([query.id for query in found]),
        )
    )
    rated = {row.query_key: row for row in rows}
    return tuple(
        BlindAnswer(
            key=tasks.key(task, -query.id),
            letter=letter(number),
            response=query.response,
            quality=rated[query.id].quality if query.id in rated else None,
            notes=rated[query.id].notes if query.id in rated else "",
        )
        for number, query in enumerate(found)
    )


def letter(number: int) -> str:
    """Return the name of the answer at `number`, counted from 0.

    >>> letter(0), letter(25), letter(26)
    ('A', 'Z', 'A2')
    """
    round_, place = divmod(number, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(round_ + 1) if round_ else "")


def _earlier_turns(session: Session, task: Task) -> tuple[Turn, ...]:
    """Return the conversation that a follow-up depends on; it belongs to the task's run."""
    if task.run_id is None:
        return ()
    query = session.scalar(
        select(Query).where(Query.run_id == task.run_id, Query.question_id == task.question_id)
    )
    return rating_page.earlier_turns(session, query) if query else ()
