"""A rater's clicks: recorded as events, settled in their order, summed up at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session

from webapp.db.models import Event, Judgment, Query, QueryRating, Rater, Result, Run
from webapp.records import Click, EmptyOutcome, QueryState, Relevance
from webapp.services import live_metrics
from webapp.services.event_order import standing

MOST_NOTES = 10_000
BEST_QUALITY = 5


class UnknownQuery(LookupError):
    """The study has no such run, query or rank."""


class EventIdTaken(Exception):
    """An event id was used before for something else."""


class NotToJudge(Exception):
    """The answer has nothing of the kind to judge: no emptiness, or no bulk marking."""


class Keep(Enum):
    """Stands for a part of a rating that the rater left as it is."""

    KEEP = "keep"


KEEP = Keep.KEEP


@dataclass(frozen=True, slots=True)
class Rating:
    """What a rater says of a whole answer; ``None`` takes a part back, ``KEEP`` leaves it.

    ``quality`` is 0 to 5, ``empty_outcome`` fits an empty list only.
    """

    quality: int | Keep | None = KEEP
    notes: str | Keep = KEEP
    empty_outcome: EmptyOutcome | Keep | None = KEEP


@dataclass(frozen=True, slots=True)
class _Target:
    """What one event changes: the verdict on a judged thing, or a field of a query rating."""

    query: Query
    field: str
    thing_id: int | None = None

    @property
    def condition(self) -> ColumnElement[bool]:
        if self.thing_id is not None:
            return Event.judged_thing_id == self.thing_id
        return (Event.query_key == self.query.id) & (Event.field == self.field)

    def has(self, event: Event) -> bool:
        if self.thing_id is not None:
            return event.judged_thing_id == self.thing_id
        return event.query_key == self.query.id and event.field == self.field


def judge(
    session: Session,
    rater: Rater,
    run_id: str,
    query_id: int,
    rank: int,
    relevance: Relevance | None,
    click: Click,
) -> None:
    """Record a verdict on the card at `rank` and settle it; ``None`` clears it.

    The verdict holds wherever the same judged thing was shown. The same event twice changes
    nothing. Raises ``UnknownQuery`` and ``EventIdTaken``.
    """
    query = lock_query(session, rater, run_id, query_id)
    thing_id = session.scalar(
        select(Result.judged_thing_id).where(Result.query_key == query.id, Result.rank == rank)
    )
    if thing_id is None:
        raise UnknownQuery(rank)
    target = _Target(query, "verdict", thing_id)
    _record(session, rater, target, relevance, click)
    _refresh(session, rater, [target])


def judge_open(
    session: Session,
    rater: Rater,
    run_id: str,
    query_id: int,
    relevance: Relevance,
    click: Click,
) -> None:
    """Record the same verdict on every card still unjudged, logged as bulk.

    Raises ``NotToJudge`` unless the study's owner allowed it: it biases.
    """
    query = lock_query(session, rater, run_id, query_id)
    if not rater.study.allow_bulk:
        raise NotToJudge
    done = select(Judgment.judged_thing_id).where(
        Judgment.rater_id == rater.id, Judgment.verdict.is_not(None)
    )
    open_things = session.scalars(
        select(Result.judged_thing_id)
        .where(Result.query_key == query.id, Result.judged_thing_id.not_in(done))
        .group_by(Result.judged_thing_id)
        .order_by(Result.judged_thing_id)
    )
    targets = [_Target(query, "verdict", thing_id) for thing_id in open_things]
    for number, target in enumerate(targets):
        part = Click(f"{click.event_id}:{number}", click.received_at, click.client_time)
        _record(session, rater, target, relevance, part, cause="bulk")
    _refresh(session, rater, targets)


def rate(
    session: Session, rater: Rater, run_id: str, query_id: int, rating: Rating, click: Click
) -> None:
    """Record what the rater says of the whole answer and settle it.

    Raises ``NotToJudge`` for an empty outcome of an answer that is not empty, ``ValueError``
    for a quality outside 0 to 5, ``UnknownQuery`` and ``EventIdTaken``.
    """
    query = lock_query(session, rater, run_id, query_id)
    targets: list[_Target] = []
    if not isinstance(rating.quality, Keep):
        targets.append(_rate_quality(session, rater, query, rating.quality, click))
    if not isinstance(rating.notes, Keep):
        target = _Target(query, "notes")
        _record(session, rater, target, rating.notes[:MOST_NOTES], click)
    if not isinstance(rating.empty_outcome, Keep):
        if query.state != QueryState.EMPTY:
            raise NotToJudge
        target = _Target(query, "verdict", query.emptiness_id)
        _record(session, rater, target, rating.empty_outcome, click)
        targets.append(target)
    _refresh(session, rater, targets)


def undo(session: Session, rater: Rater, run_id: str, click: Click) -> int | None:
    """Take back the rater's latest change in a run by a new event; return its query id.

    Each further undo goes one change further back. Returns ``None`` when nothing is left.
    Sending the same undo twice changes nothing.
    """
    _lock(session, rater)
    repeated = session.scalar(
        select(Event).where(Event.rater_id == rater.id, Event.event_id == click.event_id)
    )
    last = repeated or _last_change(session, rater, run_id)
    if last is None:
        return None
    query = session.get_one(Query, last.query_key)
    if repeated is None:
        target = _Target(query, last.field, last.judged_thing_id)
        _record(session, rater, target, last.old, click, cause="undo", undoes=last)
        _refresh(session, rater, [target])
    return query.query_id


def lock_query(session: Session, rater: Rater, run_id: str, query_id: int) -> Query:
    """Return the query, once no other transaction writes for the same rater.

    Raises ``UnknownQuery`` if the rater's study has none.
    """
    _lock(session, rater)
    query = session.scalar(
        select(Query)
        .join(Run)
        .where(Query.run_id == run_id, Query.query_id == query_id, Run.study_id == rater.study_id)
    )
    if query is None:
        raise UnknownQuery(run_id, query_id)
    return query


def _lock(session: Session, rater: Rater) -> None:
    """Make the writers of one rater queue (on PostgreSQL; SQLite has one writer anyway)."""
    session.execute(select(Rater.id).where(Rater.id == rater.id).with_for_update())


def _rate_quality(
    session: Session, rater: Rater, query: Query, quality: int | None, click: Click
) -> _Target:
    if quality is not None and not 0 <= quality <= BEST_QUALITY:
        raise ValueError(f"response quality {quality} is not within 0 to 5")
    target = _Target(query, "quality")
    _record(session, rater, target, None if quality is None else str(quality), click)
    return target


def _record(
    session: Session,
    rater: Rater,
    target: _Target,
    new: str | None,
    click: Click,
    *,
    cause: str = "click",
    undoes: Event | None = None,
) -> None:
    """Store one event and let the event that stands decide the rater's row."""
    mine = Event.rater_id == rater.id
    known = session.scalars(
        select(Event).where(mine, or_(target.condition, Event.event_id == click.event_id))
    ).all()
    if _is_repeated(known, target, new, click):
        return
    history = [event for event in known if target.has(event)]
    before = standing(history)
    event = Event(
        rater_id=rater.id,
        event_id=click.event_id,
        field=target.field,
        judged_thing_id=target.thing_id,
        query_key=target.query.id,
        old=before.new if before else None,
        new=None if new is None else str(new),
        cause=cause,
        undoes_id=undoes.id if undoes else None,
        client_time=click.client_time,
        received_at=click.received_at,
        **_place(click, history),
    )
    session.add(event)
    last = standing([*history, event])
    assert last is not None
    _settle(session, rater, target, last)


def _is_repeated(known: Sequence[Event], target: _Target, new: str | None, click: Click) -> bool:
    """Whether this very event is stored; ``EventIdTaken`` if its id means something else."""
    for event in known:
        if event.event_id == click.event_id and event.field == target.field:
            if target.has(event) and event.new == (None if new is None else str(new)):
                return True
            raise EventIdTaken(click.event_id)
    return False


def _place(click: Click, history: Sequence[Event]) -> dict[str, str | int]:
    """Return the event's device and sequence; without a script the server counts."""
    if click.device and click.sequence is not None:
        return {"device": click.device, "sequence": click.sequence}
    counted = (event.sequence for event in history if event.device == "")
    return {"device": "", "sequence": max(counted, default=0) + 1}


def _settle(session: Session, rater: Rater, target: _Target, last: Event) -> None:
    """Make the rater's row say what the standing event says."""
    if target.thing_id is not None:
        key = (rater.id, target.thing_id)
        judgment = session.get(Judgment, key)
        if judgment is None:
            judgment = Judgment(rater_id=rater.id, judged_thing_id=target.thing_id)
            session.add(judgment)
        judgment.verdict = last.new
        judgment.changed_at = last.received_at
        return
    rating = session.get(QueryRating, (rater.id, target.query.id))
    if rating is None:
        rating = QueryRating(rater_id=rater.id, query_key=target.query.id, notes="")
        session.add(rating)
    if target.field == "quality":
        rating.quality = None if last.new is None else int(last.new)
    else:
        rating.notes = last.new or ""
    rating.changed_at = last.received_at


def _refresh(session: Session, rater: Rater, targets: Sequence[_Target]) -> None:
    """Rewrite the summaries of every query that shows one of the targets."""
    things = [target.thing_id for target in targets if target.thing_id is not None]
    keys = [target.query.id for target in targets]
    if not targets:
        return
    touched = or_(
        Query.id.in_(keys),
        Query.emptiness_id.in_(things),
        Query.id.in_(select(Result.query_key).where(Result.judged_thing_id.in_(things))),
    )
    live_metrics.refresh(session, [rater.id], touched)


def _last_change(session: Session, rater: Rater, run_id: str) -> Event | None:
    """Return the rater's latest change in the run that changed something and still stands."""
    undone = select(Event.undoes_id).where(Event.rater_id == rater.id, Event.cause == "undo")
    return session.scalar(
        select(Event)
        .join(Query, Query.id == Event.query_key)
        .where(
            Event.rater_id == rater.id,
            Query.run_id == run_id,
            Event.cause != "undo",
            Event.old.is_distinct_from(Event.new),
            Event.id.not_in(undone.where(Event.undoes_id.is_not(None))),
        )
        .order_by(Event.id.desc())
        .limit(1)
    )
