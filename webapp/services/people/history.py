"""The change log: time, rater, field, old and new value, as people read and download it.

The owner sees every rater's events. A rater sees their own, where a hidden repeat looks like
any other judgment.
While the study is blind no entry names a run: an answer is called by its letter, to the owner
by its number too. Numbers follow the runs, so a rater would see which answers belong together.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct
from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.orm import Session

from webapp.db.tables.judging import Event, JudgedThing, Property, Task
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Question
from webapp.exporters.frame.csv_cells import Cell, csv_bytes
from webapp.failures import Conflict
from webapp.i18n import mark
from webapp.records import Click
from webapp.services.judging import events
from webapp.services.judging.events import AGAIN, Target, in_order
from webapp.services.rating import tasks
from webapp.services.rating.tasks import letter
from webapp.services.study import studies

PAGE_SIZE = 50

_Rows: TypeAlias = "Select[Event, str, Question, JudgedThing, str, Query]"


class ChangeKind(StrEnum):
    """The kinds of change by which the list can be filtered."""

    VERDICT = "verdict"
    OUTCOME = "outcome"
    QUALITY = "quality"
    NOTES = "notes"
    REPEAT = "repeat"
    REPEAT_QUALITY = "repeat quality"
    REPEAT_NOTES = "repeat notes"


_AGAIN = {name: ChangeKind(field) for field, name in AGAIN.items()}
"""The change that a repeat looks like to its rater, by the event's field."""


class NoLongerLatest(Conflict):
    """Something else was changed since the page was shown; nothing was undone."""

    message = mark("This is no longer your latest change")
    remedy = mark("Nothing was undone. Reload the page to see what is.")


class WantedEvents(Struct, frozen=True):
    """Which events are wanted; ``before`` is the event to go back in time from."""

    rater_id: int | None = None
    question_id: int | None = None
    change: ChangeKind | None = None
    before: int | None = None


class HistoryEntry(Struct, frozen=True):
    """One event as the rater made it, and whether it ``stands``, was ``undone`` or ``overtaken``.

    An overtaken event was never in force: when it arrived, a later one was stored already.

    ``position`` and ``question`` are ``None`` once their run was deleted. ``title``,
    ``identity`` and ``content`` name a card; ``answer`` is the number of a whole answer, which
    a blind rater never sees, and ``letter`` its name on the rater's page. ``run_id`` and
    ``query_id`` are ``None`` while the study is blind. ``undoes`` is the event that this one
    takes back.
    """

    id: int
    rater: str
    position: int | None
    question: str | None
    change: ChangeKind
    title: str | None
    identity: str | None
    content: int | None
    answer: int | None
    letter: str | None
    run_id: str | None
    query_id: int | None
    task_id: str | None
    old: str | None
    new: str | None
    cause: str
    undoes: int | None
    device: str
    sequence: int
    event_id: str
    client_time: datetime | None
    received_at: datetime
    stands: bool
    undone: bool
    overtaken: bool


class FilterChoice(Struct, frozen=True):
    """One value that the list can be narrowed to."""

    id: int
    name: str


class History(Struct, frozen=True):
    """One page of the log, the latest event first, and the filters for it.

    ``older`` is the event to go back from, ``None`` on the last page. ``latest`` is the
    reader's own latest change, if it can be undone. ``raters`` is empty for a rater.
    """

    entries: tuple[HistoryEntry, ...]
    older: int | None
    total: int
    raters: tuple[FilterChoice, ...]
    questions: tuple[FilterChoice, ...]
    changes: tuple[ChangeKind, ...]
    latest: HistoryEntry | None


def history(session: Session, reader: Rater, wanted: WantedEvents) -> History:
    """Return one page of the events that `reader` may see."""
    rows = _rows().where(_seen_by(reader), *_narrowed(reader, wanted))
    page = rows if wanted.before is None else rows.where(Event.id < wanted.before)
    entries = _entries(session, reader, page.order_by(Event.id.desc()).limit(PAGE_SIZE + 1))
    more = len(entries) > PAGE_SIZE
    return History(
        entries=entries[:PAGE_SIZE],
        older=entries[PAGE_SIZE - 1].id if more else None,
        total=session.scalar(select(func.count()).select_from(rows.subquery())) or 0,
        raters=_raters(session, reader),
        questions=_questions(session, reader),
        changes=tuple(one for one in ChangeKind if reader.is_owner or one not in _AGAIN),
        latest=_latest(session, reader),
    )


def log(session: Session, reader: Rater) -> tuple[HistoryEntry, ...]:
    """Return every event that `reader` may see, in the order of receipt."""
    return _entries(session, reader, _rows().where(_seen_by(reader)).order_by(Event.id))


def undo(session: Session, rater: Rater, latest: int, click: Click) -> None:
    """Take back the rater's own change `latest` by a new event.

    Sending the same undo twice changes nothing. Raises ``NoLongerLatest``.
    """
    events.lock(session, rater)
    mine = Event.rater_id == rater.id
    if session.scalar(select(Event.id).where(mine, Event.event_id == click.event_id)):
        return
    last = _last_change(session, rater)
    if last is None or last.id != latest:
        raise NoLongerLatest
    if last.task_id is not None:
        tasks.undo(session, rater, click)
    else:
        query = session.get_one(Query, last.query_key)
        events.undo(session, rater, query.run_id, click)


def _seen_by(reader: Rater) -> ColumnElement[bool]:
    if reader.is_owner:
        return Rater.study_id == reader.study_id
    return Event.rater_id == reader.id


def _narrowed(reader: Rater, wanted: WantedEvents) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.rater_id is not None:
        found.append(Event.rater_id == wanted.rater_id)
    if wanted.question_id is not None:
        found.append(Question.id == wanted.question_id)
    if wanted.change is ChangeKind.OUTCOME:
        found.append(and_(_changed("verdict", reader), _is_emptiness()))
    elif wanted.change is ChangeKind.VERDICT:
        found.append(and_(_changed("verdict", reader), ~_is_emptiness()))
    elif wanted.change is not None:
        found.append(_changed(str(wanted.change), reader))
    return found


def _changed(field: str, reader: Rater) -> ColumnElement[bool]:
    """Return the condition that an event changed this field, as `reader` sees it."""
    as_told = [field] if reader.is_owner else [field, AGAIN.get(field, field)]
    return Event.field.in_(as_told)


def _is_emptiness() -> ColumnElement[bool]:
    return and_(JudgedThing.id.is_not(None), JudgedThing.property_id.is_(None))


def _rows() -> _Rows:
    """Return the statement over events with the target of each."""
    asked = func.coalesce(JudgedThing.question_id, Query.question_id)
    return (
        select(Event, Rater.name, Question, JudgedThing, Property.identity, Query)
        .join(Rater, Rater.id == Event.rater_id)
        .outerjoin(JudgedThing, JudgedThing.id == Event.judged_thing_id)
        .outerjoin(Property, Property.id == JudgedThing.property_id)
        .outerjoin(Query, Query.id == Event.query_key)
        .outerjoin(Question, Question.id == asked)
    )


def _entries(session: Session, reader: Rater, wanted: _Rows) -> tuple[HistoryEntry, ...]:
    rows = session.execute(wanted).all()
    found = [row[0] for row in rows]
    stand, overtaken = _standing(session, found)
    undone = set(session.scalars(select(Event.undoes_id).where(Event.undoes_id.is_not(None))))
    letters = _letters(session, found)
    blind = studies.is_blind(session, reader.study)
    return tuple(
        HistoryEntry(
            id=event.id,
            rater=name,
            position=question.position if question else None,
            question=question.text if question else None,
            change=_change(event, thing, reader),
            title=thing.card["title"] if thing and thing.card else None,
            identity=identity,
            content=thing.content if thing and identity else None,
            answer=None if thing or (blind and not reader.is_owner) else event.query_key,
            letter=letters.get((event.task_id, event.query_key)),
            run_id=query.run_id if query and not blind else None,
            query_id=query.query_id if query and not blind else None,
            task_id=event.task_id,
            old=event.old,
            new=event.new,
            cause=event.cause,
            undoes=event.undoes_id,
            device=event.device,
            sequence=event.sequence,
            event_id=event.event_id,
            client_time=event.client_time,
            received_at=event.received_at,
            stands=event.id in stand,
            undone=event.id in undone,
            overtaken=event.id in overtaken,
        )
        for event, name, question, thing, identity, query in rows
    )


def _change(event: Event, thing: JudgedThing | None, reader: Rater) -> ChangeKind:
    found = ChangeKind(event.field)
    if not reader.is_owner:
        found = _AGAIN.get(event.field, found)
    if found is ChangeKind.VERDICT and thing is not None and thing.property_id is None:
        return ChangeKind.OUTCOME
    return found


def _standing(session: Session, found: Sequence[Event]) -> tuple[set[int], set[int]]:
    """Return which of the events `found` are in force now, and which never were."""
    wanted = select(Event).where(Event.rater_id.in_({event.rater_id for event in found}))
    if len(found) <= PAGE_SIZE + 1:  # the whole log names more things than a statement may
        things = {event.judged_thing_id for event in found} - {None}
        answers = {event.query_key for event in found if event.judged_thing_id is None} - {None}
        wanted = wanted.where(or_(Event.judged_thing_id.in_(things), Event.query_key.in_(answers)))
    rivals: dict[tuple[int, Target], list[Event]] = defaultdict(list)
    for event in session.scalars(wanted):
        target = _target(event)
        if target is not None:
            rivals[event.rater_id, target].append(event)
    stand, overtaken = set(), set()
    for history in rivals.values():
        *_, last = ordered = in_order(history)
        stand.add(last.id)
        overtaken |= _overtaken([event.id for event in ordered])
    return stand, overtaken


def _overtaken(ids: Sequence[int]) -> set[int]:
    """Return the events that were received after one that comes later in order.

    >>> _overtaken([1, 4, 2, 3])
    {4}
    """
    return {id_ for place, id_ in enumerate(ids) if any(later < id_ for later in ids[place:])}


def _target(event: Event) -> Target | None:
    """Return the target of `event`, wherever it was clicked; ``None`` if it was deleted."""
    if event.judged_thing_id is None and event.query_key is None:
        return None
    if event.field in _AGAIN:
        return Target.of(event)
    if event.judged_thing_id is not None:
        return Target(event.field, thing_id=event.judged_thing_id)
    return Target(event.field, query_key=event.query_key)


def _letters(session: Session, found: Sequence[Event]) -> dict[tuple[str | None, int | None], str]:
    """Return by which letter a blind rater knew each answer, by task and answer."""
    named = {event.task_id for event in found if event.task_id and event.query_key}
    return {
        (task.id, query.id): letter(number)
        for task in session.scalars(select(Task).where(Task.id.in_(named)))
        for number, query in enumerate(tasks.answers(session, task))
    }


def _last_change(session: Session, rater: Rater) -> Event | None:
    return events.last_change(
        session, rater, or_(Event.task_id.is_not(None), Event.query_key.is_not(None))
    )


def _latest(session: Session, reader: Rater) -> HistoryEntry | None:
    last = _last_change(session, reader)
    if last is None:
        return None
    (entry,) = _entries(session, reader, _rows().where(Event.id == last.id))
    return entry


def _raters(session: Session, reader: Rater) -> tuple[FilterChoice, ...]:
    if not reader.is_owner:
        return ()
    found = studies.people_and_machines(session, reader.study)
    return tuple(FilterChoice(rater.id, studies.called(rater)) for rater in found)


def _questions(session: Session, reader: Rater) -> tuple[FilterChoice, ...]:
    asked = select(Query.question_id).join(Run).where(Run.study_id == reader.study_id)
    found = session.scalars(
        select(Question)
        .where(Question.id.in_(asked))
        .order_by(Question.question_set_id, Question.position)
    )
    return tuple(FilterChoice(row.id, f"{row.position}. {row.text}") for row in found)


Value = str | int | bool | None

_COLUMNS: Mapping[str, Callable[[HistoryEntry], Value]] = {
    "id": lambda entry: entry.id,
    "rater": lambda entry: entry.rater,
    "client_time": lambda entry: _time(entry.client_time),
    "received_at": lambda entry: _time(entry.received_at),
    "question_position": lambda entry: entry.position,
    "question": lambda entry: entry.question,
    "field": lambda entry: str(entry.change),
    "property": lambda entry: entry.identity,
    "content": lambda entry: entry.content,
    "title": lambda entry: entry.title,
    "answer": lambda entry: entry.letter if entry.answer is None else entry.answer,
    "run": lambda entry: entry.run_id,
    "query_id": lambda entry: entry.query_id,
    "task": lambda entry: entry.task_id,
    "old": lambda entry: entry.old,
    "new": lambda entry: entry.new,
    "cause": lambda entry: entry.cause,
    "undoes": lambda entry: entry.undoes,
    "device": lambda entry: entry.device,
    "sequence": lambda entry: entry.sequence,
    "event_id": lambda entry: entry.event_id,
    "stands": lambda entry: entry.stands,
    "undone": lambda entry: entry.undone,
    "overtaken": lambda entry: entry.overtaken,
}

COLUMNS = tuple(_COLUMNS)
"""The columns of the CSV file and the keys of every line of the JSON one."""


def as_csv(session: Session, reader: Rater) -> bytes:
    """Return all events that `reader` may see, one line each; booleans are 1 and 0."""
    rows = [tuple(map(_cell, _values(entry))) for entry in log(session, reader)]
    return csv_bytes([COLUMNS, *rows])


def as_json_lines(session: Session, reader: Rater) -> bytes:
    """Return all events that `reader` may see, one JSON object a line."""
    lines = (
        json.dumps(dict(zip(COLUMNS, _values(entry), strict=True)), ensure_ascii=False)
        for entry in log(session, reader)
    )
    return "".join(f"{line}\n" for line in lines).encode()


def _values(entry: HistoryEntry) -> Sequence[Value]:
    return [read(entry) for read in _COLUMNS.values()]


def _cell(value: Value) -> Cell:
    return int(value) if isinstance(value, bool) else value


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
