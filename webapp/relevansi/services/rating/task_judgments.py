"""What a blind rater stores in a task: verdicts, reasons, grades and notes, and their undoing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from msgspec import UnsetType
from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from relevansi.db.rows import added, core
from relevansi.db.tables.judging import Event, RepeatRating, Task, WordingOpened
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Run
from relevansi.records import Click
from relevansi.services.judging import answer_ratings, changes, events, judgments, reasons, undoing
from relevansi.services.judging.answer_ratings import Answer, AnswerRating
from relevansi.services.judging.events import REASON, REPEAT_FIELDS, Target
from relevansi.services.rating import pool
from relevansi.services.rating.pool import REPEAT
from relevansi.services.rating.tasks import UnknownTask, cards_to_judge, find, items_of, key


def answers(session: Session, task: Task) -> list[Query]:
    """Return the answers of a task in the order of their letters."""
    if task.kind == REPEAT:
        queries = select(Query).join(RepeatRating).where(RepeatRating.task_id == task.id)
    else:
        queries = select(Query).join(Run).where(pool.answers_in(task.rater.study_id, task))
    return sorted(session.scalars(queries), key=lambda query: key(task, -query.id))


def judge(
    session: Session,
    rater: Rater,
    task_id: str,
    card: str,
    relevance: str | None,
    click: Click,
) -> JudgedCardOfTask:
    """Record a verdict on the card named `card` of a task, and return what it came to."""
    number, row, cards = _card_named(session, rater, task_id, card)
    target = Target.in_task("verdict", row.id, task_id=task_id, in_repeat=row.kind == REPEAT)
    in_force, _ = judgments.judge_target(session, rater, target, relevance, click, row.scale)
    others = [other_card.verdict for other_card in cards if other_card is not row]
    stays_open = None in others or (row.verdict is None and in_force is None)
    return JudgedCardOfTask(number, in_force, row.figures, stays_open)


def give_reason(
    session: Session, rater: Rater, task_id: str, card: str, reason: str | None, click: Click
) -> tuple[int, str | None]:
    """Record why the card named `card` of a task is not relevant.

    Returns the card's number and the reason in force; raises ``UnknownReason``.
    """
    number, row, _ = _card_named(session, rater, task_id, card)
    text = reasons.checked(reason, row.of_items, row.reasons)
    target = Target.in_task(REASON, row.id, task_id=task_id, in_repeat=row.kind == REPEAT)
    return number, events.record(session, rater, target, text, click)


def _card_named(
    session: Session, rater: Rater, task_id: str, card: str
) -> tuple[int, Row[Any], Sequence[Row[Any]]]:
    """Return the number and the row of the card named `card`, and the rows of all; locks."""
    events.lock(session, rater)
    values = {"task_id": task_id, "rater_id": rater.id}
    rows = core(session).execute(cards_to_judge(), values)
    cards = {key(row, row.id): row for row in rows}
    if card not in cards:
        raise UnknownTask(task_id, card)
    return sorted(cards).index(card) + 1, cards[card], [*cards.values()]


def emptiness_of(items: Iterable[Row[Any]]) -> int | None:
    """Return the judged item that is the emptiness of a question, if one of `items` is."""
    return next((item.id for item in items if item.item_id is None), None)


def repeated_reasons(session: Session, task: Task | Row[Any]) -> dict[int, str | None]:
    """Return the reasons in force in a hidden repeat, by judged item."""
    # No row has them: only the events of a repeat say why an item is not relevant.
    logged: defaultdict[int | None, list[Event]] = defaultdict(list)
    of_task = select(Event).where(Event.task_id == task.id, Event.field == REPEAT_FIELDS[REASON])
    for event in session.scalars(of_task):
        logged[event.judged_item_id].append(event)
    return {item: events.in_order(history)[-1].new for item, history in logged.items() if item}


class JudgedCardOfTask(NamedTuple):
    """A card's number and its verdict in force; ``stays_open`` while cards are left to judge."""

    number: int
    verdict: str | None
    figures: str
    stays_open: bool


def rate(
    session: Session,
    rater: Rater,
    task_id: str,
    answer: str | None,
    rating: AnswerRating,
    click: Click,
) -> None:
    """Record quality and notes of the answer named `answer`, or the empty outcome.

    Where no quality is asked, notes are on the question: they become those of each of its lists.
    """
    events.lock(session, rater)
    task = find(session, rater, task_id)
    in_repeat = task.kind == REPEAT
    # One note on a question is one event for each of its lists, so that each can be undone.
    if not (answer or isinstance(rating.notes, UnsetType) or rater.study.asks_quality):
        notes_alone = AnswerRating(notes=rating.notes, notes_base=rating.notes_base)
        in_unit = select(Query.id).join(Run).where(pool.answers_in(rater.study_id, task))
        for key in session.scalars(in_unit.order_by(Query.id)).all():
            part = click._replace(event_id=f"{click.event_id}:{key}")
            about = Answer(key, None, task_id, in_repeat)
            answer_ratings.rate_answer(session, rater, about, notes_alone, part)
        return
    emptiness_id = None
    if not isinstance(rating.empty_outcome, UnsetType):
        emptiness_id = emptiness_of(items_of(session, task))
    is_rated = not (isinstance(rating.quality, UnsetType) and isinstance(rating.notes, UnsetType))
    query_key = _answer(session, task, answer).id if is_rated else None
    about = Answer(query_key, emptiness_id, task_id, in_repeat)
    answer_ratings.rate_answer(session, rater, about, rating, click)


def open_wording(session: Session, rater: Rater, task_id: str, answer: str, now: datetime) -> None:
    """Record that the rater opened an answer as its chatbot wrote it, for the first time."""
    query = _answer(session, find(session, rater, task_id), answer)
    connection = core(session)
    row = {"rater_id": rater.id, "query_key": query.id, "at": now}
    opened = added(WordingOpened, connection.dialect.name, ("rater_id", "query_key"))
    if connection.execute(opened, row).rowcount:
        changes.revise(session, rater.study_id)


def undo(session: Session, rater: Rater, click: Click) -> str | None:
    """Take back the rater's latest change in any task; return the task's id. See ``undo_last``."""
    last = undoing.undo_last(session, rater, click, Event.task_id.is_not(None))
    if last is None:
        return None
    event_id, _, of_list = last.event_id.rpartition(":")
    # Notes on a question are stored as those of each of its lists: all are taken back.
    if event_id and of_list == str(last.query_key):
        same = select(Event).where(Event.rater_id == rater.id, Event.field == last.field)
        for event in session.scalars(same.where(Event.event_id.startswith(f"{event_id}:"))).all():
            if event.id != last.id:
                part = click._replace(event_id=f"{click.event_id}:{event.query_key}")
                target = Target.of(event)
                events.record(session, rater, target, event.old, part, cause="undo", undoes=event)
    return last.task_id


def _answer(session: Session, task: Task, name: str | None) -> Query:
    for query in answers(session, task):
        if key(task, -query.id) == name:
            return query
    raise UnknownTask(task.id, name)
