"""The change log: time, rater, field, old and new value, as people read and download it.

The owner sees every rater's events. A rater sees their own, where a hidden repeat looks like
any other judgment.
While the study is blind no entry names a run: an answer is called by its letter, to the owner
by its number too. Numbers follow the runs, so a rater would see which answers belong together.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from msgspec import Struct
from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.orm import Session

from relevansi.db.tables.catalogue import Search
from relevansi.db.tables.judging import Event, JudgedItem, StoredItem, Task
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Question
from relevansi.exporters.frame.csv_cells import csv_bytes
from relevansi.failures import Conflict
from relevansi.i18n import mark
from relevansi.records import Click
from relevansi.services.judging import events, judgments, undoing
from relevansi.services.judging.events import REPEAT_FIELDS, Target, in_order
from relevansi.services.people import tokens
from relevansi.services.rating import task_judgments
from relevansi.services.rating.tasks import letter
from relevansi.services.study import studies

PAGE_SIZE = 50


class ChangeKind(StrEnum):
    VERDICT = "verdict"
    OUTCOME = "outcome"
    QUALITY = "quality"
    NOTES = "notes"
    REASON = "reason"
    EVIDENCE = "evidence"
    REPEAT = "repeat"
    REPEAT_QUALITY = "repeat quality"
    REPEAT_NOTES = "repeat notes"
    REPEAT_REASON = "repeat reason"


_SHOWN_TO_RATER = {name: ChangeKind(field) for field, name in REPEAT_FIELDS.items()}
"""The change that a repeat looks like to its rater, by the event's field."""


class NoLongerLatest(Conflict):
    message = mark("This is no longer your latest change")
    remedy = mark("Nothing was undone. Reload the page to see what is.")


class EventFilters(Struct, frozen=True):
    """Which events a reader asks for; ``before`` is the id of the event to go back from."""

    rater: int | None = None
    question: int | None = None
    change: ChangeKind | None = None
    before: int | None = None


class HistoryEntry(Struct, frozen=True):
    """One event as its reader sees it, and whether it ``stands``, was ``undone`` or ``overtaken``.

    One that stands is in force. An overtaken one never was: when it arrived, a later one was stored
    already.

    ``question`` is ``None`` once its run was deleted. ``title``, ``identity`` and ``content``
    name a card; ``answer`` is the number of a whole answer, which a blind rater never sees, and
    ``letter`` its name on the rater's page. ``query`` is ``None`` while the study is blind.
    ``program`` names the token by which it was written, of others' tokens only to the owner.
    """

    event: Event
    rater: str
    question: Question | None
    change: ChangeKind
    title: str | None
    identity: str | None
    content: int | None
    answer: int | None
    letter: str | None
    query: Query | None
    stands: bool
    undone: bool
    overtaken: bool
    program: str | None


class SearchEntry(NamedTuple):
    """A search of the catalogue as the log has it; ``item_count`` items fitted."""

    at: datetime
    rater: str
    question: str
    words: str
    filters: Mapping[str, Any]
    item_count: int


class History(Struct, frozen=True):
    """One page of the log, the latest event first, and the filters for it: ids and names.

    ``searches`` are the latest ones in the catalogue, on the first page alone.
    ``older`` is the event to go back from, ``None`` on the last page. ``latest`` is the
    reader's own latest change, if it can be undone. ``raters`` is empty for a rater.
    """

    entries: list[HistoryEntry]
    older: int | None
    total: int
    raters: list[tuple[int, str]]
    questions: list[tuple[int, str]]
    changes: list[ChangeKind]
    latest: HistoryEntry | None
    searches: list[SearchEntry]


def history(session: Session, reader: Rater, filters: EventFilters) -> History:
    """Return the page of the log that the filters ask for, as `reader` may see it."""
    rows = _rows(reader).where(*_narrowed(reader, filters))
    page = rows if filters.before is None else rows.where(Event.id < filters.before)
    entries = _entries(session, reader, page.order_by(Event.id.desc()).limit(PAGE_SIZE + 1))
    asked_ids = select(Query.question_id).join(Run).where(Run.study_id == reader.study_id)
    questions = session.scalars(
        select(Question)
        .where(Question.id.in_(asked_ids))
        .order_by(Question.question_set_id, Question.position)
    )
    people = studies.people_and_machines(session, reader.study) if reader.is_owner else []
    last = _last_change(session, reader)
    latest = _entries(session, reader, _rows(reader).where(Event.id == last.id)) if last else None
    return History(
        entries=entries[:PAGE_SIZE],
        older=entries[PAGE_SIZE - 1].event.id if len(entries) > PAGE_SIZE else None,
        total=session.scalar(select(func.count()).select_from(rows.subquery())) or 0,
        raters=[(rater.id, studies.rater_name(rater)) for rater in people],
        questions=[(row.id, f"{row.position}. {row.text}") for row in questions],
        changes=[kind for kind in ChangeKind if reader.is_owner or kind not in _SHOWN_TO_RATER],
        latest=latest[0] if latest else None,
        searches=_searches(session, reader, filters) if filters.before is None else [],
    )


def _searches(session: Session, reader: Rater, filters: EventFilters) -> list[SearchEntry]:
    columns = (Search.at, Rater.name, Question.text, Search.words, Search.filters)
    rows = (
        select(*columns, Search.item_count)
        .join_from(Search, Rater, Rater.id == Search.rater_id)
        .join(Question, Question.id == Search.question_id)
        .where(Rater.study_id == reader.study_id if reader.is_owner else Rater.id == reader.id)
    )
    if filters.rater is not None:
        rows = rows.where(Rater.id == filters.rater)
    if filters.question is not None:
        rows = rows.where(Question.id == filters.question)
    latest = rows.order_by(Search.at.desc(), Search.id.desc()).limit(PAGE_SIZE)
    return [SearchEntry(*row) for row in session.execute(latest)]


def undo(session: Session, rater: Rater, latest: int, click: Click) -> None:
    """Take back the rater's own change `latest`, once; raises ``NoLongerLatest``."""
    events.lock(session, rater)
    if undoing.stored_undo(session, rater, click) is not None:
        return
    last = _last_change(session, rater)
    if last is None or last.id != latest:
        raise NoLongerLatest
    if last.task_id is not None:
        task_judgments.undo(session, rater, click)
    else:
        query = session.get_one(Query, last.query_key)
        judgments.undo(session, rater, query.run_id, click)


def _narrowed(reader: Rater, filters: EventFilters) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions of the filters on the rows of ``_rows``."""
    if filters.rater is not None:
        yield Event.rater_id == filters.rater
    if filters.question is not None:
        yield Question.id == filters.question
    if filters.change is None:
        return
    is_emptiness = and_(JudgedItem.id.is_not(None), JudgedItem.item_id.is_(None))
    field = str(filters.change)
    if filters.change is ChangeKind.OUTCOME:
        field = "verdict"
        yield is_emptiness
    elif filters.change is ChangeKind.VERDICT:
        yield ~is_emptiness
    # To its rater a hidden repeat is a judgment like any other.
    yield Event.field.in_([field] if reader.is_owner else [field, REPEAT_FIELDS.get(field, field)])


def _rows(reader: Rater) -> Select[Event, str, Question, JudgedItem, str, Query]:
    question_id = func.coalesce(JudgedItem.question_id, Query.question_id)
    mine = Event.rater_id == reader.id
    return (
        select(Event, Rater.name, Question, JudgedItem, StoredItem.identity, Query)
        .join(Rater, Rater.id == Event.rater_id)
        .outerjoin(JudgedItem, JudgedItem.id == Event.judged_item_id)
        .outerjoin(StoredItem, StoredItem.id == JudgedItem.item_id)
        .outerjoin(Query, Query.id == Event.query_key)
        .outerjoin(Question, Question.id == question_id)
        .where(Rater.study_id == reader.study_id if reader.is_owner else mine)
    )


def _entries(
    session: Session,
    reader: Rater,
    statement: Select[Event, str, Question, JudgedItem, str, Query],
) -> list[HistoryEntry]:
    rows = session.execute(statement).all()
    logged = [row[0] for row in rows]
    current, overtaken = _current_and_overtaken(session, logged)
    undone = set(session.scalars(select(Event.undoes_id).where(Event.undoes_id.is_not(None))))
    letters = _letters(session, logged)
    programs = {
        token.id: token.name or str(token.id) for token in session.scalars(tokens.of(reader))
    }
    blind = studies.is_blind(session, reader.study)
    return [
        HistoryEntry(
            event=event,
            rater=name,
            question=question,
            change=_change(event, item, reader),
            title=item.card.get("title", "") if item and item.card else None,
            identity=identity,
            content=item.content if item and identity else None,
            answer=None if item or (blind and not reader.is_owner) else event.query_key,
            letter=letters.get((event.task_id, event.query_key)),
            query=None if blind else query,
            stands=event.id in current,
            undone=event.id in undone,
            overtaken=event.id in overtaken,
            program=programs.get(event.token_id, "") if event.token_id else None,
        )
        for event, name, question, item, identity, query in rows
    ]


def _change(event: Event, item: JudgedItem | None, reader: Rater) -> ChangeKind:
    kind = ChangeKind(event.field)
    if not reader.is_owner:
        kind = _SHOWN_TO_RATER.get(event.field, kind)
    if kind is ChangeKind.VERDICT and item is not None and item.item_id is None:
        return ChangeKind.OUTCOME
    return kind


def _current_and_overtaken(session: Session, logged: Sequence[Event]) -> tuple[set[int], set[int]]:
    """Return the ids of the events in force, and of those that never were, for these targets."""
    statement = select(Event).where(Event.rater_id.in_({event.rater_id for event in logged}))
    # Of a page only; the targets of a whole log are more than databases let a statement name.
    if len(logged) <= PAGE_SIZE + 1:
        item_ids = {event.judged_item_id for event in logged} - {None}
        answers = {event.query_key for event in logged if event.judged_item_id is None} - {None}
        statement = statement.where(
            or_(Event.judged_item_id.in_(item_ids), Event.query_key.in_(answers))
        )
    rivals: dict[tuple[int, Target], list[Event]] = defaultdict(list)
    for event in session.scalars(statement):
        if event.judged_item_id is not None or event.query_key is not None:
            rivals[event.rater_id, Target.of(event).conflict_key].append(event)
    current, overtaken = set(), set()
    for history in rivals.values():
        ids = [event.id for event in in_order(history)]
        current.add(ids[-1])
        overtaken |= _overtaken(ids)
    return current, overtaken


def _overtaken(ids: Sequence[int]) -> set[int]:
    """Return the events that were received after one that comes later in order.

    >>> _overtaken([1, 4, 2, 3])
    {4}
    """
    return {id_ for place, id_ in enumerate(ids) if any(later < id_ for later in ids[place:])}


def _letters(session: Session, logged: Sequence[Event]) -> dict[tuple[str | None, int | None], str]:
    task_ids = {event.task_id for event in logged if event.task_id and event.query_key}
    return {
        (task.id, query.id): letter(number)
        for task in session.scalars(select(Task).where(Task.id.in_(task_ids)))
        for number, query in enumerate(task_judgments.answers(session, task))
    }


def _last_change(session: Session, rater: Rater) -> Event | None:
    return undoing.last_change(
        session, rater, or_(Event.task_id.is_not(None), Event.query_key.is_not(None))
    )


_COLUMNS: Mapping[str, Callable[[HistoryEntry], Any]] = {
    "id": lambda entry: entry.event.id,
    "rater": lambda entry: entry.rater,
    "client_time": lambda entry: entry.event.client_time and entry.event.client_time.isoformat(),
    "received_at": lambda entry: entry.event.received_at.isoformat(),
    "question_position": lambda entry: entry.question and entry.question.position,
    "question": lambda entry: entry.question and entry.question.text,
    "field": lambda entry: str(entry.change),
    "property": lambda entry: entry.identity,
    "content": lambda entry: entry.content,
    "title": lambda entry: entry.title,
    "answer": lambda entry: entry.letter if entry.answer is None else entry.answer,
    "run": lambda entry: entry.query and entry.query.run_id,
    "query_id": lambda entry: entry.query and entry.query.query_id,
    "task": lambda entry: entry.event.task_id,
    "old": lambda entry: entry.event.old,
    "new": lambda entry: entry.event.new,
    "cause": lambda entry: entry.event.cause,
    "undoes": lambda entry: entry.event.undoes_id,
    "device": lambda entry: entry.event.device,
    "sequence": lambda entry: entry.event.sequence,
    "event_id": lambda entry: entry.event.event_id,
    "stands": lambda entry: entry.stands,
    "undone": lambda entry: entry.undone,
    "overtaken": lambda entry: entry.overtaken,
    "token": lambda entry: entry.event.token_id,
}

COLUMNS = tuple(_COLUMNS)
"""The columns of the CSV file and the keys of every line of the JSON one."""


def as_csv(session: Session, reader: Rater) -> bytes:
    """Return all events that `reader` may see, one line each; booleans are 1 and 0."""
    rows = (
        [int(value) if isinstance(value, bool) else value for value in row]
        for row in _log(session, reader)
    )
    return csv_bytes([COLUMNS, *rows])


def as_json_lines(session: Session, reader: Rater) -> bytes:
    """Return all events that `reader` may see, a line of JSON each with the keys ``COLUMNS``."""
    lines = (
        json.dumps(dict(zip(COLUMNS, row, strict=True)), ensure_ascii=False)
        for row in _log(session, reader)
    )
    return "".join(f"{line}\n" for line in lines).encode()


def _log(session: Session, reader: Rater) -> Iterator[list[Any]]:
    for entry in _entries(session, reader, _rows(reader).order_by(Event.id)):
        yield [value_of(entry) for value_of in _COLUMNS.values()]
