"""The log of a rater's clicks: stored once and put in order; the last one decides the row.

Clicks only add events: a correction is one more, an undo names the event that it takes back. Order
is by device sequence, then by the earlier of client time and server receipt. An event can be
no later than a later event of its own device, so a clock that runs ahead for a while cannot shadow
the clicks of another device.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple, Self, TypeVar

from sqlalchemy import (
    Connection,
    CursorResult,
    Row,
    Select,
    bindparam,
    func,
    insert,
    select,
)
from sqlalchemy.orm import Session

from relevansi import failures
from relevansi.db.engine import token_id
from relevansi.db.rows import added, core, upsert
from relevansi.db.tables.base import Base
from relevansi.db.tables.judging import Event, Judgment, QueryRating, Repeat, RepeatRating
from relevansi.db.tables.people import Rater
from relevansi.db.tables.phase_3 import QuestionnaireAnswer
from relevansi.db.tables.runs import Query, Run
from relevansi.failures import Conflict
from relevansi.i18n import mark
from relevansi.metrics.judging.queries import QuerySummary
from relevansi.records import COMMENTS, USABILITY_ITEMS, Click
from relevansi.services.judging import stored_summaries

PlacedT = TypeVar("PlacedT", bound=Any)
"""An event with its ``device``, ``sequence``, ``client_time`` and ``received_at``."""


def made_at(event: Any) -> datetime:
    """Return when an event was made: by its device's clock, but never later than it arrived."""
    at: datetime = min(event.client_time or event.received_at, event.received_at)
    return at


def in_order(events: Iterable[PlacedT]) -> Sequence[PlacedT]:
    """Return the events from first to last, for any order of `events`."""
    by_device = sorted(events, key=lambda e: (e.device, e.sequence, made_at(e)), reverse=True)
    placed: list[tuple[datetime, str, int, PlacedT]] = []
    # From each device's last event back: none is later than the one after it.
    for event in by_device:
        moment = made_at(event)
        if placed and placed[-1][1] == event.device:
            moment = min(moment, placed[-1][0])
        placed.append((moment, event.device, event.sequence, event))
    placed.reverse()
    return [event for *_, event in sorted(placed, key=itemgetter(0, 1, 2))]


def current_event(events: Iterable[PlacedT]) -> PlacedT | None:
    """Return the event in force: the last one in order, ``None`` if there is none."""
    ordered = in_order(events)
    return ordered[-1] if ordered else None


QUESTIONNAIRE = frozenset((*USABILITY_ITEMS, *COMMENTS))
"""The fields of events that are on no card and no answer."""
REASON = "reason"
"""The field of why an item is not relevant: it moves no figure, and never the verdict."""
EVIDENCE = "evidence"
"""The field of what a rater looked up and found to fit; its verdict is an event of its own."""
BESIDE_VERDICT = frozenset((REASON, EVIDENCE))
"""The fields whose values are columns in the row of a verdict."""
REPEAT_FIELDS = {
    "verdict": "repeat",
    "quality": "repeat quality",
    "notes": "repeat notes",
    REASON: "repeat reason",
}
"""The event fields of a hidden repeat, by field; they never change the verdict itself."""
_REPEATS = frozenset(REPEAT_FIELDS.values())
BULK_REFRESH_FROM = 50
"""From so many targets on, the figures of all of a rater's questions are summed up at once."""


class EventIdTaken(Conflict):
    message = mark("This click was stored before as something else")
    remedy = failures.RELOAD
    program_remedy = mark("Give another click another event_id.")


class NewEvent(NamedTuple):
    event_id: str
    new: str | None
    device: str
    sequence: int
    client_time: datetime | None
    received_at: datetime

    @property
    def click(self) -> Click:
        return Click(self.event_id, self.received_at, self.client_time, self.device, self.sequence)


_Placed = Row[Any] | NewEvent


class Target(NamedTuple):
    """The value that one event changes: a verdict on an item, quality or notes of a query.

    Beside an item, ``query_key`` and ``task_id`` say only on which page the click was.
    """

    field: str
    item_id: int | None = None
    query_key: int | None = None
    task_id: str | None = None

    @classmethod
    def of(cls, event: Event | Row[Any]) -> Self:
        return cls(event.field, event.judged_item_id, event.query_key, event.task_id)

    @classmethod
    def in_task(
        cls,
        field: str,
        item_id: int | None,
        query_key: int | None = None,
        task_id: str | None = None,
        *,
        in_repeat: bool,
    ) -> Self:
        """Return a target of a task; a hidden repeat has targets of its own."""
        return cls(REPEAT_FIELDS[field] if in_repeat else field, item_id, query_key, task_id)

    @property
    def is_repeat(self) -> bool:
        return self.field in _REPEATS

    @property
    def conflict_key(self) -> Self:
        """The target without its page: events on equal ones decide the same value."""
        task_id = self.task_id if self.is_repeat else None
        query_key = self.query_key if self.item_id is None else None
        return self._replace(task_id=task_id, query_key=query_key)


class TargetChange(NamedTuple):
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
    """Store one event, write the value of the event in force to the rater's row, and return it.

    The same event twice changes nothing; raises ``EventIdTaken`` for an id that means
    something else already.
    """
    connection = core(session)
    history = events_on(connection, rater, target)
    event = _new_event(history, new, click)
    if event is None:
        in_force: str | None = in_order(history)[-1].new
        return in_force
    values = _columns(rater, target, event, current_event(history), cause)
    values["undoes_id"] = undoes.id if undoes else None
    values["token_id"] = token_id(session)
    # The history is of this target alone: the id may be taken by an event on another one.
    if not connection.execute(added(Event, connection.dialect.name, _UNIQUE), values).rowcount:
        raise EventIdTaken(click.event_id)
    events: list[_Placed] = [*history, event]
    last = in_order(events)[-1]
    _write_current(connection, rater, {target: last})
    return last.new


def record_all(
    session: Session, rater: Rater, changes: Iterable[TargetChange], *, cause: str = "click"
) -> None:
    """Store events as ``record`` would one after the other, in a few statements."""
    connection = core(session)
    histories: defaultdict[Target, list[_Placed]] = defaultdict(list)
    used_ids = set()
    stored: CursorResult[Any] = connection.execute(
        select(*_SETTLED, *_TARGET).where(Event.rater_id == rater.id)
    )
    for row in stored:
        histories[Target.of(row).conflict_key].append(row)
        used_ids.add((row.event_id, row.field))
    rows = []
    for target, new, click in changes:
        history = histories[target.conflict_key]
        event = _new_event(history, new, click)
        if event is None:
            continue
        if (event.event_id, target.field) in used_ids:
            raise EventIdTaken(event.event_id)
        used_ids.add((event.event_id, target.field))
        values = _columns(rater, target, event, current_event(history), cause)
        rows.append((target, values | {"token_id": token_id(session)}))
        history.append(event)
    if rows:
        connection.execute(insert(Event), [values for _, values in rows])
        lasts = {
            target.conflict_key: in_order(histories[target.conflict_key])[-1] for target, _ in rows
        }
        _write_current(connection, rater, lasts)


def count(session: Session) -> int:
    """Return how many clicks are stored, those that were taken back too."""
    return session.scalar(select(func.count(Event.id))) or 0


def refresh(session: Session, rater: Rater, targets: Sequence[Target]) -> dict[int, QuerySummary]:
    """Rewrite the rater's summaries of every query that shows a target or is one.

    Returns them by query, or nothing from ``BULK_REFRESH_FROM`` targets on.
    """
    moves = [t for t in targets if not (t.is_repeat or t.field in BESIDE_VERDICT)]
    touched = dict.fromkeys((t.conflict_key.item_id, t.conflict_key.query_key) for t in moves)
    if len(touched) >= BULK_REFRESH_FROM:
        in_study = Query.run_id.in_(select(Run.id).where(Run.study_id == rater.study_id))
        stored_summaries.refresh(session, [rater.id], in_study)
        return {}
    summaries: dict[int, QuerySummary] = {}
    for item_id, query_key in touched:
        summaries |= stored_summaries.refresh_touched(session, rater.id, item_id, query_key)
    return summaries


_UNIQUE = ("rater_id", "event_id", "field")
_SETTLED = (
    *(Event.id, Event.event_id, Event.new, Event.device, Event.sequence),
    *(Event.client_time, Event.received_at),
)
_TARGET = (Event.field, Event.judged_item_id, Event.query_key, Event.task_id)


def events_on(connection: Connection, rater: Rater, target: Target) -> Sequence[Row[Any]]:
    """Return the events that decide the value of a target, in any order."""
    key = target.conflict_key
    statement = _history_of(
        on_item=key.item_id is not None,
        on_query=key.query_key is not None,
        in_task=key.task_id is not None,
    )
    return connection.execute(statement, {"rater_id": rater.id, **key._asdict()}).all()


@cache
def _history_of(*, on_item: bool, on_query: bool, in_task: bool) -> Select[*tuple[Any, ...]]:
    statement = select(*_SETTLED).where(
        Event.rater_id == bindparam("rater_id"), Event.field == bindparam("field")
    )
    if in_task:
        statement = statement.where(Event.task_id == bindparam("task_id"))
    if on_item:
        return statement.where(Event.judged_item_id == bindparam("item_id"))
    of_query = Event.query_key == bindparam("query_key") if on_query else Event.query_key.is_(None)
    return statement.where(Event.judged_item_id.is_(None), of_query)


def _new_event(history: Sequence[_Placed], new: str | None, click: Click) -> NewEvent | None:
    """Return the event of a click, ``None`` where it is stored; raises ``EventIdTaken``."""
    value = None if new is None else str(new)
    for event in history:
        if event.event_id == click.event_id:
            if event.new != value:
                raise EventIdTaken(click.event_id)
            return None
    device, sequence = place(click, history)
    return NewEvent(click.event_id, value, device, sequence, click.client_time, click.received_at)


def _columns(
    rater: Rater, target: Target, event: NewEvent, before: _Placed | None, cause: str
) -> dict[str, object]:
    return event._asdict() | {
        "rater_id": rater.id,
        "field": target.field,
        "judged_item_id": target.item_id,
        "query_key": target.query_key,
        "task_id": target.task_id,
        "old": before.new if before else None,
        "cause": cause,
    }


def place(click: Click, history: Sequence[Any]) -> tuple[str, int]:
    """Return the event's device and sequence; without a script the server counts."""
    if click.device and click.sequence is not None:
        return click.device, click.sequence
    sequences = (event.sequence for event in history if event.device == "")
    return "", max(sequences, default=0) + 1


def _write_current(connection: Connection, rater: Rater, lasts: Mapping[Target, _Placed]) -> None:
    """Write the values of the events in force to the rater's rows, in few statements."""
    written: defaultdict[tuple[type[Base], tuple[str, ...]], list[dict[str, object]]]
    written = defaultdict(list)
    for target, last in lasts.items():
        row = _row(rater, target, last.new)
        if row is None:
            continue
        model, key, values = row
        values["changed_at"] = last.received_at
        written[model, tuple(values)].append(key | values)
    for (model, columns), rows in written.items():
        # The time of a judgment is that of its verdict, which earlier_verdicts goes by.
        unchanged = () if "verdict" in columns or model is not Judgment else ("changed_at",)
        upserted = upsert(model, connection.dialect.name, columns, unchanged)
        connection.execute(upserted, rows)


def _row(
    rater: Rater, target: Target, new: str | None
) -> tuple[type[Base], dict[str, object], dict[str, object]] | None:
    """Return the table, the key and the columns of the row that holds `new`.

    ``None`` for the reason in a hidden repeat, which only its events have.
    """
    field, in_repeat = target.field, target.is_repeat
    key: dict[str, object] = {"task_id": target.task_id} if in_repeat else {"rater_id": rater.id}
    if field in QUESTIONNAIRE:
        score = int(new) if new and field in USABILITY_ITEMS else None
        text = new or "" if field in COMMENTS else ""
        return QuestionnaireAnswer, key | {"item": field}, {"score": score, "text": text}
    if field == REPEAT_FIELDS[REASON]:
        return None
    if target.item_id is not None:
        table: type[Base] = Repeat if in_repeat else Judgment
        beside = {REASON: ("reason", new), EVIDENCE: ("is_evidence", new == "1")}
        column, value = beside.get(field, ("verdict", new))
        return table, key | {"judged_item_id": target.item_id}, {column: value}
    table, key["query_key"] = RepeatRating if in_repeat else QueryRating, target.query_key
    if field in {"notes", REPEAT_FIELDS["notes"]}:
        return table, key, {"notes": new or ""}
    return table, key, {"quality": None if new is None else int(new)}


def current(session: Session, rater: Rater, target: Target) -> Row[Any] | None:
    """Return the rater's event in force on a target."""
    return current_event(events_on(core(session), rater, target))
