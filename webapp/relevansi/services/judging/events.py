"""A rater's clicks: stored once as events and put in order; the one in force decides the row.

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

from msgspec import UNSET, Struct, UnsetType
from sqlalchemy import (
    ColumnElement,
    Connection,
    CursorResult,
    Row,
    Select,
    bindparam,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.orm import Session, aliased

from relevansi import failures
from relevansi.db.engine import added, core, token_id, upsert
from relevansi.db.tables.base import Base
from relevansi.db.tables.judging import (
    Event,
    JudgedItem,
    Judgment,
    QueryRating,
    Repeat,
    RepeatRating,
    Task,
)
from relevansi.db.tables.people import Rater
from relevansi.db.tables.phase_3 import QuestionnaireAnswer
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, QuestionSet, Study
from relevansi.failures import Conflict, Missing, Refused
from relevansi.i18n import mark
from relevansi.metrics.judging.queries import BEST_QUALITY, QuerySummary
from relevansi.records import (
    COMMENTS,
    USABILITY_ITEMS,
    Click,
    EmptyOutcome,
    QueryState,
    Scale,
)
from relevansi.services.judging import reasons, stored_summaries
from relevansi.services.judging.changes import revise

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


OUTCOME_OF_PIN = ":outcome"
"""The end of the event id of an outcome that a pin brought: the rest is the pin's id."""


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
    history = _history(connection, rater, target)
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


def forget(session: Session, rater: Rater, forgotten: Sequence[Event]) -> None:
    """Delete events of a rater as if they had never been; what is left of each target counts."""
    connection = core(session)
    targets = list(dict.fromkeys(Target.of(event).conflict_key for event in forgotten))
    # A reason or evidence is in the row of its verdict, which goes first and is written anew.
    targets.sort(key=lambda target: target.field in BESIDE_VERDICT)
    gone = [event.id for event in forgotten]
    session.execute(delete(Event).where(or_(Event.id.in_(gone), Event.undoes_id.in_(gone))))
    for target in targets:
        row = _row(rater, target, None)
        if row is not None:
            model, key, values = row
            is_beside = target.field in BESIDE_VERDICT
            change = update(model).values(values) if is_beside else delete(model)
            session.execute(change.filter_by(**key))
        last = current_event(_history(connection, rater, target))
        if last is not None:
            _write_current(connection, rater, {target: last})
    refresh(session, rater, targets)


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


def last_change(session: Session, rater: Rater, where: ColumnElement[bool]) -> Event | None:
    """Return the rater's latest event within `where` that changed a value and was not undone."""
    undone = select(Event.undoes_id).where(Event.rater_id == rater.id, Event.undoes_id.is_not(None))
    return session.scalar(
        select(Event)
        .outerjoin(Query, Query.id == Event.query_key)
        .where(
            Event.rater_id == rater.id,
            Event.cause != "undo",
            # An answer to a question asked again counts even with the same value.
            or_(
                Event.old.is_distinct_from(Event.new),
                exists().where(Task.id == Event.task_id, Task.asked_again_at <= Event.received_at),
            ),
            Event.id.not_in(undone),
            where,
        )
        .order_by(Event.id.desc())
        .limit(1)
    )


_UNIQUE = ("rater_id", "event_id", "field")
_SETTLED = (
    *(Event.id, Event.event_id, Event.new, Event.device, Event.sequence),
    *(Event.client_time, Event.received_at),
)
_TARGET = (Event.field, Event.judged_item_id, Event.query_key, Event.task_id)


def _history(connection: Connection, rater: Rater, target: Target) -> Sequence[Row[Any]]:
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


LONGEST_NOTES = 10_000
"""Characters of the notes on an answer."""


class UnknownQuery(Missing):
    message = mark("This run has no such question or card")
    remedy = failures.SEE_RUNS


class UnknownItem(Missing):
    message = mark("This study has no item %(name)s")
    remedy = mark("Items have their numbers in the list of items.")


class NotToJudge(Refused):
    message = mark("There is nothing of that kind to judge here")
    remedy = failures.RELOAD
    program_remedy = mark(
        "Send a verdict of the study's scale on an item, an outcome on an empty list."
    )


class NotesTooLong(Conflict):
    message = mark("This note was changed elsewhere, and both texts together are too long")
    remedy = mark("Shorten yours, or reload the page to see the other.")


KEEP = UNSET
"""The mark of a part of a rating that the rater left as it is."""


class AnswerRating(Struct, frozen=True):
    """A rater's rating of a whole answer; ``None`` takes a part back, ``KEEP`` leaves it.

    ``notes_base`` is the text that the edit of the notes began from, where that is known.
    """

    quality: int | UnsetType | None = KEEP
    notes: str | UnsetType = KEEP
    empty_outcome: EmptyOutcome | UnsetType | None = KEEP
    notes_base: str | None = None


class Answer(NamedTuple):
    """The answer that a rating is about: its query and, where it has one, its emptiness."""

    query_key: int | None
    emptiness_id: int | None
    task_id: str | None = None
    in_repeat: bool = False

    def target(self, field: str) -> Target:
        on_item = field == "verdict"
        item_id = self.emptiness_id if on_item else None
        query_key = None if on_item and self.task_id else self.query_key
        return Target.in_task(field, item_id, query_key, self.task_id, in_repeat=self.in_repeat)


def judge_target(
    session: Session, rater: Rater, target: Target, verdict: str | None, click: Click, scale: Any
) -> tuple[str | None, dict[int, QuerySummary]]:
    """Return the verdict in force after this one is recorded, and the summaries that it moved.

    Raises ``NotToJudge`` for a verdict that is not of the `scale`.
    """
    if verdict is not None and not Scale.stored(scale).accepts(verdict):
        raise NotToJudge
    in_force = record(session, rater, target, verdict, click)
    return in_force, refresh(session, rater, [target])


def rate_answer(
    session: Session, rater: Rater, answer: Answer, rating: AnswerRating, click: Click
) -> None:
    """Record quality, notes and empty outcome of an answer, as far as they are given.

    Raises ``NotToJudge`` for the outcome of an answer without emptiness, and ``ValueError``.
    """
    values: dict[str, str | None] = {}
    if not isinstance(rating.empty_outcome, UnsetType):
        if answer.emptiness_id is None:
            raise NotToJudge
        values["verdict"] = rating.empty_outcome
    if not isinstance(rating.quality, UnsetType):
        if rating.quality is not None and not 0 <= rating.quality <= BEST_QUALITY:
            raise ValueError(f"response quality {rating.quality} is not within 0 to 5")
        values["quality"] = None if rating.quality is None else str(rating.quality)
    for field, value in values.items():
        record(session, rater, answer.target(field), value, click)
    if not isinstance(rating.notes, UnsetType):
        target, text = answer.target("notes"), rating.notes[:LONGEST_NOTES]
        if rating.notes_base is not None:
            text, click = _merged_notes(session, rater, target, rating.notes_base, text, click)
        record(session, rater, target, text or None, click)
    refresh(session, rater, [answer.target(field) for field in values])


def _merged_notes(
    session: Session, rater: Rater, target: Target, base: str, text: str, click: Click
) -> tuple[str, Click]:
    """Return notes with what was written elsewhere since `base`, and the click that stores both.

    Raises ``NotesTooLong``.
    """
    history = _history(core(session), rater, target)
    for event in history:
        if event.event_id == click.event_id:  # sent twice: the text that it became the first time
            stored = event.new or ""
            return (stored if text in stored else text), click
    last = current_event(history)
    if last is None:
        return text, click
    both = merge_notes(last.new or "", base, text)
    if len(both) > LONGEST_NOTES:
        raise NotesTooLong
    # The merged text is later than the one it was merged with, whatever the device's clock says.
    if both != text or made_at(click) < made_at(last):
        click = click._replace(client_time=None)
    return both, click


def merge_notes(stored: str, base: str, text: str) -> str:
    r"""Return the note after an edit from `base` to `text`, beside what was `stored` meanwhile.

    >>> merge_notes("far", "far", "far away"), merge_notes("dear", "", "far")
    ('far away', 'dear\nfar')
    >>> merge_notes("dear\nfar", "far", "")
    'dear'
    """
    if stored == base or _contains(text, stored):
        return text
    before, separator, after = _lines(stored).partition(_lines(base))
    if base and separator:
        return "\n".join(filter(None, (before[1:], text, after[:-1])))
    return stored if _contains(stored, text) else f"{stored}\n{text}"


def _contains(note: str, part: str) -> bool:
    """Whether `part` begins `note`, or is some of its lines."""
    return note.startswith(part) or _lines(part) in _lines(note)


def _lines(text: str) -> str:
    return f"\n{text}\n"


def undo_last(
    session: Session, rater: Rater, click: Click, where: ColumnElement[bool]
) -> Event | None:
    """Take back the rater's latest change within `where` by a new event; return that change.

    Each further undo goes one change further back; the same undo twice changes nothing and returns
    the undo.
    """
    lock(session, rater)
    repeated = stored_undo(session, rater, click)
    last = repeated or last_change(session, rater, where)
    if last is not None and repeated is None:
        undone = _pin_of(session, rater, last)
        evidence = next((event for event in undone if event.field == EVIDENCE), None)
        is_pin = evidence is not None and evidence.new is not None
        for event in undone:
            is_outcome = event.event_id.endswith(OUTCOME_OF_PIN)
            if is_outcome and is_pin:
                continue  # other evidence may hold it
            part = outcome_click(click) if is_outcome and evidence else click
            record(session, rater, Target.of(event), event.old, part, cause="undo", undoes=event)
        if evidence is not None:
            if is_pin:
                release_outcome(session, rater, evidence.judged_item_id, click, cause="undo")
            revise(session, rater.study_id)
        refresh(session, rater, [Target.of(event) for event in undone])
    return last


def _pin_of(session: Session, rater: Rater, last: Event) -> Sequence[Event]:
    """Return all events of the pin, or of its taking back, that `last` is of; else it alone."""
    pin_id = last.event_id.removesuffix(OUTCOME_OF_PIN)
    ids = pin_id, pin_id + OUTCOME_OF_PIN
    undo = aliased(Event)
    parts = session.scalars(
        select(Event)
        .where(Event.rater_id == rater.id, Event.event_id.in_(ids))
        .where(~exists().where(undo.undoes_id == Event.id))
        .order_by(Event.id)
    ).all()
    return parts if any(event.field == EVIDENCE for event in parts) else [last]


def outcome_click(click: Click) -> Click:
    """Return the click of the outcome that a pin brings: its id is of a verdict already."""
    return click._replace(event_id=click.event_id + OUTCOME_OF_PIN)


def release_outcome(
    session: Session, rater: Rater, item_id: int | None, click: Click, *, cause: str = "click"
) -> None:
    """Take back the outcome that a pin brought, once no evidence for it is left.

    `item_id` is the judged item that was evidence. An outcome that the rater chose stays.
    """
    question = select(JudgedItem.question_id).where(JudgedItem.id == item_id).scalar_subquery()
    of_question = JudgedItem.question_id == question
    brought = session.scalars(
        select(Event)
        .join(JudgedItem, JudgedItem.id == Event.judged_item_id)
        .where(Event.rater_id == rater.id, of_question, JudgedItem.item_id.is_(None))
        .where(Event.event_id.endswith(OUTCOME_OF_PIN), Event.new.is_not(None))
    ).all()
    for target in dict.fromkeys(Target.of(event) for event in brought):
        last = current(session, rater, target)
        if last is None or last.new is None or not last.event_id.endswith(OUTCOME_OF_PIN):
            continue
        evidence = (
            select(Judgment.judged_item_id)
            .join(JudgedItem)
            .where(Judgment.rater_id == rater.id, of_question, Judgment.is_evidence)
            .where(Judgment.verdict.in_(sorted(Scale.stored(rater.study.scale).relevant)))
        )
        if target.is_repeat:
            in_task = Event.judged_item_id == Judgment.judged_item_id
            evidence = evidence.where(exists().where(in_task, Event.task_id == target.task_id))
        if session.scalar(evidence.limit(1)) is None:
            undoes = session.get(Event, last.id) if cause == "undo" else None
            part = outcome_click(click)
            record(session, rater, target, None, part, cause=cause, undoes=undoes)
            refresh(session, rater, [target])


def current(session: Session, rater: Rater, target: Target) -> Row[Any] | None:
    """Return the rater's event in force on a target."""
    return current_event(_history(core(session), rater, target))


def stored_undo(session: Session, rater: Rater, click: Click) -> Event | None:
    """Return the undo that `click` repeats; raises ``EventIdTaken`` for the id of other events."""
    same = select(Event).where(Event.rater_id == rater.id, Event.event_id == click.event_id)
    stored = session.scalar(same)
    if stored is not None and stored.cause != "undo":
        raise EventIdTaken(click.event_id)
    return stored


def judge_item(
    session: Session, rater: Rater, item_id: int, verdict: str | None, click: Click
) -> None:
    """Record a verdict on an item, or on the emptiness of a list, whichever page shows it."""
    lock(session, rater)
    of_study = QuestionSet.study_id == rater.study_id
    items = select(JudgedItem).join(Question).join(QuestionSet)
    item = session.scalar(items.where(JudgedItem.id == item_id, of_study))
    if item is None:
        raise UnknownItem(item_id)
    if item.item_id is not None:
        target = Target("verdict", item.id)
        judge_target(session, rater, target, verdict, click, rater.study.scale)
        return
    if verdict not in {None, *EmptyOutcome}:
        raise NotToJudge
    outcome = EmptyOutcome(verdict) if verdict else None
    rate_answer(session, rater, Answer(None, item.id), AnswerRating(empty_outcome=outcome), click)


def judge(
    session: Session,
    rater: Rater,
    run_id: str,
    query_id: int,
    rank: int,
    relevance: str | None,
    click: Click,
) -> JudgedResult:
    """Record a verdict on the card at `rank` of a run's answer, and return what it came to."""
    result = _result_at_rank(session, rater, run_id, query_id, rank)
    target = Target("verdict", result.judged_item_id, result.query_key)
    in_force, summaries = judge_target(session, rater, target, relevance, click, result.scale)
    return JudgedResult(in_force, summaries[result.query_key], result)


def give_reason(
    session: Session,
    rater: Rater,
    run_id: str,
    query_id: int,
    rank: int,
    reason: str | None,
    click: Click,
) -> str | None:
    """Record why the card at `rank` is not relevant, and return the reason in force.

    Raises ``UnknownReason``; the verdict stays as it is.
    """
    result = _result_at_rank(session, rater, run_id, query_id, rank)
    checked = reasons.checked(reason, result.kind, result.reasons)
    target = Target(REASON, result.judged_item_id, result.query_key)
    return record(session, rater, target, checked, click)


def give_reason_of_item(
    session: Session, rater: Rater, item_id: int, reason: str | None, click: Click
) -> None:
    """Record why an item, which ``judge_item`` judged, is not relevant; see ``give_reason``."""
    checked = reasons.checked(reason, rater.study.kind, rater.study.reasons)
    record(session, rater, Target(REASON, item_id), checked, click)


class JudgedResult(NamedTuple):
    """A card's verdict in force, the summary of its query, and the study's settings for both."""

    verdict: str | None
    summary: QuerySummary
    study: Row[Any]


def _result_at_rank(
    session: Session, rater: Rater, run_id: str, query_id: int, rank: int
) -> Row[Any]:
    lock(session, rater)
    card = {"run_id": run_id, "query_id": query_id, "rank": rank, "study_id": rater.study_id}
    result: Row[Any] | None = core(session).execute(_results_at_rank(), card).first()
    if result is None:
        raise UnknownQuery(run_id, query_id, rank)
    return result


@cache
def _results_at_rank() -> Select[*tuple[Any, ...]]:
    return (
        select(Result.query_key, Result.judged_item_id, Study.scale, Study.measures, Study.kind)
        .add_columns(Study.cannot_tell, Study.suggest_quality, Study.reasons)
        .join_from(Result, Query, Query.id == Result.query_key)
        .join(Run, Run.id == Query.run_id)
        .join(Study, Study.id == Run.study_id)
        .where(
            Query.run_id == bindparam("run_id"),
            Query.query_id == bindparam("query_id"),
            Result.rank == bindparam("rank"),
            Result.judged_item_id.is_not(None),
            Run.study_id == bindparam("study_id"),
        )
    )


def judge_open(
    session: Session, rater: Rater, run_id: str, query_id: int, relevance: str, click: Click
) -> None:
    """Record the same verdict on every card still unjudged, logged as bulk.

    Raises ``NotToJudge`` unless the study's owner allowed it: it biases.
    """
    query = lock_query(session, rater, run_id, query_id)
    study = rater.study
    if not study.allow_bulk or not Scale.stored(study.scale).accepts(relevance):
        raise NotToJudge
    judged = select(Judgment.judged_item_id).where(
        Judgment.rater_id == rater.id, Judgment.verdict.is_not(None)
    )
    open_items = session.scalars(
        select(Result.judged_item_id)
        .where(Result.query_key == query.id, Result.judged_item_id.is_not(None))
        .where(Result.judged_item_id.not_in(judged))
        .group_by(Result.judged_item_id)
        .order_by(Result.judged_item_id)
    )
    changes = []
    for number, item_id in enumerate(open_items):
        part = Click(f"{click.event_id}:{number}", click.received_at, click.client_time)
        changes.append(TargetChange(Target("verdict", item_id, query.id), relevance, part))
    record_all(session, rater, changes, cause="bulk")
    refresh(session, rater, [change.target for change in changes])


def rate(
    session: Session, rater: Rater, run_id: str, query_id: int, rating: AnswerRating, click: Click
) -> None:
    """Record quality, notes and empty outcome of a run's answer; raises ``UnknownQuery``."""
    query = lock_query(session, rater, run_id, query_id)
    emptiness = query.emptiness_id if query.state == QueryState.EMPTY else None
    rate_answer(session, rater, Answer(query.id, emptiness), rating, click)


def undo(session: Session, rater: Rater, run_id: str, click: Click) -> int | None:
    """Take back the rater's latest change in a run; return its query id. See ``undo_last``."""
    last = undo_last(session, rater, click, Query.run_id == run_id)
    return session.get_one(Query, last.query_key).query_id if last is not None else None


def lock_query(session: Session, rater: Rater, run_id: str, query_id: int) -> Query:
    """Return a query once no other click of the rater is stored; raises ``UnknownQuery``."""
    lock(session, rater)
    query = session.scalar(
        select(Query)
        .join(Run)
        .where(Query.run_id == run_id, Query.query_id == query_id, Run.study_id == rater.study_id)
    )
    if query is None:
        raise UnknownQuery(run_id, query_id)
    return query
