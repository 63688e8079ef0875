"""A rater's events: stored once and put in order; the one in force decides the rater's row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple, Protocol, Self

from sqlalchemy import (
    ColumnElement,
    Connection,
    Result,
    Row,
    Select,
    bindparam,
    delete,
    exists,
    insert,
    or_,
    select,
)
from sqlalchemy.orm import Session

from webapp import failures
from webapp.db.connection import tables
from webapp.db.tables.base import Base
from webapp.db.tables.judging import Event, Judgment, QueryRating
from webapp.db.tables.people import Rater
from webapp.db.tables.phase_3 import QuestionnaireAnswer
from webapp.db.tables.rating import Repeat, RepeatRating, Task
from webapp.db.tables.runs import Query, Run
from webapp.db.upserts import added, upsert
from webapp.failures import Conflict
from webapp.i18n import mark
from webapp.records import COMMENTS, USABILITY_ITEMS, Click
from webapp.services.judging import live_metrics
from webapp.services.judging.event_order import Placed, standing

QUESTIONNAIRE = frozenset((*USABILITY_ITEMS, *COMMENTS))
"""The fields of events that are on no card and no answer."""
AGAIN = {"verdict": "repeat", "quality": "repeat quality", "notes": "repeat notes"}
"""The event fields of a hidden repeat, by field; they never change the verdict itself."""
_REPEATS = frozenset(AGAIN.values())
MANY = 50
"""From so many targets on, the figures of all of a rater's questions are summed up at once."""


class EventIdTaken(Conflict):
    """An event id was used before for something else."""

    message = mark("This click was stored before as something else")
    remedy = failures.RELOAD


class Made(Placed, Protocol):
    """The parts of an event that decide a row: its id, its value, and its place in the order."""

    @property
    def event_id(self) -> str: ...  # noqa: D102
    @property
    def new(self) -> str | None: ...  # noqa: D102


class _New(NamedTuple):
    """The event that is being recorded."""

    event_id: str
    new: str | None
    device: str
    sequence: int
    client_time: datetime | None
    received_at: datetime


class Target(NamedTuple):
    """The value that one event changes.

    ``field`` is "verdict" (on a judged thing), "quality" or "notes" (of a query), or one of
    ``AGAIN`` (the same in a task that asks once more), or a field of a wing
    (of nothing else). For a verdict, ``query_key`` or
    ``task_id`` name the place of the click.
    """

    field: str
    thing_id: int | None = None
    query_key: int | None = None
    task_id: str | None = None

    @classmethod
    def verdict(cls, thing_id: int | None, query_key: int) -> Self:
        """Return the verdict on a judged thing, given on the page of a query."""
        return cls("verdict", thing_id=thing_id, query_key=query_key)

    @classmethod
    def rating(cls, query: Query, field: str, task_id: str | None = None) -> Self:
        """Return the quality or the notes of an answer."""
        return cls(field, query_key=query.id, task_id=task_id)

    @classmethod
    def of(cls, event: Event) -> Self:
        """Return the target of `event`."""
        return cls(event.field, event.judged_thing_id, event.query_key, event.task_id)

    @property
    def is_repeat(self) -> bool:
        """Whether this was given a second time, in a repeat task."""
        return self.field in _REPEATS

    @property
    def about(self) -> Self:
        """The target that is equal for all events settled together, wherever they were clicked."""
        task_id = self.task_id if self.is_repeat else None
        query_key = self.query_key if self.thing_id is None else None
        return self._replace(task_id=task_id, query_key=query_key)


class TargetChange(NamedTuple):
    """An event to record: its target, the value it gives, and the click behind it."""

    target: Target
    new: str | None
    click: Click


def lock(session: Session, rater: Rater) -> None:
    """Make the writers of one rater queue (on PostgreSQL; SQLite has one writer anyway)."""
    if session.get_bind().dialect.name != "sqlite":
        session.execute(select(Rater.id).where(Rater.id == rater.id).with_for_update())


def record(
    session: Session,
    rater: Rater,
    target: Target,
    new: str | None,
    click: Click,
    *,
    cause: str = "click",
    undoes: Event | None = None,
) -> str | None:
    """Store one event, write the event in force to the rater's row and return its value.

    The same event twice changes nothing; raises ``EventIdTaken`` for an id that means
    something else already.
    """
    connection = tables(session)
    history = _history(connection, rater, target)
    before = standing(history)
    event = _made(history, new, click)
    if event is None:
        return before.new if before else None
    values = _columns(rater, target, event, before, cause) | {
        "undoes_id": undoes.id if undoes else None
    }
    if not connection.execute(added(Event, connection.dialect, _UNIQUE), values).rowcount:
        raise EventIdTaken(click.event_id)
    made: list[Made] = [*history, event]
    last = standing(made)
    assert last is not None
    _settle(connection, rater, {target: last})
    return last.new


def record_all(
    session: Session, rater: Rater, changes: Iterable[TargetChange], *, cause: str = "click"
) -> None:
    """Store events as ``record`` would one after the other, in a few statements for any number.

    Raises ``EventIdTaken``; nothing is stored then.
    """
    connection = tables(session)
    histories: defaultdict[Target, list[Made]] = defaultdict(list)
    taken = set()
    stored: Result[Any] = connection.execute(
        select(*_SETTLED, *_TARGET).where(Event.rater_id == rater.id)
    )
    for known in stored:
        about = Target(known.field, known.judged_thing_id, known.query_key, known.task_id).about
        histories[about].append(known)
        taken.add((known.event_id, known.field))
    rows = []
    for target, new, click in changes:
        history = histories[target.about]
        event = _made(history, new, click)
        if event is None:
            continue
        if (event.event_id, target.field) in taken:
            raise EventIdTaken(event.event_id)
        taken.add((event.event_id, target.field))
        rows.append((target, _columns(rater, target, event, standing(history), cause)))
        history.append(event)
    if rows:
        connection.execute(insert(Event), [values for _, values in rows])
        lasts = {target.about: standing(histories[target.about]) for target, _ in rows}
        _settle(connection, rater, {about: last for about, last in lasts.items() if last})


def forget(session: Session, rater: Rater, forgotten: Sequence[Event]) -> None:
    """Delete events of a rater as if they had never been; what is left of each target counts."""
    connection = tables(session)
    targets = list(dict.fromkeys(Target.of(event).about for event in forgotten))
    gone = [event.id for event in forgotten]
    session.execute(delete(Event).where(or_(Event.id.in_(gone), Event.undoes_id.in_(gone))))
    for target in targets:
        model, key = _row(rater, target)
        session.execute(delete(model).filter_by(**key))
        last = standing(_history(connection, rater, target))
        if last is not None:
            _settle(connection, rater, {target: last})
    refresh(session, rater, targets)


def refresh(session: Session, rater: Rater, targets: Sequence[Target]) -> None:
    """Rewrite the rater's summaries of every query that shows a target or is one.

    Verdicts of a hidden repeat change no summary.
    """
    moved = dict.fromkeys(target.about for target in targets if not target.is_repeat)
    if len(moved) < MANY:
        for target in moved:
            live_metrics.refresh_touched(session, rater.id, target.thing_id, target.query_key)
    else:
        in_study = Query.run_id.in_(select(Run.id).where(Run.study_id == rater.study_id))
        live_metrics.refresh(session, [rater.id], in_study)


def last_change(session: Session, rater: Rater, where: ColumnElement[bool]) -> Event | None:
    """Return the rater's latest event that changed something and was not undone.

    `where` is a condition on ``Event`` and, where it was clicked on a run, its ``Query``.
    """
    undone = select(Event.undoes_id).where(Event.rater_id == rater.id, Event.undoes_id.is_not(None))
    return session.scalar(
        select(Event)
        .outerjoin(Query, Query.id == Event.query_key)
        .where(
            Event.rater_id == rater.id,
            Event.cause != "undo",
            or_(Event.old.is_distinct_from(Event.new), _asked_again()),
            Event.id.not_in(undone),
            where,
        )
        .order_by(Event.id.desc())
        .limit(1)
    )


def _asked_again() -> ColumnElement[bool]:
    """Return the condition that an event answers a question asked again, even by the same value."""
    return exists().where(Task.id == Event.task_id, Task.asked_again_at <= Event.received_at)


_UNIQUE = ("rater_id", "event_id", "field")
_SETTLED = (
    *(Event.event_id, Event.new, Event.device, Event.sequence),
    *(Event.client_time, Event.received_at),
)
_TARGET = (Event.field, Event.judged_thing_id, Event.query_key, Event.task_id)


def _history(connection: Connection, rater: Rater, target: Target) -> Sequence[Row[Any]]:
    """Return every event that changed the target."""
    on_thing = target.thing_id is not None
    on_query = not on_thing and target.query_key is not None
    values = {"rater_id": rater.id, "field": target.field, "task_id": target.task_id}
    if on_thing or on_query:
        values["of"] = target.thing_id if on_thing else target.query_key
    statement = _history_of(on_thing, on_query, target.is_repeat)
    return connection.execute(statement, values).all()


@cache
def _history_of(on_thing: bool, on_query: bool, in_task: bool) -> Select[*tuple[Any, ...]]:
    own = select(*_SETTLED).where(
        Event.rater_id == bindparam("rater_id"), Event.field == bindparam("field")
    )
    if in_task:
        own = own.where(Event.task_id == bindparam("task_id"))
    if on_thing:
        return own.where(Event.judged_thing_id == bindparam("of"))
    own = own.where(Event.judged_thing_id.is_(None))
    return own.where(Event.query_key == bindparam("of") if on_query else Event.query_key.is_(None))


def _made(history: Sequence[Made], new: str | None, click: Click) -> _New | None:
    """Return the event of a click, ``None`` if it is in the history of its target already."""
    wanted = None if new is None else str(new)
    for known in history:
        if known.event_id == click.event_id:
            if known.new != wanted:
                raise EventIdTaken(click.event_id)
            return None
    device, sequence = _place(click, history)
    return _New(click.event_id, wanted, device, sequence, click.client_time, click.received_at)


def _columns(
    rater: Rater, target: Target, event: _New, before: Made | None, cause: str
) -> dict[str, object]:
    """Return the row of an event, by column; `before` was in force until then."""
    return {
        "rater_id": rater.id,
        "event_id": event.event_id,
        "field": target.field,
        "judged_thing_id": target.thing_id,
        "query_key": target.query_key,
        "task_id": target.task_id,
        "old": before.new if before else None,
        "new": event.new,
        "cause": cause,
        "device": event.device,
        "sequence": event.sequence,
        "client_time": event.client_time,
        "received_at": event.received_at,
    }


def _place(click: Click, history: Sequence[Made]) -> tuple[str, int]:
    """Return the event's device and sequence; without a script the server counts."""
    if click.device and click.sequence is not None:
        return click.device, click.sequence
    counted = (event.sequence for event in history if event.device == "")
    return "", max(counted, default=0) + 1


def _settle(connection: Connection, rater: Rater, lasts: Mapping[Target, Made]) -> None:
    """Write the values of the events in force to the rater's rows."""
    written: defaultdict[tuple[type[Base], tuple[str, ...]], list[dict[str, object]]]
    written = defaultdict(list)
    for target, last in lasts.items():
        model, key = _row(rater, target)
        said = _said(target.field, last.new) | {"changed_at": last.received_at}
        written[model, tuple(said)].append(key | said)
    for (model, given), rows in written.items():
        connection.execute(upsert(model, connection.dialect, given), rows)


def _row(rater: Rater, target: Target) -> tuple[type[Base], dict[str, object]]:
    """Return the table and the key of the row that holds an event's target."""
    again = target.is_repeat
    key: dict[str, object] = {"task_id": target.task_id} if again else {"rater_id": rater.id}
    if target.field in QUESTIONNAIRE:
        return QuestionnaireAnswer, key | {"item": target.field}
    if target.thing_id is not None:
        return Repeat if again else Judgment, key | {"judged_thing_id": target.thing_id}
    return RepeatRating if again else QueryRating, key | {"query_key": target.query_key}


def _said(field: str, new: str | None) -> dict[str, object]:
    """Return the values of a rater's row, by column."""
    if field in QUESTIONNAIRE:
        return _questionnaire_values(field, new)
    if field in {"quality", AGAIN["quality"]}:
        return {"quality": None if new is None else int(new)}
    if field in {"notes", AGAIN["notes"]}:
        return {"notes": new or ""}
    return {"verdict": new}


def _questionnaire_values(field: str, new: str | None) -> dict[str, object]:
    """Return the values of a row of the closing questionnaire, by column."""
    if field in USABILITY_ITEMS:
        return {"score": int(new) if new else None, "text": ""}
    return {"score": None, "text": new or ""}
