"""A rater's events: stored once, put in order, the standing one deciding the rater's row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from webapp.db.models import (
    Event,
    Judgment,
    Query,
    QueryRating,
    QuestionnaireAnswer,
    Rater,
    Repeat,
    RepeatRating,
    Result,
)
from webapp.records import COMMENTS, USABILITY_ITEMS, Click
from webapp.services import live_metrics
from webapp.services.event_order import standing

AGAIN = {"verdict": "repeat", "quality": "repeat quality", "notes": "repeat notes"}
"""How an event calls what is said once more in a hidden repeat; it is never the verdict."""
_REPEATS = frozenset(AGAIN.values())
_QUESTIONNAIRE = frozenset((*USABILITY_ITEMS, *COMMENTS))


class EventIdTaken(Exception):
    """An event id was used before for something else."""


@dataclass(frozen=True, slots=True)
class Target:
    """What one event changes.

    ``field`` is "verdict" (on a judged thing), "quality" or "notes" (of a query), or one of
    ``AGAIN`` (the same in a task that asks once more), or an item of the closing questionnaire
    (of nothing else). For a verdict, ``query_key`` or
    ``task_id`` tell where it was clicked.
    """

    field: str
    thing_id: int | None = None
    query_key: int | None = None
    task_id: str | None = None

    @classmethod
    def verdict(cls, thing_id: int | None, *, query: Query) -> Self:
        """Return the verdict on a judged thing, given on the page of `query`."""
        return cls("verdict", thing_id=thing_id, query_key=query.id)

    @classmethod
    def rating(cls, query: Query, field: str, task_id: str | None = None) -> Self:
        """Return the quality or the notes of an answer."""
        return cls(field, query_key=query.id, task_id=task_id)

    @classmethod
    def of(cls, event: Event) -> Self:
        """Return what `event` changed."""
        return cls(event.field, event.judged_thing_id, event.query_key, event.task_id)

    @property
    def is_repeat(self) -> bool:
        """Whether this was said once more, in a task of its own."""
        return self.field in _REPEATS

    @property
    def condition(self) -> ColumnElement[bool]:
        """The condition on ``Event`` that it changed this."""
        same = [Event.field == self.field]
        if self.is_repeat:
            same.append(Event.task_id == self.task_id)
        if self.thing_id is not None:
            return and_(*same, Event.judged_thing_id == self.thing_id)
        return and_(*same, Event.query_key == self.query_key)

    def has(self, event: Event) -> bool:
        """Whether `event` changed this."""
        if event.field != self.field or event.judged_thing_id != self.thing_id:
            return False
        if self.is_repeat and event.task_id != self.task_id:
            return False
        return self.thing_id is not None or event.query_key == self.query_key


def lock(session: Session, rater: Rater) -> None:
    """Make the writers of one rater queue (on PostgreSQL; SQLite has one writer anyway)."""
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
) -> None:
    """Store one event and let the event that stands decide the rater's row.

    The same event twice changes nothing; raises ``EventIdTaken`` for an id that means
    something else already.
    """
    known = session.scalars(
        select(Event).where(
            Event.rater_id == rater.id,
            or_(target.condition, Event.event_id == click.event_id),
        )
    ).all()
    wanted = None if new is None else str(new)
    if _is_repeated(known, target, wanted, click):
        return
    history = [event for event in known if target.has(event)]
    before = standing(history)
    event = Event(
        rater_id=rater.id,
        event_id=click.event_id,
        field=target.field,
        judged_thing_id=target.thing_id,
        query_key=target.query_key,
        task_id=target.task_id,
        old=before.new if before else None,
        new=wanted,
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


def refresh(session: Session, rater: Rater, targets: Sequence[Target]) -> None:
    """Rewrite the rater's summaries of every query that shows or is one of the targets.

    What was said once more changes none.
    """
    targets = [target for target in targets if not target.is_repeat]
    things = [target.thing_id for target in targets if target.thing_id is not None]
    keys = [target.query_key for target in targets if target.query_key is not None]
    if not targets:
        return
    touched = or_(
        Query.id.in_(keys),
        Query.emptiness_id.in_(things),
        Query.id.in_(select(Result.query_key).where(Result.judged_thing_id.in_(things))),
    )
    live_metrics.refresh(session, [rater.id], touched)


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
            Event.old.is_distinct_from(Event.new),
            Event.id.not_in(undone),
            where,
        )
        .order_by(Event.id.desc())
        .limit(1)
    )


def _is_repeated(known: Sequence[Event], target: Target, new: str | None, click: Click) -> bool:
    """Whether this very event is stored; ``EventIdTaken`` if its id means something else."""
    for event in known:
        if event.event_id == click.event_id and event.field == target.field:
            if target.has(event) and event.new == new:
                return True
            raise EventIdTaken(click.event_id)
    return False


def _place(click: Click, history: Sequence[Event]) -> dict[str, str | int]:
    """Return the event's device and sequence; without a script the server counts."""
    if click.device and click.sequence is not None:
        return {"device": click.device, "sequence": click.sequence}
    counted = (event.sequence for event in history if event.device == "")
    return {"device": "", "sequence": max(counted, default=0) + 1}


def _settle(session: Session, rater: Rater, target: Target, last: Event) -> None:
    """Make the rater's row say what the standing event says."""
    if target.is_repeat:
        _settle_repeat(session, target, last)
    elif target.field in _QUESTIONNAIRE:
        _settle_questionnaire(session, rater, target.field, last)
    elif target.thing_id is not None:
        _settle_judgment(session, rater, target.thing_id, last)
    else:
        _settle_rating(session, rater, target, last)


def _settle_repeat(session: Session, target: Target, last: Event) -> None:
    if target.thing_id is not None:
        repeat = session.get_one(Repeat, (target.task_id, target.thing_id))
        repeat.verdict, repeat.changed_at = last.new, last.received_at
        return
    rating = session.get_one(RepeatRating, (target.task_id, target.query_key))
    _say(rating, target.field == AGAIN["quality"], last)


def _settle_judgment(session: Session, rater: Rater, thing_id: int, last: Event) -> None:
    judgment = session.get(Judgment, (rater.id, thing_id))
    if judgment is None:
        judgment = Judgment(rater_id=rater.id, judged_thing_id=thing_id)
        session.add(judgment)
    judgment.verdict, judgment.changed_at = last.new, last.received_at


def _settle_rating(session: Session, rater: Rater, target: Target, last: Event) -> None:
    rating = session.get(QueryRating, (rater.id, target.query_key))
    if rating is None:
        rating = QueryRating(rater_id=rater.id, query_key=target.query_key, notes="")
        session.add(rating)
    _say(rating, target.field == "quality", last)


def _settle_questionnaire(session: Session, rater: Rater, item: str, last: Event) -> None:
    answer = session.get(QuestionnaireAnswer, (rater.id, item))
    if answer is None:
        answer = QuestionnaireAnswer(rater_id=rater.id, item=item)
        session.add(answer)
    is_score = item in USABILITY_ITEMS
    answer.score = int(last.new) if is_score and last.new else None
    answer.text = "" if is_score else last.new or ""
    answer.changed_at = last.received_at


def _say(rating: QueryRating | RepeatRating, is_quality: bool, last: Event) -> None:
    if is_quality:
        rating.quality = None if last.new is None else int(last.new)
    else:
        rating.notes = last.new or ""
    rating.changed_at = last.received_at
