"""The content of the rating page about one query of a run, for one rater."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

from msgspec import Struct
from sqlalchemy import Integer, Row, ScalarSelect, Select, String, and_, bindparam, func, select
from sqlalchemy.orm import Session, aliased

from webapp.db.engine import tables
from webapp.db.tables.judging import Event, JudgedThing, Judgment, QueryRating, StoredSummary
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Result, Run
from webapp.db.tables.study import Question, Study
from webapp.importers.runs.property_particulars import differences
from webapp.metrics.judging.queries import QuerySummary as Summary
from webapp.metrics.judging.queries import counted, suggested_quality
from webapp.records import CannotTell, Card, EmptyOutcome, QueryState, Relevance
from webapp.services.judging import live_metrics
from webapp.services.judging.events import UnknownQuery
from webapp.services.judging.judged_things import from_row
from webapp.services.judging.live_metrics import Standing
from webapp.services.rating.pool import QueryFilter
from webapp.services.study.question_sets import is_answer_put_to_raters, is_put_to_raters


class EarlierTurn(Struct, frozen=True):
    """One earlier question of the conversation and the chatbot's answer."""

    question: str
    response: str


def of_question(session: Session, run_id: str | None, question_id: int) -> tuple[EarlierTurn, ...]:
    """Return the conversation of a question that belongs to a run; nothing without a run."""
    query = (
        run_id
        and session.execute(
            select(Query.id, Query.run_id, Question.context_dependent)
            .join(Question)
            .where(Query.run_id == run_id, Query.question_id == question_id)
        ).first()
    )
    return _turns(session, query) if query and query.context_dependent else ()


def earlier_turns(session: Session, query: Query) -> tuple[EarlierTurn, ...]:
    """Return the conversation back to the last independent question."""
    return _turns(session, query) if query.question.context_dependent else ()


def _turns(session: Session, query: Query | Row[int, str, bool]) -> tuple[EarlierTurn, ...]:
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


Thing = JudgedThing | Row[Any]
_Version = tuple[int, str | None, int | None]  # question, run where it matters, property


class EarlierVerdict(Struct, frozen=True):
    """The rater's verdict on the same property with other content, and what differs."""

    relevance: Relevance
    card: Card
    now: Card
    differing: tuple[str, ...]


def earlier_verdicts(
    session: Session, rater: Rater, things: Sequence[Thing]
) -> dict[int, EarlierVerdict]:
    """Return, by judged thing, the rater's latest verdict on another content of the property."""
    values = {
        "rater_id": rater.id,
        "questions": list({thing.question_id for thing in things}),
        "properties": list({thing.property_id for thing in things}),
    }
    rows = tables(session).execute(_of_listings(), values)
    return said_before(things, [(row, row.verdict, row.changed_at) for row in rows if row.verdict])


@cache
def _of_listings() -> Select[*tuple[Any, ...]]:
    # The join is an outer one so that SQLite does not begin with all the rater's judgments.
    thing = JudgedThing
    return (
        select(thing.id, thing.question_id, thing.run_id, thing.property_id, thing.card)
        .add_columns(Judgment.verdict, Judgment.changed_at)
        .outerjoin(
            Judgment,
            and_(Judgment.judged_thing_id == thing.id, Judgment.rater_id == bindparam("rater_id")),
        )
        .where(
            thing.question_id.in_(bindparam("questions", expanding=True)),
            thing.property_id.in_(bindparam("properties", expanding=True)),
        )
    )


def said_before(
    things: Sequence[Thing], said: Iterable[tuple[Thing, str, datetime]]
) -> dict[int, EarlierVerdict]:
    """Return, by judged thing, the latest verdict in `said` on another content of the property."""
    versions: dict[_Version, list[tuple[Thing, str, datetime]]] = defaultdict(list)
    for one in sorted(said, key=itemgetter(2)):
        versions[_version(one[0])].append(one)
    found: dict[int, EarlierVerdict] = {}
    for thing in things:
        judged = versions[_version(thing)]
        own = next((at for other, _, at in judged if other.id == thing.id), None)
        for other, verdict, at in judged:
            if other.id != thing.id and (own is None or at < own):
                before, now = from_row(other.card or {}), from_row(thing.card or {})
                relevance, differing = Relevance(verdict), differences(before, now)
                found[thing.id] = EarlierVerdict(relevance, before, now, differing)
    return found


def _version(thing: Thing) -> _Version:
    return thing.question_id, thing.run_id, thing.property_id


_RATER, _RUN = bindparam("rater_id", type_=Integer), bindparam("run_id", type_=String)


class JudgedCard(Struct, frozen=True):
    """One card with the rater's verdict on it; ``listing`` names its property.

    ``key`` names it in clicks. ``repeats`` are the other ranks that show the same thing.
    """

    number: int
    key: str
    listing: int | None
    card: Card
    relevance: Relevance | None
    repeats: tuple[int, ...] = ()
    earlier: EarlierVerdict | None = None
    has_prices: bool = False


class PlaceInWalk(NamedTuple):
    """The place of a query among those the rater walks through."""

    position: int | None
    of: int
    previous: int | None
    next: int | None
    next_open: int | None


class QuestionPage(Struct, frozen=True, kw_only=True):
    """The part that the page of a run's question and that of a blind task have in common."""

    question: str
    category: str
    context_dependent: bool
    earlier_turns: tuple[EarlierTurn, ...]
    cards: tuple[JudgedCard, ...]
    empty_outcome: EmptyOutcome | None
    show_pictures: bool
    cannot_tell: CannotTell
    filter: QueryFilter
    categories: tuple[str, ...]

    @property
    def is_blind(self) -> bool:
        return False

    def sharing(self, clicked: JudgedCard | None) -> tuple[JudgedCard, ...]:
        """Return the cards that show each other's verdicts, and the clicked one once cleared."""
        times = Counter(card.listing for card in self.cards)
        cleared = clicked.key if clicked is not None and clicked.relevance is None else None
        return tuple(card for card in self.cards if times[card.listing] > 1 or card.key == cleared)

    def card(self, key: str | None) -> JudgedCard | None:
        """Return the card that clicks name so."""
        return next((card for card in self.cards if card.key == key), None)


class RatingPage(QuestionPage, frozen=True, kw_only=True):
    """One query of a run as its rater sees it; ``asked_at`` is its question's place in the set."""

    run_id: str
    search_method: str | None
    llm: str | None
    query_id: int
    asked_at: int
    state: QueryState
    response: str
    error: str | None
    claimed_count: int | None
    quality: int | None
    suggested_quality: int | None
    suggests: bool
    notes: str
    found_elsewhere: bool
    summary: Summary
    category_standing: Standing
    whole: Standing
    place: PlaceInWalk
    allow_bulk: bool

    @property
    def name(self) -> str:
        return str(self.query_id)


def rating_page(
    session: Session, rater: Rater, run_id: str, query_id: int, wanted: QueryFilter
) -> RatingPage:
    """Return the page of one query; a fixed number of statements for runs of any size."""
    statement = _standing(only_open=wanted.only_open, in_category=bool(wanted.category))
    query = {"run_id": run_id, "query_id": query_id, "study_id": rater.study_id}
    values = {**query, "rater_id": rater.id, "category": wanted.category}
    asked = tables(session).execute(statement, values).first()
    if asked is None:
        raise UnknownQuery(run_id, query_id)
    summary = live_metrics.summary(asked)
    standings = live_metrics.by_category(session, rater.id, run_id)
    suggests = asked.suggest_quality is not False
    return RatingPage(
        **{name: asked._mapping[name] for name in _AS_READ},
        earlier_turns=of_question(session, run_id, asked.question_id),
        cards=_cards(session, rater, asked.id),
        empty_outcome=summary.empty_outcome,
        filter=wanted,
        categories=_categories(session, run_id),
        state=summary.state,
        quality=asked.grade,
        suggested_quality=suggested(asked, asked.cannot_tell) if suggests else None,
        suggests=suggests,
        notes=asked.notes or "",
        found_elsewhere=asked.emptiness_id is not None and _found_elsewhere(session, rater, asked),
        summary=summary,
        category_standing=standings.get(asked.category, Standing()),
        whole=Standing.together(standings.values()),
        place=PlaceInWalk(
            asked.position if asked.is_asked else None,
            *(asked.of, asked.previous, asked.next, asked.next_open),
        ),
    )


def suggested(summary: Row[Any] | Summary, cannot_tell: CannotTell) -> int | None:
    """Return the quality that a rater's own verdicts suggest for an answer, from its summary."""
    verdicts = (
        [Relevance.RELEVANT] * summary.relevant_count
        + [Relevance.NOT_RELEVANT] * summary.not_relevant_count
        + [Relevance.UNSURE] * summary.unsure_count
        + [None] * (summary.results_count - summary.judged_count)
    )
    shares = counted(verdicts, cannot_tell=cannot_tell)
    return suggested_quality(QueryState(summary.state), shares)


def first_open(session: Session, rater: Rater, run_id: str) -> int | None:
    """Return the query id at which the rater goes on: where they stopped, if it is open."""
    last = session.scalar(
        select(Event.query_key)
        .join(Query, Query.id == Event.query_key)
        .where(Event.rater_id == rater.id, Query.run_id == run_id)
        .order_by(Event.id.desc())
        .limit(1)
    )
    values = {"rater_id": rater.id, "run_id": run_id, "after": (last or 0) - 1}
    return tables(session).scalar(_first_open(), values)


_AS_READ = (
    *("question", "category", "context_dependent", "show_pictures", "cannot_tell", "run_id"),
    *("search_method", "llm", "query_id", "asked_at", "response", "error", "claimed_count"),
    "allow_bulk",
)
"""The columns of a question that are fields of the page."""


@cache
def _standing(*, only_open: bool, in_category: bool) -> Select[*tuple[Any, ...]]:
    asked = StoredSummary.query_key
    other = aliased(StoredSummary)
    walk = _walk(other, only_open=only_open, in_category=in_category)
    key = other.query_key
    within = aliased(Query)
    all_of_run = select(func.count()).where(
        within.run_id == Query.run_id, is_answer_put_to_raters(within.id)
    )
    still_open = _walk(other, only_open=True, in_category=in_category).order_by(key)
    return (
        select(
            *(Query.id, Query.query_id, Query.question_id, Query.emptiness_id),
            *(Query.response, Query.error, Query.claimed_count, Run.search_method, Run.llm),
            *(Question.text.label("question"), Question.category, Question.context_dependent),
            *(Question.position.label("asked_at"), Study.allow_bulk),
            *(Study.show_pictures, Study.suggest_quality, Study.cannot_tell),
            *(QueryRating.quality.label("grade"), QueryRating.notes),
            *(column for column in StoredSummary.__table__.columns if column.name != "rater_id"),
            _first(all_of_run.where(within.id <= Query.id)).label("position"),
            _first(all_of_run).label("of"),
            is_put_to_raters(Query.question_id).label("is_asked"),
            _first(walk.where(key < asked).order_by(key.desc())).label("previous"),
            _first(walk.where(key > asked).order_by(key)).label("next"),
            func.coalesce(
                _first(still_open.where(key > asked)), _first(still_open.where(key < asked))
            ).label("next_open"),
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
    return statement.correlate(Query, StoredSummary).scalar_subquery()


def _cards(session: Session, rater: Rater, query_key: int) -> tuple[JudgedCard, ...]:
    rows = session.execute(
        select(Result.rank, Result.card, JudgedThing, Judgment.verdict)
        .join_from(Result, JudgedThing)
        .outerjoin(
            Judgment, (Judgment.judged_thing_id == JudgedThing.id) & (Judgment.rater_id == rater.id)
        )
        .where(Result.query_key == query_key)
        .order_by(Result.rank)
    ).all()
    ranks: dict[int, list[int]] = defaultdict(list)
    for rank, _, thing, _ in rows:
        ranks[thing.id].append(rank)
    earlier = earlier_verdicts(session, rater, [thing for _, _, thing, _ in rows])
    has_prices = any(card.get("price") for _, card, _, _ in rows)
    return tuple(
        JudgedCard(
            number=rank,
            key=str(rank),
            listing=thing.property_id,
            card=from_row(card),
            relevance=Relevance(verdict) if verdict else None,
            repeats=tuple(other for other in ranks[thing.id] if other != rank),
            earlier=earlier.get(thing.id),
            has_prices=has_prices,
        )
        for rank, card, thing, verdict in rows
    )


def _found_elsewhere(session: Session, rater: Rater, query: Row[Any]) -> bool:
    relevant = (
        select(Judgment.rater_id)
        .join(JudgedThing)
        .where(
            JudgedThing.question_id == query.question_id,
            JudgedThing.run_id.is_(None),
            Judgment.rater_id == rater.id,
            Judgment.verdict == str(Relevance.RELEVANT),
        )
    )
    return session.scalar(relevant.limit(1)) is not None


def _walk(row: type[StoredSummary], *, only_open: bool, in_category: bool) -> Select[int]:
    query = aliased(Query)
    statement = (
        select(query.query_id)
        .join_from(row, query, query.id == row.query_key)
        .where(row.rater_id == _RATER, row.run_id == _RUN, is_answer_put_to_raters(row.query_key))
    )
    if only_open:
        statement = statement.where(live_metrics.is_open(row))
    if in_category:
        question = aliased(Question)
        statement = statement.join(question, question.id == query.question_id)
        statement = statement.where(question.category == bindparam("category"))
    return statement.limit(1)


@cache
def _first_open() -> Select[int | None]:
    row, after = aliased(StoredSummary), bindparam("after", type_=Integer)
    walk = _walk(row, only_open=True, in_category=False).order_by(row.query_key)
    ahead, behind = (
        walk.where(side).scalar_subquery()
        for side in (row.query_key > after, row.query_key < after)
    )
    return select(func.coalesce(ahead, behind))


def _categories(session: Session, run_id: str) -> tuple[str, ...]:
    found = (
        select(Question.category)
        .join(Query, Query.question_id == Question.id)
        .where(Query.run_id == run_id)
        .group_by(Question.category)
        .order_by(func.min(Question.position))
    )
    return tuple(session.scalars(found))
