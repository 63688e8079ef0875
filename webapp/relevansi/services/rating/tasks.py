"""The tasks of a blind rater and their verdicts in them, without run, method or rank.

A task is a unit of the pool that was given to a rater, for the first time or once more (see
``pool`` and ``workloads``); no page shows which of the two it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import cache, lru_cache
from string import ascii_uppercase
from typing import Any, NamedTuple

from msgspec import Struct, UnsetType
from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    and_,
    bindparam,
    case,
    exists,
    or_,
    select,
)
from sqlalchemy.orm import Session

from relevansi.db.engine import added, core
from relevansi.db.tables.judging import (
    Event,
    JudgedItem,
    Judgment,
    QueryRating,
    Repeat,
    RepeatRating,
    Task,
    WordingOpened,
)
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Question, Study
from relevansi.failures import Missing
from relevansi.i18n import mark
from relevansi.records import Click
from relevansi.services.judging import answer_ratings, changes, events, judgments, reasons, undoing
from relevansi.services.judging.answer_ratings import Answer, AnswerRating
from relevansi.services.judging.events import REASON, REPEAT_FIELDS, Target
from relevansi.services.rating import asked_again, pool, workloads
from relevansi.services.rating.pool import POOL, REPEAT, Purpose, QueryFilter, Unit
from relevansi.services.rating.workloads import GivenTask, Progress, Workload
from relevansi.services.study.question_sets import is_put_to_raters

KEY_LENGTH = 16


class UnknownTask(Missing):
    message = mark("You were given nothing to rate at this address")
    remedy = mark("It may be another rater's, or gone. Open the first page: it shows what is next.")
    program_remedy = mark(
        "It may be another rater's, or gone. POST /api/v1/tasks gives what is next."
    )


def read(session: Session, rater: Rater, task_id: str) -> Row[Any]:
    """Return a task with its question and its study's settings; raises ``UnknownTask``."""
    values = {"task_id": task_id, "rater_id": rater.id}
    task: Row[Any] | None = core(session).execute(_own_task(), values).first()
    if task is None:
        raise UnknownTask(task_id)
    return task


@cache
def _own_task() -> Select[*tuple[Any, ...]]:
    question = Question.text.label("question"), Question.category, Question.context_dependent
    study = (
        *(Study.order_secret, Study.figures, Study.show_pictures, Study.marks_words, Study.scale),
        *(Study.measures, Study.suggest_quality, Study.cannot_tell, Study.asks_quality),
        *(Study.reasons, Study.kind.label("of_items")),
    )
    return (
        select(*Task.__table__.columns, *question, *study)
        .join_from(Task, Question, Question.id == Task.question_id)
        .join(Rater, Rater.id == Task.rater_id)
        .join(Study, Study.id == Rater.study_id)
        .where(Task.id == bindparam("task_id"), Task.rater_id == bindparam("rater_id"))
    )


def items_of(session: Session, task: Task | Row[Any]) -> list[Row[Any]]:
    """Return the judged items of a task with their verdicts, in the order its rater sees them."""
    rows = core(session).execute(_items_of_task(), {"task_id": task.id})
    return sorted(rows, key=lambda item: key(task, item.id))


@cache
def _items_of_task() -> Select[*tuple[Any, ...]]:
    item = JudgedItem
    columns = select(item.id, item.question_id, item.run_id, item.item_id, item.card)
    is_hidden = or_(Task.kind == REPEAT, asked_again.hides(Judgment))
    reason = case((is_hidden, None), else_=Judgment.reason).label("reason")
    return _with_items(columns.add_columns(reason))


@cache
def _cards_to_judge() -> Select[*tuple[Any, ...]]:
    # The task, its study and its cards in one statement, since every click waits for it.
    task = select(JudgedItem.id, Task.rater_id, Task.kind).where(JudgedItem.item_id.is_not(None))
    study = Study.order_secret, Study.scale, Study.figures, Study.reasons
    columns = task.add_columns(*study, Study.kind.label("of_items"))
    return _with_items(columns).where(Task.rater_id == bindparam("rater_id"))


def _with_items(columns: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    """Return the statement over the items of a task: a repeat has its own and its own verdicts."""
    # The items are joined by their question first: by an "or" alone SQLite would read all of them.
    item, is_repeat = JudgedItem, Task.kind == REPEAT
    first = case((asked_again.hides(Judgment), None), else_=Judgment.verdict)
    is_shown = and_(pool.in_unit(Task), pool.is_asked())
    is_own = and_(Judgment.judged_item_id == item.id, Judgment.rater_id == Task.rater_id)
    return (
        columns.add_columns(case((is_repeat, Repeat.verdict), else_=first).label("verdict"))
        .join_from(Task, Rater, Rater.id == Task.rater_id)
        .join(Study, Study.id == Rater.study_id)
        .join(item, item.question_id == Task.question_id)
        .outerjoin(Repeat, and_(Repeat.task_id == Task.id, Repeat.judged_item_id == item.id))
        .outerjoin(Judgment, is_own)
        .where(
            Task.id == bindparam("task_id"),
            or_(and_(is_repeat, Repeat.task_id.is_not(None)), and_(~is_repeat, is_shown)),
        )
    )


def key(task: Task | Row[Any], number: int) -> str:
    """Return the name of a card or answer within a task: it reveals nothing and never changes.

    `number` is a judged item's, or minus an answer's. Sorting by the names shuffles, by the
    study's secret and for each rater and time anew (docs/decisions/0022).
    """
    study: Any = task.rater.study if isinstance(task, Task) else task
    drawn_for = task.rater_id, task.kind, number
    return pool.draw(study.order_secret, Purpose.CARDS, *drawn_for).hex()[:KEY_LENGTH]


def letter(number: int) -> str:
    """Return the name of the answer at `number`, counted from 0.

    >>> letter(0), letter(25), letter(26)
    ('A', 'Z', 'A2')
    """
    round_, place = divmod(number, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(round_ + 1) if round_ else "")


Among = Callable[[Unit], bool]
"""Whether a unit is one of those that are asked for."""


def lock(session: Session, rater: Rater) -> None:
    """Make the raters who are given questions of a study queue."""
    session.execute(select(Study.id).where(Study.id == rater.study_id).with_for_update())


def next_task(
    session: Session, rater: Rater, now: datetime, among: Among = lambda _unit: True
) -> Task | None:
    """Return the task the rater is at or comes next, given to them if need be, `among` some units.

    First a task they began, then a repeat that is due, then a unit given to too few raters or
    none, at last a task they put off. Two raters asking at once never exceed the overlap.
    """
    lock(session, rater)  # else two raters could be given the last place of one unit
    begun = _open(session, rater)
    tasks_among = [task for task in begun if among(Unit(task.question_id, task.run_id))]
    if tasks_among and tasks_among[0].postponed_at is None:
        return tasks_among[0]
    task = _assign_next(session, rater, now, begun, among)
    if task is None and tasks_among:
        return tasks_among[0]
    return task


def _assign_next(
    session: Session, rater: Rater, now: datetime, begun: Sequence[Task], among: Among
) -> Task | None:
    workload = _with_finished(session, rater, now)
    repeat = workloads.next_repeat(session, rater, workload, now, _open_units(begun), among)
    if repeat is not None:
        return repeat
    free = next(filter(among, workload.free), None)
    return pool.make_task(session, rater, free, POOL, now) if free is not None else None


def _with_finished(session: Session, rater: Rater, now: datetime) -> Workload:
    """Return the workload in which units finished elsewhere, in a run or a file, are given."""
    workload = workloads.of_rater(session, rater)
    finished = [unit for unit in workload.free if not workload.units[unit].is_open]
    # Before now, so that they come before a task that is given at this moment.
    for place, unit in enumerate(finished, start=-len(finished)):
        pool.make_task(session, rater, unit, POOL, now + timedelta(microseconds=place))
    return workloads.of_rater(session, rater) if finished else workload


def put_off(session: Session, rater: Rater, task_id: str, now: datetime) -> None:
    """Let a task come after all others of its rater; one that is done stays where it is."""
    events.lock(session, rater)
    task = find(session, rater, task_id)
    if not is_done(session, rater, task_id):
        task.postponed_at = now
        session.flush()


def prefetch(session: Session, rater: Rater, now: datetime, limit: int) -> list[Task]:
    """Return up to `limit` current and next tasks, given to the rater by now, to work offline."""
    lock(session, rater)
    begun = _open(session, rater)
    tasks = [task for task in begun if task.postponed_at is None][:limit]
    _with_finished(session, rater, now)
    # With an overlap a unit given ahead of time would be taken from another rater.
    while len(tasks) < limit and rater.study.overlap is None:
        workload = workloads.of_rater(session, rater)
        # A repeat that is due comes before a new unit, and is given only when it is shown.
        if not workload.free or workloads.ready(workload, _open_units(begun)):
            break
        given_at = now + timedelta(microseconds=len(tasks))  # they are read in this order
        tasks.append(pool.make_task(session, rater, workload.free[0], POOL, given_at))
    postponed = [task for task in begun if task.postponed_at is not None]
    return [*tasks, *postponed][:limit]


def find(session: Session, rater: Rater, task_id: str) -> Task:
    """Return a task of the rater; raises ``UnknownTask`` for another one's too."""
    task = session.get(Task, task_id)
    if task is None or task.rater_id != rater.id:
        raise UnknownTask(task_id)
    return task


def ids_of_rater(session: Session, rater: Rater) -> list[str]:
    """Return the ids of the rater's tasks in the order in which they were given."""
    rows = select(Task.id).where(Task.rater_id == rater.id)
    return list(session.scalars(rows.order_by(Task.claimed_at, Task.id)))


def of_question(
    session: Session, rater: Rater, run_ids: Sequence[str], position: int
) -> dict[str, str]:
    """Return the task in which the rater judges a question of the runs, by the id of each run."""
    is_of_unit = (Task.question_id == Query.question_id) & (
        Task.run_id.is_(None) | (Task.run_id == Query.run_id)
    )
    rows = select(Query.run_id, Task.id).join_from(Query, Question).join(Task, is_of_unit)
    rows = rows.where(Query.run_id.in_(run_ids), Question.position == position)
    own_rows = session.execute(rows.where(Task.rater_id == rater.id, Task.kind == POOL))
    return dict(own_rows.all())


def rated_openly(session: Session, rater: Rater) -> bool:
    """Whether the rater judged in runs, whose pages name the method, and never in a task."""
    own_events = select(Event.id).where(Event.rater_id == rater.id).limit(1)
    if session.scalar(own_events.where(Event.task_id.is_not(None))) is not None:
        return False
    return session.scalar(own_events.where(Event.query_key.is_not(None))) is not None


def cards(session: Session, task: Task | Row[Any]) -> list[Row[Any]]:
    """Return the items of a task that are cards, so not the emptiness of its question."""
    return [item for item in items_of(session, task) if item.item_id is not None]


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
    rows = core(session).execute(_cards_to_judge(), values)
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


def is_done(session: Session, rater: Rater, task_id: str) -> bool:
    """Whether nothing is left to do in a task."""
    still_open = select(Task.id).where(Task.id == task_id, is_open(rater.study))
    return session.scalar(still_open) is None


def is_open(study: Study) -> ColumnElement[bool]:
    """Return the condition on ``Task`` that its rater has something left to do in it.

    A statement nested twice correlates its ``Task`` with the outermost one: SQLAlchemy by itself
    goes one level up only, and would take any rater's verdict for this rater's.
    """
    return _is_open(study.id, study.pool_depth)


@lru_cache
def _is_open(study_id: int, depth: int | None) -> ColumnElement[bool]:
    # Built once, since SQLAlchemy takes long over it and every next question asks it twice.
    verdict = exists().where(
        *(Judgment.rater_id == Task.rater_id, Judgment.judged_item_id == JudgedItem.id),
        *(Judgment.verdict.is_not(None), ~asked_again.hides(Judgment)),
    )
    grade = exists().where(
        *(QueryRating.rater_id == Task.rater_id, QueryRating.query_key == Query.id),
        *(QueryRating.quality.is_not(None), ~asked_again.hides(QueryRating)),
    )
    is_shown = and_(pool.in_unit(Task), pool.is_shown(study_id, depth))
    asks_grade = pool.answers_in(study_id, Task), Query.asks_quality, Run.id == Query.run_id
    unjudged = exists().where(is_shown, ~verdict.correlate(Task, JudgedItem))
    unrated = exists().where(*asks_grade, ~grade.correlate(Task, Query))
    is_pool_open = and_(Task.kind == POOL, or_(unjudged, unrated))
    return or_(is_pool_open, and_(Task.kind == REPEAT, workloads.is_open()))


def _answer(session: Session, task: Task, name: str | None) -> Query:
    for query in answers(session, task):
        if key(task, -query.id) == name:
            return query
    raise UnknownTask(task.id, name)


def open_ids(session: Session, rater: Rater) -> set[str]:
    """Return the ids of the rater's tasks in which something is left to do."""
    rows = select(Task.id).where(Task.rater_id == rater.id, is_open(rater.study))
    return set(session.scalars(rows))


def _open(session: Session, rater: Rater) -> Sequence[Task]:
    is_late = case((Task.postponed_at.is_(None), 0), else_=1)
    rows = select(Task).where(
        Task.rater_id == rater.id, is_open(rater.study), is_put_to_raters(Task.question_id)
    )
    order = is_late, Task.postponed_at, Task.claimed_at, Task.id
    return session.scalars(rows.order_by(*order)).all()


def _open_units(begun: Sequence[Task]) -> set[Unit]:
    return {Unit(task.question_id, task.run_id) for task in begun if task.kind == POOL}


EVERYTHING = QueryFilter()


class TaskPlace(Struct, frozen=True):
    """The place of a task among those the rater was given, and the ways from it.

    ``position`` is ``None`` for a question that nobody is asked any more. ``leads_further``: after
    the last a new one can be given. ``is_left``: something within the filter is open.
    """

    position: int | None
    previous: str | None
    next: str | None
    leads_further: bool
    is_left: bool


def place(
    session: Session,
    rater: Rater,
    workload: Workload,
    progress: Progress,
    task_id: str,
    query_filter: QueryFilter = EVERYTHING,
) -> TaskPlace:
    """Return the place of a task within a filter, and the ways from it."""
    at = _at(workload, task_id)
    is_task_shown, unit_shown = _conditions(session, rater, query_filter)
    later = next(filter(is_task_shown, workload.tasks[at + 1 :]), None)
    earlier = next(filter(is_task_shown, reversed(workload.tasks[:at])), None)
    is_more, is_left = progress.of > len(workload.tasks), progress.turns_left > 0
    if query_filter.category:
        is_more = any(map(unit_shown, (*workload.free, *workload.planned)))
        opened = open_ids(session, rater)
        is_left = is_more or any(
            unit_shown(task.unit) for task in workload.tasks if task.task_id in opened
        )
    return TaskPlace(
        position=at + 1 if at < len(workload.tasks) else None,
        previous=earlier and earlier.task_id,
        next=later and later.task_id,
        leads_further=later is None and is_more,
        is_left=is_left,
    )


def onward(
    session: Session,
    rater: Rater,
    now: datetime,
    query_filter: QueryFilter,
    after: str | None = None,
) -> str | None:
    """Return the id of the task to go to within a filter; ``None`` if there is none.

    `after` a task it is the next one that was given, or a new one; else the next one to do. In a
    category with nothing left to do it is the first that was given.
    """
    lock(session, rater)
    is_task_shown, unit_shown = _conditions(session, rater, query_filter)
    if after is not None:
        find(session, rater, after)
        workload = workloads.of_rater(session, rater)
        later = next(filter(is_task_shown, workload.tasks[_at(workload, after) + 1 :]), None)
        if later is not None:
            return later.task_id
        begun = _open(session, rater)
        further = _assign_next(session, rater, now, begun, unit_shown)
        if further is not None:
            return further.id
    task = next_task(session, rater, now, unit_shown)
    if task is not None:
        return task.id
    if not query_filter.category:
        return None
    for given_task in workloads.of_rater(session, rater).tasks:
        if unit_shown(given_task.unit):
            return given_task.task_id
    return None


def _at(workload: Workload, task_id: str) -> int:
    """Return the index of a task, that behind the last for one of a question not asked any more."""
    task_ids = [task.task_id for task in workload.tasks]
    return task_ids.index(task_id) if task_id in task_ids else len(task_ids)


def _conditions(
    session: Session, rater: Rater, query_filter: QueryFilter
) -> tuple[Callable[[GivenTask], bool], Among]:
    """Return whether a task, and whether a unit, is within a filter, as functions."""
    categories = pool.categories(session, rater.study) if query_filter.category else {}
    open_tasks = open_ids(session, rater) if query_filter.only_open else set()

    def unit_shown(unit: Unit) -> bool:
        category = query_filter.category
        return not category or categories.get(unit.question_id) == category

    def is_task_shown(task: GivenTask) -> bool:
        return (not query_filter.only_open or task.task_id in open_tasks) and unit_shown(task.unit)

    return is_task_shown, unit_shown
