"""The content of the rating page about one query of a run, for one rater."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from operator import itemgetter
from typing import Any, Protocol, TypeVar

from sqlalchemy import (
    Integer,
    Row,
    ScalarSelect,
    Select,
    String,
    and_,
    bindparam,
    exists,
    func,
    select,
)
from sqlalchemy.orm import Session, aliased, joinedload

from webapp.db.connection import tables
from webapp.db.drivers import driver
from webapp.db.prepared import prepared
from webapp.db.tables.gold import GoldVersion
from webapp.db.tables.judging import Event, JudgedThing, Judgment, QueryRating, StoredSummary
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Result, Run
from webapp.db.tables.study import Question, Study
from webapp.importers.runs.property_identity import differences
from webapp.metrics.judging.ranking import suggested_quality
from webapp.metrics.judging.summaries import QuerySummary as Summary
from webapp.records import Card, EmptyOutcome, QueryState, Relevance, Who
from webapp.services.judging import live_metrics
from webapp.services.judging.judged_things import from_row
from webapp.services.judging.judgments import UnknownQuery
from webapp.services.judging.live_metrics import Standing

_HAS_GOLD = exists().where(GoldVersion.question_set_id == Run.question_set_id)
"""Whether the run's questions have gold questions, which costs no statement of its own."""

_RATER, _RUN = bindparam("rater_id", type_=Integer), bindparam("run_id", type_=String)

Thing = JudgedThing | Row[Any]
_Version = tuple[int, str | None, int | None]  # question, run where it matters, property


@dataclass(frozen=True, slots=True)
class QueryFilter:
    """Which queries the rater walks through: all, or those left open; one category or all."""

    only_open: bool = False
    category: str | None = None


@dataclass(frozen=True, slots=True)
class EarlierVerdict:
    """The rater's verdict on the same property with other content, and what differs.

    ``now`` is the content of the card that shows it, which may state more than the card does.
    """

    relevance: Relevance
    card: Card
    now: Card
    differing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgedCard:
    """One card of the answer with the rater's verdict on it; ``listing`` names its property.

    ``repeats`` are the other ranks (1-based) at which the same answer shows the same thing;
    one verdict counts for all of them.
    """

    rank: int
    listing: int | None
    card: Card
    relevance: Relevance | None
    repeats: tuple[int, ...] = ()
    earlier: EarlierVerdict | None = None


@dataclass(frozen=True, slots=True)
class EarlierTurn:
    """One earlier question of the conversation and the chatbot's answer."""

    question: str
    response: str


@dataclass(frozen=True, slots=True)
class PlaceInWalk:
    """The place of a query among those the rater walks through.

    ``position`` is 1-based within the run; the query ids are ``None`` at the ends, and
    ``next_open`` once nothing (within the filter) is left to rate.
    """

    position: int
    of: int
    previous: int | None
    next: int | None
    next_open: int | None


@dataclass(frozen=True, slots=True)
class MovingFigures:
    """The values of a query's page that a verdict changes; the two standings are live."""

    run_id: str
    search_method: str | None
    llm: str | None
    query_id: int
    question: str
    category: str
    state: QueryState
    quality: int | None
    suggested_quality: int | None
    empty_outcome: EmptyOutcome | None
    found_elsewhere: bool
    summary: Summary
    category_standing: Standing
    whole: Standing
    categories: tuple[str, ...]
    place: PlaceInWalk
    show_pictures: bool


@dataclass(frozen=True, slots=True)
class RatingPage(MovingFigures):
    """One query of a run as its rater sees it."""

    context_dependent: bool
    response: str
    error: str | None
    claimed_count: int | None
    earlier_turns: tuple[EarlierTurn, ...]
    cards: tuple[JudgedCard, ...]
    notes: str
    filter: QueryFilter
    allow_bulk: bool
    has_gold: bool


class Listed(Protocol):
    """A card of which property it is known."""

    @property
    def listing(self) -> int | None: ...  # noqa: D102


ListedCard = TypeVar("ListedCard", bound=Listed)


def rating_page(
    session: Session, rater: Rater, run_id: str, query_id: int, wanted: QueryFilter
) -> RatingPage:
    """Return the page of one query; a fixed number of statements for runs of any size.

    Raises ``UnknownQuery``.
    """
    query, has_gold = _query(session, rater, run_id, query_id)
    asked = _asked(session, rater, run_id, query_id, wanted)
    cards = _cards(session, rater, query.id)
    moving = _moving(session, rater, asked, [card.relevance for card in cards], wanted)
    return RatingPage(
        **{field.name: getattr(moving, field.name) for field in fields(MovingFigures)},
        context_dependent=query.question.context_dependent,
        response=query.response,
        error=query.error,
        claimed_count=query.claimed_count,
        earlier_turns=earlier_turns(session, query),
        cards=cards,
        notes=asked.notes or "",
        filter=wanted,
        allow_bulk=rater.study.allow_bulk,
        has_gold=has_gold,
    )


def standing(
    session: Session, who: Rater | Who, run_id: str, query_id: int, wanted: QueryFilter
) -> tuple[MovingFigures, tuple[JudgedCard, ...]]:
    """Return the values that a verdict changed, and the cards that show each other's verdicts.

    Only that is read, since it follows every click. Raises ``UnknownQuery``.
    """
    asked = _asked(session, who, run_id, query_id, wanted)
    values = {"rater_id": who.id, "query_key": asked.id}
    rows = _listed().all(driver(session), values)
    several = len({row.listing for row in rows}) < len(rows)
    cards = shown_several_times(_cards(session, who, asked.id)) if several else ()
    said = [Relevance(row.verdict) if row.verdict else None for row in rows]
    return _moving(session, who, asked, said, wanted), cards


def shown_several_times(cards: Sequence[ListedCard]) -> tuple[ListedCard, ...]:
    """Return the cards whose property is on the page again: each shows the other's verdict."""
    times = Counter(card.listing for card in cards)
    return tuple(card for card in cards if times[card.listing] > 1)


def _moving(
    session: Session,
    who: Rater | Who,
    asked: Row[Any],
    said: Sequence[Relevance | None],
    wanted: QueryFilter,
) -> MovingFigures:
    summary = live_metrics.summary(asked)
    standings = live_metrics.by_category(session, who.id, asked.run_id)
    return MovingFigures(
        run_id=asked.run_id,
        search_method=asked.search_method,
        llm=asked.llm,
        query_id=asked.query_id,
        question=asked.text,
        category=asked.category,
        state=summary.state,
        quality=asked.grade,
        suggested_quality=suggested_quality(summary.state, said),
        empty_outcome=summary.empty_outcome,
        found_elsewhere=asked.emptiness_id is not None and _found_elsewhere(session, who, asked),
        summary=summary,
        category_standing=standings[asked.category],
        whole=Standing.together(standings.values()),
        categories=tuple(standings),
        place=PlaceInWalk(
            position=asked.position,
            of=asked.of,
            previous=asked.previous,
            next=asked.next,
            next_open=_open_after(session, who, asked, standings, wanted),
        ),
        show_pictures=asked.show_pictures,
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
    return _next_open(session, rater, run_id, (last or 0) - 1, QueryFilter())


def _asked(
    session: Session, who: Rater | Who, run_id: str, query_id: int, wanted: QueryFilter
) -> Row[Any]:
    """Return a query with its state, place and summary; raises ``UnknownQuery``."""
    statement = _standing(only_open=wanted.only_open, in_category=bool(wanted.category))
    query = {"run_id": run_id, "query_id": query_id, "study_id": who.study_id}
    values = {**query, "rater_id": who.id, "category": wanted.category}
    found: Row[Any] | None = statement.first(driver(session), values)
    if found is None:
        raise UnknownQuery(run_id, query_id)
    return found


@prepared
def _standing(*, only_open: bool, in_category: bool) -> Select[*tuple[Any, ...]]:
    """Return the statement behind ``_asked``: so long that it is written down only once."""
    asked = StoredSummary.query_key
    other = aliased(StoredSummary)
    walk = _walk(other, only_open=only_open, in_category=in_category)
    key = other.query_key
    within = aliased(Query)
    all_of_run = select(func.count()).where(within.run_id == Query.run_id)
    return (
        select(
            *(Query.id, Query.query_id, Query.question_id, Query.emptiness_id),
            *(Run.search_method, Run.llm, Question.text, Question.category, Study.show_pictures),
            *(QueryRating.quality.label("grade"), QueryRating.notes),
            *(column for column in StoredSummary.__table__.columns if column.name != "rater_id"),
            _first(all_of_run.where(within.id <= Query.id)).label("position"),
            _first(all_of_run).label("of"),
            _first(walk.where(key < asked).order_by(key.desc())).label("previous"),
            _first(walk.where(key > asked).order_by(key)).label("next"),
        )
        .select_from(Query)
        .join(Run, Run.id == Query.run_id)
        .join(Study, Study.id == Run.study_id)
        .join(Question, Question.id == Query.question_id)
        .join(StoredSummary, and_(asked == Query.id, StoredSummary.rater_id == _RATER))
        .outerjoin(
            QueryRating, and_(QueryRating.query_key == Query.id, QueryRating.rater_id == _RATER)
        )
        .where(
            Query.run_id == _RUN,
            Query.query_id == bindparam("query_id"),
            Run.study_id == bindparam("study_id"),
        )
    )


def _first(statement: Select[Any]) -> ScalarSelect[Any]:
    """Return the result of a statement about the run's other queries, as a column."""
    return statement.correlate(Query, StoredSummary).scalar_subquery()


@prepared
def _listed() -> Select[int | None, str | None]:
    """Return the statement over the properties that a query lists, with the verdicts."""
    return (
        select(JudgedThing.property_id.label("listing"), Judgment.verdict)
        .join_from(Result, JudgedThing, JudgedThing.id == Result.judged_thing_id)
        .outerjoin(
            Judgment,
            and_(Judgment.judged_thing_id == JudgedThing.id, Judgment.rater_id == _RATER),
        )
        .where(Result.query_key == bindparam("query_key"))
        .order_by(Result.rank)
    )


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


def earlier_turns(session: Session, query: Query) -> tuple[EarlierTurn, ...]:
    """Return the conversation back to the last independent question."""
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
    return tuple(EarlierTurn(text, response) for text, response in rows)


def _cards(session: Session, rater: Rater | Who, query_key: int) -> tuple[JudgedCard, ...]:
    rows = session.execute(
        select(Result.rank, Result.card, JudgedThing, Judgment.verdict)
        .join_from(Result, JudgedThing)
        .outerjoin(
            Judgment,
            (Judgment.judged_thing_id == JudgedThing.id) & (Judgment.rater_id == rater.id),
        )
        .where(Result.query_key == query_key)
        .order_by(Result.rank)
    ).all()
    ranks: dict[int, list[int]] = defaultdict(list)
    for rank, _, thing, _ in rows:
        ranks[thing.id].append(rank)
    earlier = earlier_verdicts(session, rater, [thing for _, _, thing, _ in rows])
    return tuple(
        JudgedCard(
            rank=rank,
            listing=thing.property_id,
            card=from_row(card),
            relevance=Relevance(verdict) if verdict else None,
            repeats=tuple(other for other in ranks[thing.id] if other != rank),
            earlier=_earlier(earlier.get(thing.id), from_row(thing.card)),
        )
        for rank, card, thing, verdict in rows
    )


def earlier_verdicts(
    session: Session, rater: Rater | Who, things: Sequence[Thing]
) -> dict[int, tuple[str, Card]]:
    """Return, by judged thing, the rater's latest verdict on another content of the property.

    Where the thing itself has a verdict, only earlier verdicts count.
    """
    values = {
        "rater_id": rater.id,
        "questions": list({thing.question_id for thing in things}),
        "properties": list({thing.property_id for thing in things}),
    }
    rows = tables(session).execute(_of_listings(), values)
    return said_before(things, [(row, row.verdict, row.changed_at) for row in rows if row.verdict])


@cache
def _of_listings() -> Select[*tuple[Any, ...]]:
    """Return the statement over all contents of some properties, with the verdicts on each.

    The join is an outer one so that SQLite does not begin with all the rater's judgments.
    """
    thing = JudgedThing
    return (
        select(thing.id, thing.question_id, thing.run_id, thing.property_id, thing.card)
        .add_columns(Judgment.verdict, Judgment.changed_at)
        .outerjoin(
            Judgment, and_(Judgment.judged_thing_id == thing.id, Judgment.rater_id == _RATER)
        )
        .where(
            thing.question_id.in_(bindparam("questions", expanding=True)),
            thing.property_id.in_(bindparam("properties", expanding=True)),
        )
    )


def said_before(
    things: Sequence[Thing], said: Iterable[tuple[Thing, str, datetime]]
) -> dict[int, tuple[str, Card]]:
    """Return, by judged thing, the latest verdict in `said` on another content of the property.

    Where the thing itself has a verdict, only earlier verdicts count.
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


def _version(thing: Thing) -> _Version:
    return thing.question_id, thing.run_id, thing.property_id


def _earlier(found: tuple[str, Card] | None, card: Card) -> EarlierVerdict | None:
    if found is None:
        return None
    verdict, other = found
    return EarlierVerdict(Relevance(verdict), other, card, differences(other, card))


def _found_elsewhere(session: Session, rater: Rater | Who, query: Row[Any]) -> bool:
    """Whether the rater judged a property relevant for a question this run left empty."""
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


def _walk(row: type[StoredSummary], *, only_open: bool, in_category: bool) -> Select[int]:
    """Return the statement over the query ids of a run that a filter lets through, `row` each."""
    query = aliased(Query)
    statement = (
        select(query.query_id)
        .join_from(row, query, query.id == row.query_key)
        .where(row.rater_id == _RATER, row.run_id == _RUN)
    )
    if only_open:
        statement = statement.where(live_metrics.is_open(row))
    if in_category:
        question = aliased(Question)
        statement = statement.join(question, question.id == query.question_id)
        statement = statement.where(question.category == bindparam("category"))
    return statement.limit(1)


def _open_after(
    session: Session,
    who: Rater | Who,
    asked: Row[Any],
    standings: Mapping[str, Standing],
    wanted: QueryFilter,
) -> int | None:
    """Return the next open query after the one that is asked, if there is any at all."""
    names = [wanted.category] if wanted.category else list(standings)
    if not any(standings[name].open_queries for name in names if name in standings):
        return None
    return _next_open(session, who, asked.run_id, asked.id, wanted)


def _next_open(
    session: Session, who: Rater | Who, run_id: str, after: int, wanted: QueryFilter
) -> int | None:
    """Return the next open query after the one with key `after`, round the end if need be."""
    place = {"rater_id": who.id, "run_id": run_id, "after": after, "category": wanted.category}
    row = _open(in_category=bool(wanted.category)).first(driver(session), place)
    found: int | None = row[0] if row else None
    return found


@prepared
def _open(*, in_category: bool) -> Select[int | None]:
    """Return the statement behind ``_next_open``."""
    row, after = aliased(StoredSummary), bindparam("after", type_=Integer)
    walk = _walk(row, only_open=True, in_category=in_category).order_by(row.query_key)
    ahead, behind = (
        walk.where(side).scalar_subquery()
        for side in (row.query_key > after, row.query_key < after)
    )
    return select(func.coalesce(ahead, behind))
