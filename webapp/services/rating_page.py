"""Everything the rating page says about one query of a run, to one rater."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter

from sqlalchemy import ColumnElement, exists, func, select
from sqlalchemy.orm import Session, joinedload

from webapp.db.models import (
    Event,
    GoldVersion,
    JudgedThing,
    Judgment,
    Query,
    QueryRating,
    QuerySummary,
    Question,
    Rater,
    Result,
    Run,
)
from webapp.importers.property_identity import differences
from webapp.metrics.ranking import suggested_quality
from webapp.metrics.summaries import QuerySummary as Summary
from webapp.records import Card, EmptyOutcome, QueryState, Relevance
from webapp.services import live_metrics
from webapp.services.judged_things import from_row
from webapp.services.judgments import UnknownQuery
from webapp.services.live_metrics import Standing

_HAS_GOLD = exists().where(GoldVersion.question_set_id == Run.question_set_id)
"""Whether the run's questions have gold questions, which costs no statement of its own."""

_Version = tuple[int, str | None, int | None]  # question, run where it matters, property


@dataclass(frozen=True, slots=True)
class Filter:
    """Which queries the rater walks through: all, or those left open; one category or all."""

    only_open: bool = False
    category: str | None = None


@dataclass(frozen=True, slots=True)
class EarlierVerdict:
    """The rater's verdict on the same property with other content, and what differs."""

    relevance: Relevance
    card: Card
    differing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgedCard:
    """One card of the answer with the rater's verdict on it.

    ``repeats`` are the other ranks (1-based) at which the same answer shows the same thing;
    one verdict counts for all of them.
    """

    rank: int
    card: Card
    relevance: Relevance | None
    repeats: tuple[int, ...] = ()
    earlier: EarlierVerdict | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier question of the conversation and what the chatbot answered."""

    question: str
    response: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a query stands among those the rater walks through.

    ``position`` is 1-based within the run; the query ids are ``None`` at the ends, and
    ``next_open`` once nothing (within the filter) is left to rate.
    """

    position: int
    of: int
    previous: int | None
    next: int | None
    next_open: int | None


@dataclass(frozen=True, slots=True)
class RatingPage:
    """One query of a run as its rater sees it. ``whole`` and ``category_standing`` are live."""

    run_id: str
    search_method: str | None
    llm: str | None
    query_id: int
    question: str
    category: str
    context_dependent: bool
    state: QueryState
    response: str
    error: str | None
    claimed_count: int | None
    earlier_turns: tuple[Turn, ...]
    cards: tuple[JudgedCard, ...]
    quality: int | None
    suggested_quality: int | None
    notes: str
    empty_outcome: EmptyOutcome | None
    found_elsewhere: bool
    summary: Summary
    category_standing: Standing
    whole: Standing
    categories: tuple[str, ...]
    place: Place
    filter: Filter
    allow_bulk: bool
    show_pictures: bool
    has_gold: bool


def rating_page(
    session: Session, rater: Rater, run_id: str, query_id: int, wanted: Filter
) -> RatingPage:
    """Return the page of one query; a fixed number of statements, whatever the run's size.

    Raises ``UnknownQuery``.
    """
    query, has_gold = _query(session, rater, run_id, query_id)
    run, question = query.run, query.question
    stored = session.get_one(QuerySummary, (rater.id, query.id))
    summary = live_metrics.summary(stored)
    rating = session.get(QueryRating, (rater.id, query.id))
    cards = _cards(session, rater, query)
    standings = live_metrics.by_category(session, rater.id, run_id)
    return RatingPage(
        run_id=run.id,
        search_method=run.search_method,
        llm=run.llm,
        query_id=query.query_id,
        question=question.text,
        category=question.category,
        context_dependent=question.context_dependent,
        state=summary.state,
        response=query.response,
        error=query.error,
        claimed_count=query.claimed_count,
        earlier_turns=earlier_turns(session, query),
        cards=cards,
        quality=rating.quality if rating else None,
        suggested_quality=suggested_quality(summary.state, [card.relevance for card in cards]),
        notes=rating.notes if rating else "",
        empty_outcome=summary.empty_outcome,
        found_elsewhere=_found_elsewhere(session, rater, query),
        summary=summary,
        category_standing=standings[question.category],
        whole=sum(standings.values(), Standing()),
        categories=tuple(standings),
        place=_place(session, rater, query, wanted),
        filter=wanted,
        allow_bulk=rater.study.allow_bulk,
        show_pictures=rater.study.show_pictures,
        has_gold=has_gold,
    )


def first_open(session: Session, rater: Rater, run_id: str) -> int | None:
    """Return the query id at which the rater goes on: where they stopped, if it is open.

    Else the next open one after it, else the first open one; ``None`` when all is rated.
    """
    last = session.scalar(
        select(Event.query_key)
        .join(Query, Query.id == Event.query_key)
        .where(Event.rater_id == rater.id, Query.run_id == run_id)
        .order_by(Event.id.desc())
        .limit(1)
    )
    return _next_open(session, rater, run_id, (last or 0) - 1, Filter())


def _query(session: Session, rater: Rater, run_id: str, query_id: int) -> tuple[Query, bool]:
    """Return a query, and whether its question set has gold questions."""
    found = session.execute(
        select(Query, _HAS_GOLD)
        .join(Query.run)
        .where(Query.run_id == run_id, Query.query_id == query_id, Run.study_id == rater.study_id)
        .options(joinedload(Query.run), joinedload(Query.question))
    ).first()
    if found is None:
        raise UnknownQuery(run_id, query_id)
    return found[0], found[1]


def earlier_turns(session: Session, query: Query) -> tuple[Turn, ...]:
    """Return the conversation back to the last question that stood on its own."""
    if not query.question.context_dependent:
        return ()
    same_run = Query.run_id == query.run_id
    start = (
        select(func.max(Query.id))
        .join(Question)
        .where(same_run, Query.id < query.id, Question.context_dependent.is_(False))
    ).scalar_subquery()
    rows = session.execute(
        select(Question.text, Query.response)
        .join_from(Query, Question)
        .where(same_run, Query.id < query.id, Query.id >= func.coalesce(start, 0))
        .order_by(Query.id)
    )
    return tuple(Turn(text, response) for text, response in rows)


def _cards(session: Session, rater: Rater, query: Query) -> tuple[JudgedCard, ...]:
    rows = session.execute(
        select(Result.rank, Result.card, JudgedThing, Judgment.verdict)
        .join_from(Result, JudgedThing)
        .outerjoin(
            Judgment,
            (Judgment.judged_thing_id == JudgedThing.id) & (Judgment.rater_id == rater.id),
        )
        .where(Result.query_key == query.id)
        .order_by(Result.rank)
    ).all()
    ranks: dict[int, list[int]] = defaultdict(list)
    for rank, _, thing, _ in rows:
        ranks[thing.id].append(rank)
    earlier = earlier_verdicts(session, rater, [thing for _, _, thing, _ in rows])
    return tuple(
        JudgedCard(
            rank=rank,
            card=from_row(card),
            relevance=Relevance(verdict) if verdict else None,
            repeats=tuple(other for other in ranks[thing.id] if other != rank),
            earlier=_earlier(earlier.get(thing.id), from_row(thing.card)),
        )
        for rank, card, thing, verdict in rows
    )


def earlier_verdicts(
    session: Session, rater: Rater, things: Sequence[JudgedThing]
) -> dict[int, tuple[str, Card]]:
    """Return, by judged thing, the rater's latest verdict on another content of the property.

    Where the thing itself has a verdict, only what was said before it counts.
    """
    rows = session.execute(
        select(JudgedThing, Judgment.verdict, Judgment.changed_at)
        .join(Judgment, Judgment.judged_thing_id == JudgedThing.id)
        .where(
            Judgment.rater_id == rater.id,
            Judgment.verdict.is_not(None),
            JudgedThing.question_id.in_({thing.question_id for thing in things}),
            JudgedThing.property_id.in_({thing.property_id for thing in things}),
        )
    )
    return said_before(things, [(other, verdict, at) for other, verdict, at in rows if verdict])


def said_before(
    things: Sequence[JudgedThing], said: Iterable[tuple[JudgedThing, str, datetime]]
) -> dict[int, tuple[str, Card]]:
    """Return, by judged thing, the latest that was `said` of another content of the property.

    Where it was said of the thing itself, only what was said before that counts.
    """
    versions: dict[_Version, list[tuple[int, str, datetime, Card]]] = defaultdict(list)
    for other, verdict, at in sorted(said, key=itemgetter(2)):
        if other.card is not None:
            versions[_version(other)].append((other.id, verdict, at, from_row(other.card)))
    found: dict[int, tuple[str, Card]] = {}
    for thing in things:
        judged = versions[_version(thing)]
        own = next((at for number, _, at, _ in judged if number == thing.id), None)
        for number, verdict, at, card in judged:
            if number != thing.id and (own is None or at < own):
                found[thing.id] = (verdict, card)
    return found


def _version(thing: JudgedThing) -> _Version:
    return thing.question_id, thing.run_id, thing.property_id


def _earlier(found: tuple[str, Card] | None, card: Card) -> EarlierVerdict | None:
    if found is None:
        return None
    verdict, other = found
    return EarlierVerdict(Relevance(verdict), other, differences(other, card))


def _found_elsewhere(session: Session, rater: Rater, query: Query) -> bool:
    """Whether the rater judged a property relevant for a question this run left empty."""
    if query.emptiness_id is None:
        return False
    question = JudgedThing.question_id == query.question_id
    relevant = select(Judgment.judged_thing_id).where(
        Judgment.rater_id == rater.id, Judgment.verdict == str(Relevance.RELEVANT)
    )
    return bool(
        session.scalar(
            select(func.count()).where(
                question, JudgedThing.run_id.is_(None), JudgedThing.id.in_(relevant)
            )
        )
    )


def _place(session: Session, rater: Rater, query: Query, wanted: Filter) -> Place:
    position, of = session.execute(
        select(func.count().filter(Query.id <= query.id), func.count()).where(
            Query.run_id == query.run_id
        )
    ).one()
    return Place(
        position=position,
        of=of,
        previous=_neighbour(session, rater, query, wanted, ascending=False),
        next=_neighbour(session, rater, query, wanted, ascending=True),
        next_open=_next_open(session, rater, query.run_id, query.id, wanted),
    )


def _walk(rater: Rater, run_id: str, wanted: Filter, *, only_open: bool):  # type: ignore[no-untyped-def]
    """Return the statement over the query ids of a run that `wanted` lets through."""
    statement = (
        select(Query.query_id)
        .join_from(QuerySummary, Query, Query.id == QuerySummary.query_key)
        .where(QuerySummary.rater_id == rater.id, QuerySummary.run_id == run_id)
    )
    if only_open:
        statement = statement.where(live_metrics.is_open())
    if wanted.category:
        statement = statement.join(Question).where(Question.category == wanted.category)
    return statement.limit(1)


def _neighbour(
    session: Session, rater: Rater, query: Query, wanted: Filter, *, ascending: bool
) -> int | None:
    key = QuerySummary.query_key
    beyond: ColumnElement[bool] = key > query.id if ascending else key < query.id
    walk = _walk(rater, query.run_id, wanted, only_open=wanted.only_open)
    found: int | None = session.scalar(
        walk.where(beyond).order_by(key.asc() if ascending else key.desc())
    )
    return found


def _next_open(
    session: Session, rater: Rater, run_id: str, after: int, wanted: Filter
) -> int | None:
    """Return the next open query after the one with key `after`, round the end if need be."""
    key = QuerySummary.query_key
    walk = _walk(rater, run_id, wanted, only_open=True)
    ahead: int | None = session.scalar(walk.where(key > after).order_by(key))
    if ahead is not None:
        return ahead
    behind: int | None = session.scalar(walk.where(key < after).order_by(key))
    return behind
