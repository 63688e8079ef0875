"""A rater's clicks: recorded as events, settled in their order, summed up at once."""

from __future__ import annotations

from enum import Enum
from functools import cache

from msgspec import Struct
from sqlalchemy import Select, bindparam, select
from sqlalchemy.orm import Session

from webapp import failures
from webapp.db.connection import tables
from webapp.db.tables.judging import Event, Judgment
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Result, Run
from webapp.failures import Missing, Refused
from webapp.i18n import mark
from webapp.metrics.judging.queries import BEST_QUALITY
from webapp.records import VERDICTS, Click, EmptyOutcome, QueryState, Relevance
from webapp.services.judging import events
from webapp.services.judging.events import Target

MOST_NOTES = 10_000


class UnknownQuery(Missing):
    """The study has no such run, query or rank."""

    message = mark("This run has no such question or card")
    remedy = failures.SEE_RUNS


class NotToJudge(Refused):
    """The answer has nothing of the kind to judge: no emptiness, or no bulk marking."""

    message = mark("There is nothing of that kind to judge here")
    remedy = failures.RELOAD


class Keep(Enum):
    """The mark of a part of a rating that the rater left as it is."""

    KEEP = "keep"


KEEP = Keep.KEEP


class AnswerRating(Struct, frozen=True):
    """A rater's rating of a whole answer; ``None`` takes a part back, ``KEEP`` leaves it.

    ``quality`` is 0 to 5, ``empty_outcome`` fits an empty list only.
    """

    quality: int | Keep | None = KEEP
    notes: str | Keep = KEEP
    empty_outcome: EmptyOutcome | Keep | None = KEEP


def judge(
    session: Session,
    rater: Rater,
    run_id: str,
    query_id: int,
    rank: int,
    relevance: Relevance | None,
    click: Click,
) -> Relevance | None:
    """Record a verdict on the card at `rank`, ``None`` to clear it; return the one in force.

    The verdict holds wherever the same judged thing was shown. The same event twice changes
    nothing. Raises ``UnknownQuery`` and ``EventIdTaken``.
    """
    events.lock(session, rater)
    card = {"run_id": run_id, "query_id": query_id, "rank": rank, "study_id": rater.study_id}
    shown = tables(session).execute(_shown(), card).first()
    if shown is None:
        raise UnknownQuery(run_id, query_id, rank)
    target = Target.verdict(shown.judged_thing_id, shown.query_key)
    standing = events.record(session, rater, target, relevance, click)
    events.refresh(session, rater, [target])
    return VERDICTS[standing or ""]


@cache
def _shown() -> Select[int, int | None]:
    """Return the statement for the query and the judged thing of the card at a rank."""
    return (
        select(Result.query_key, Result.judged_thing_id)
        .join_from(Result, Query, Query.id == Result.query_key)
        .join(Run, Run.id == Query.run_id)
        .where(
            Query.run_id == bindparam("run_id"),
            Query.query_id == bindparam("query_id"),
            Result.rank == bindparam("rank"),
            Run.study_id == bindparam("study_id"),
        )
    )


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
    targets = [Target.verdict(thing_id, query.id) for thing_id in open_things]
    for number, target in enumerate(targets):
        part = Click(f"{click.event_id}:{number}", click.received_at, click.client_time)
        events.record(session, rater, target, relevance, part, cause="bulk")
    events.refresh(session, rater, targets)


def rate(
    session: Session, rater: Rater, run_id: str, query_id: int, rating: AnswerRating, click: Click
) -> None:
    """Record the rater's rating of the whole answer.

    Raises ``NotToJudge`` for an empty outcome of an answer that is not empty, ``ValueError``
    for a quality outside 0 to 5, ``UnknownQuery`` and ``EventIdTaken``.
    """
    query = lock_query(session, rater, run_id, query_id)
    targets: list[Target] = []
    if not isinstance(rating.quality, Keep):
        target = Target.rating(query, "quality")
        events.record(session, rater, target, quality_text(rating.quality), click)
        targets.append(target)
    if not isinstance(rating.notes, Keep):
        target = Target.rating(query, "notes")
        events.record(session, rater, target, rating.notes[:MOST_NOTES] or None, click)
    if not isinstance(rating.empty_outcome, Keep):
        if query.state != QueryState.EMPTY:
            raise NotToJudge
        target = Target.verdict(query.emptiness_id, query.id)
        events.record(session, rater, target, rating.empty_outcome, click)
        targets.append(target)
    events.refresh(session, rater, targets)


def undo(session: Session, rater: Rater, run_id: str, click: Click) -> int | None:
    """Take back the rater's latest change in a run by a new event; return its query id.

    Each further undo goes one change further back. Returns ``None`` when nothing is left.
    Sending the same undo twice changes nothing.
    """
    events.lock(session, rater)
    repeated = session.scalar(
        select(Event).where(Event.rater_id == rater.id, Event.event_id == click.event_id)
    )
    last = repeated or events.last_change(session, rater, Query.run_id == run_id)
    if last is None:
        return None
    query = session.get_one(Query, last.query_key)
    if repeated is None:
        target = Target.of(last)
        events.record(session, rater, target, last.old, click, cause="undo", undoes=last)
        events.refresh(session, rater, [target])
    return query.query_id


def lock_query(session: Session, rater: Rater, run_id: str, query_id: int) -> Query:
    """Return the query, once no other transaction writes for the same rater.

    Raises ``UnknownQuery`` if the rater's study has none.
    """
    events.lock(session, rater)
    query = session.scalar(
        select(Query)
        .join(Run)
        .where(Query.run_id == run_id, Query.query_id == query_id, Run.study_id == rater.study_id)
    )
    if query is None:
        raise UnknownQuery(run_id, query_id)
    return query


def quality_text(quality: int | None) -> str | None:
    """Return a quality as an event keeps it; raises ``ValueError`` outside 0 to 5."""
    if quality is not None and not 0 <= quality <= BEST_QUALITY:
        raise ValueError(f"response quality {quality} is not within 0 to 5")
    return None if quality is None else str(quality)
