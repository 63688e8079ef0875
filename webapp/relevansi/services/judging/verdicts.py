"""The verdicts on some queries: of one rater, or merged from several by a named rule.

And how blind they were given: the page of the event that made each decides. A task's page names
neither run nor method, a run's page names both. An event from elsewhere (a file, a machine), or
none, leaves it unknown. A click that was taken back made nothing (docs/decisions/0038).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from statistics import median
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace
from sqlalchemy import (
    ColumnElement,
    Select,
    String,
    and_,
    case,
    cast,
    exists,
    func,
    or_,
    select,
    union,
)
from sqlalchemy.orm import Session, aliased

from relevansi.db.rows import core
from relevansi.db.tables.judging import (
    Adjudication,
    Event,
    JudgedItem,
    Judgment,
    QueryRating,
    StoredItem,
)
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Study
from relevansi.metrics.judging.graded import RankedGrades, spans_of
from relevansi.metrics.judging.queries import QueryJudgments, QuerySummary, Span, summarise
from relevansi.records import (
    BINARY,
    REPEATED,
    BlindCounts,
    Blindness,
    CannotTell,
    EmptyOutcome,
    Number,
    QueryState,
    Relevance,
    Scale,
)

TAIL = "tail"
"""The key of ``Query.extra`` with the ids of the ranks below those that are judged."""
HOLE = 0
"""The item at a rank whose result could not be read."""
Scope = ColumnElement[bool]
"""Which queries are meant, as a condition on ``Query``."""
Merging = Callable[[tuple[str, ...]], str | None]
"""Makes one verdict of the votes on a judged item; ``None`` where they leave it open."""


class AskedQuery(Struct, frozen=True):
    """One query and the judged items it rests on, those of its results in rank order.

    Ranking figures rest on two kinds more: those of the ranks below, ``None`` where no item of
    that id was ever to be judged, and the ``others`` of the question. ``pooled`` of the results,
    from the first, are within the depth of the study's pool.
    """

    key: int
    run_id: str
    query_id: int
    state: QueryState
    item_ids: tuple[int, ...]
    emptiness: int | None
    asks_quality: bool = True
    tail: tuple[int | None, ...] = ()
    others: tuple[int, ...] = ()
    pooled: int | None = None


class Verdicts(Struct, frozen=True):
    """The verdicts under one rule, by judged item, with quality and notes by query.

    A verdict is a text of the study's `scale`, or an ``EmptyOutcome``.
    """

    by_item: Mapping[int, str] = field(default_factory=dict)
    quality: Mapping[int, float] = field(default_factory=dict)
    notes: Mapping[int, str] = field(default_factory=dict)
    scale: Scale = BINARY

    def relevance(self, item: int) -> Relevance | None:
        return self.relevances([item])[0]

    def relevances(self, items: Iterable[int]) -> tuple[Relevance | None, ...]:
        """Return the verdicts on cards, read at the threshold of the scale.

        A result that could not be read has its rank and is not relevant.
        """
        at_threshold = self.scale.relevances
        return tuple(
            Relevance.NOT_RELEVANT if item == HOLE else at_threshold[self.by_item.get(item)]
            for item in items
        )

    def outcome(self, emptiness: int | None) -> EmptyOutcome | None:
        """Return the outcome of an empty list, whose verdict it is (docs/decisions/0007)."""
        verdict = self.by_item.get(emptiness) if emptiness is not None else None
        return EmptyOutcome(verdict) if verdict is not None else None

    def judgments(self, query: AskedQuery) -> QueryJudgments:
        return QueryJudgments(
            state=query.state,
            verdicts=self.relevances(query.item_ids),
            empty_outcome=self.outcome(query.emptiness),
            quality=self.quality.get(query.key),
            asks_quality=query.asks_quality,
        )

    def summary(
        self, query: AskedQuery, *, cannot_tell: CannotTell, ranking: Sequence[str] = ()
    ) -> QuerySummary:
        """Return the summary of a query, with the `ranking` figures of these names."""
        summary = summarise(self.judgments(query), cannot_tell=cannot_tell)
        if not ranking:
            return summary
        if query.state is QueryState.UNREADABLE:
            return summary.with_figures(dict.fromkeys(ranking, Span.settled(None)))
        return summary.with_figures(spans_of(self.ranked(query), tuple(ranking)))

    def ranked(self, query: AskedQuery) -> RankedGrades:
        """Return the grades of a query that was asked with its pool."""
        ranks, n_listed = (*query.item_ids, *query.tail), len(query.item_ids)
        grades = tuple(map(self._grade, ranks))
        if len({*ranks}) < len(ranks):
            grades = tuple(
                REPEATED if item is not None and item in ranks[:at] else grade
                for at, (item, grade) in enumerate(zip(ranks, grades, strict=True))
            )
        every = (*grades, *map(self._grade, query.others))
        pool = tuple([grade for grade in every if isinstance(grade, int)])
        return RankedGrades(grades[:n_listed], pool, self.scale, grades[n_listed:])

    def _grade(self, item: int | None) -> Number:
        """Return the grade of an item; a hole counts as judged, without gain (decision 0044)."""
        if item == HOLE:
            return Relevance.UNSURE.value
        return self.scale.numbers[self.by_item.get(item) if item else None]

    def open_items(self, query: AskedQuery) -> set[int]:
        """Return the judged items of a query without a verdict, as deep as its study pools."""
        items = {*query.item_ids[: query.pooled], query.emptiness}
        return {item for item in items if item and item not in self.by_item}


def holes(session: Session, scope: Scope) -> dict[int, tuple[int, ...]]:
    """Return, by query, the ranks whose results could not be read; no other queries."""
    unread = select(Result.query_key, Result.rank).join(Query)
    unread = unread.where(scope, Result.judged_item_id.is_(None))
    ranks: dict[int, tuple[int, ...]] = {}
    for key, rank in core(session).execute(unread.order_by(Result.query_key, Result.rank)):
        ranks[key] = (*ranks.get(key, ()), rank)
    return ranks


def asked_queries(session: Session, scope: Scope, *, pooled: bool = False) -> list[AskedQuery]:
    """Return the queries in `scope`, if `pooled` with the tail and the others of their pool."""
    items_of: dict[int, list[int]] = defaultdict(list)
    results = select(Result.query_key, Result.judged_item_id).join(Query).where(scope)
    for key, item in core(session).execute(results.order_by(Result.query_key, Result.rank)).all():
        items_of[key].append(item or HOLE)
    columns = (Query.id, Query.run_id, Query.query_id, Query.state, Query.emptiness_id)
    in_order = select(*columns, Query.asks_quality, Study.pool_depth).order_by(Query.id)
    in_scope = in_order.where(scope).join(Run, Run.id == Query.run_id).join(Study)
    queries = []
    for row in core(session).execute(in_scope):
        key, run_id, query_id, state, emptiness, asks_quality, depth = row
        answer = key, run_id, query_id, QueryState(state), tuple(items_of[key])
        queries.append(AskedQuery(*answer, emptiness, asks_quality, pooled=depth))
    return [*_pooled(session, scope, queries)] if pooled else queries


def _pooled(session: Session, scope: Scope, queries: Iterable[AskedQuery]) -> Iterator[AskedQuery]:
    pools: dict[int, list[Any]] = defaultdict(list)
    everything = (
        select(JudgedItem.question_id, JudgedItem.id, JudgedItem.run_id, StoredItem.identity)
        .join_from(JudgedItem, StoredItem)
        .where(JudgedItem.question_id.in_(select(Query.question_id).where(scope)))
    )
    for item in core(session).execute(everything):
        pools[item.question_id].append(item)
    lists = select(Query.id, Query.question_id, Query.extra[TAIL]).where(scope)
    listed = {key: (of, tail) for key, of, tail in core(session).execute(lists)}
    for query in queries:
        question_id, tail = listed[query.key]
        pool = (item for item in pools[question_id] if item.run_id in {None, query.run_id})
        yield with_pool(query, {item.id: item.identity for item in pool}, tail)


def with_pool(query: AskedQuery, pool: Mapping[int, str], tail: Sequence[str] | None) -> AskedQuery:
    """Return a query with the items of a `tail` of identities, and the others of its `pool`.

    The pool has the identity of each judged item. Several of one identity are versions of an item;
    a tail has no cards, so it means the first.
    """
    below: tuple[int | None, ...] = ()
    if tail:
        first = {pool[item]: item for item in sorted(pool, reverse=True)}
        below = tuple(first.get(identity) for identity in tail)
    others = tuple(sorted(pool.keys() - {*query.item_ids, *below}))
    return replace(query, tail=below, others=others)


def of_rater(session: Session, scope: Scope, rater_id: int, *, pooled: bool = False) -> Verdicts:
    verdicts = by_rater(session, scope, [rater_id], pooled=pooled)
    return verdicts.get(rater_id, Verdicts())


def majority(
    session: Session, scope: Scope, raters: Sequence[Rater], *, pooled: bool = False
) -> Verdicts:
    """Return the verdicts of `raters` merged as their study merges them."""
    verdicts = by_rater(session, scope, [rater.id for rater in raters], pooled=pooled)
    merging = merging_of(raters[0].study) if raters else majority_verdict
    return merged([(rater.name, verdicts[rater.id]) for rater in raters], merging)


def merging_of(study: Study) -> Merging:
    """Return how a study merges votes: grades by their median unless it says majority."""
    is_median = Scale.stored(study.scale).merging(study.merging) == "median"
    return lower_median if is_median else majority_verdict


def merged(by_name: Sequence[tuple[str, Verdicts]], merging: Merging) -> Verdicts:
    """Return the verdicts of named raters as one: `merging` makes one of the votes on an item.

    Quality is the median of the grades; the notes are those of all, with names once there
    are several.
    """
    votes: dict[int, list[str]] = defaultdict(list)
    grades: dict[int, list[float]] = defaultdict(list)
    notes: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for name, verdicts in by_name:
        for item, verdict in verdicts.by_item.items():
            votes[item].append(verdict)
        for key, grade in verdicts.quality.items():
            grades[key].append(grade)
        for key, text in verdicts.notes.items():
            notes[key].append((name, text))
    by_item = {item: merging(tuple(votes_on_item)) for item, votes_on_item in votes.items()}
    return Verdicts(
        by_item={item: verdict for item, verdict in by_item.items() if verdict is not None},
        quality={key: float(median(qualities)) for key, qualities in grades.items()},
        notes={key: _signed(texts) for key, texts in notes.items()},
        scale=by_name[0][1].scale if by_name else BINARY,
    )


def adjudicated(
    session: Session, scope: Scope, raters: Sequence[Rater], *, pooled: bool = False
) -> Verdicts:
    """Return the adjudicated verdicts, and the majority of `raters` where there is none."""
    by_majority = majority(session, scope, raters, pooled=pooled)
    return overruled(by_majority, adjudications(session, scope, pooled=pooled))


def adjudications(session: Session, scope: Scope, *, pooled: bool = False) -> dict[int, str]:
    """Return the verdicts by which disputes were settled, by judged item."""
    items = pool_of(scope) if pooled else judged_items(scope)
    rows = session.scalars(select(Adjudication).where(Adjudication.judged_item_id.in_(items)))
    return {row.judged_item_id: row.verdict for row in rows}


def overruled(verdicts: Verdicts, by_adjudication: Mapping[int, str]) -> Verdicts:
    """Return `verdicts` with the adjudicated ones in the place of others."""
    return replace(verdicts, by_item={**verdicts.by_item, **by_adjudication})


def judged_items(scope: Scope) -> Select[int | None]:
    """Return the statement over the judged items of the queries in `scope`, emptiness too."""
    listed = select(Result.judged_item_id).join(Query).where(scope)
    listed = listed.where(Result.judged_item_id.is_not(None))
    empty = select(Query.emptiness_id).where(scope, Query.emptiness_id.is_not(None))
    both = union(listed, empty).subquery()
    return select(both.c[0])


def pool_of(scope: Scope) -> Select[int]:
    """Return the statement over all judged items of the questions in `scope`."""
    return select(JudgedItem.id).where(
        JudgedItem.question_id.in_(select(Query.question_id).where(scope))
    )


@lru_cache(maxsize=4096)  # thousands of items have the same few votes
def majority_verdict(votes: tuple[str, ...]) -> str | None:
    """Return the verdict that most decided votes gave; ``None`` on a tie.

    Where every vote is "cannot tell", that is the verdict.

    >>> majority_verdict(("1", "0", "1")), majority_verdict(("1", "0"))
    ('1', None)
    >>> majority_verdict(("unsure", "0"))
    '0'
    """
    decided = Counter(vote for vote in votes if vote != Relevance.UNSURE)
    if not decided:
        return Relevance.UNSURE if votes else None
    leading = decided.most_common(2)
    if len(leading) == 2 and leading[0][1] == leading[1][1]:
        return None
    return leading[0][0]


def lower_median(votes: tuple[str, ...]) -> str | None:
    """Return the middle grade, of two middles the lower, so that no tie stays open.

    "Cannot tell" does not vote; outcomes of empty lists have no order and are merged by majority.

    >>> lower_median(("1", "0")), lower_median(("0", "3", "2")), lower_median(("unsure", "2"))
    ('0', '2', '2')
    """
    grades = sorted(int(vote) for vote in votes if vote.isdecimal())
    return str(grades[(len(grades) - 1) // 2]) if grades else majority_verdict(votes)


def by_rater(
    session: Session, scope: Scope, rater_ids: Sequence[int], *, pooled: bool = False
) -> dict[int, Verdicts]:
    """Return each rater's verdicts in `scope`; `pooled` on all items of its questions."""
    verdicts: dict[int, dict[int, str]] = defaultdict(dict)
    qualities: dict[int, dict[int, float]] = defaultdict(dict)
    notes: dict[int, dict[int, str]] = defaultdict(dict)
    judgments = select(Judgment.rater_id, Judgment.judged_item_id, Judgment.verdict)
    items = pool_of(scope) if pooled else judged_items(scope)
    judgments = judgments.where(Judgment.rater_id.in_(rater_ids), Judgment.verdict.is_not(None))
    in_scope = judgments.where(Judgment.judged_item_id.in_(items))
    for rater_id, item, verdict in core(session).execute(in_scope).all():
        if verdict is not None:
            verdicts[rater_id][item] = verdict
    ratings = (
        select(QueryRating.rater_id, QueryRating.query_key, QueryRating.quality, QueryRating.notes)
        .join(Query, Query.id == QueryRating.query_key)
        .where(scope, QueryRating.rater_id.in_(rater_ids))
    )
    for rater_id, key, quality, text in core(session).execute(ratings).all():
        if quality is not None:
            qualities[rater_id][key] = quality
        if text:
            notes[rater_id][key] = text
    of_study = select(Study.scale).join(Rater).where(Rater.id.in_(rater_ids)).limit(1)
    scale = Scale.stored(core(session).scalar(of_study))
    return {key: Verdicts(verdicts[key], qualities[key], notes[key], scale) for key in rater_ids}


def _signed(texts: Sequence[tuple[str, str]]) -> str:
    return " | ".join(f"{name}: {text}" if len(texts) > 1 else text for name, text in texts)


Judged = type[Judgment] | type[QueryRating]

VALUE_OF = {Judgment: Judgment.verdict, QueryRating: cast(QueryRating.quality, String)}
"""The value that a row holds, as its event has it; null while it holds none."""
ON_TASK = Event.task_id.is_not(None)
ON_RUN = and_(ON_TASK.is_(False), Event.query_key.is_not(None), Event.cause.in_(["click", "bulk"]))

_event, _undo = aliased(Event), aliased(Event)
_ABOUT = {
    Judgment: (Judgment.judged_item_id, _event.judged_item_id, _event.field == "verdict"),
    QueryRating: (
        QueryRating.query_key,
        _event.query_key,
        and_(_event.field == "quality", _event.judged_item_id.is_(None)),
    ),
}
"""The key of a row, the same in an event, and the condition that events are about such rows."""


def blindness(session: Session, scope: Scope, rater_ids: Sequence[int]) -> Blindness:
    """Return how blind these raters' current verdicts on the queries in `scope` are."""
    items, answers = judged_items(scope), select(Query.id).where(scope)
    return Blindness(
        verdicts=_given_on(session, Judgment, rater_ids, items),
        grades=_given_on(session, QueryRating, rater_ids, answers),
    )


@cache
def made_by(row: Judged) -> ColumnElement[bool]:
    """Return the condition on (``Event``, `row`) that this event made the row's current value.

    The order of events is that of ``events.in_order``.
    """
    key, about, is_about = _ABOUT[row]
    is_earlier = _event.client_time < _event.received_at
    at = case((is_earlier, _event.client_time), else_=_event.received_at)
    taken_back = or_(_event.undoes_id.is_not(None), exists().where(_undo.undoes_id == _event.id))
    in_device = func.row_number().over(
        partition_by=_event.device, order_by=[_event.sequence.desc(), at.desc(), _event.id.desc()]
    )
    events = (
        select(_event.id, _event.device, at.label("at"), in_device.label("place"))
        .where(_event.rater_id == row.rater_id, about == key, is_about, ~taken_back)
        .correlate(row)
        .subquery()
    )
    last = select(events.c.id).where(events.c.place == 1)
    last = last.order_by(events.c["at"].desc(), events.c.device.desc()).limit(1)
    return and_(Event.id == last.scalar_subquery(), Event.new == VALUE_OF[row])


def _given_on(
    session: Session, row: Judged, rater_ids: Sequence[int], keys: Select[Any]
) -> BlindCounts:
    key, _, _ = _ABOUT[row]
    on_task, on_run = func.count(case((ON_TASK, 1))), func.count(case((ON_RUN, 1)))
    statement = (
        select(func.count(), on_task, on_run, func.max(case((ON_RUN, Event.received_at))))
        .select_from(row)
        .outerjoin(Event, made_by(row))
        .where(row.rater_id.in_(rater_ids), VALUE_OF[row].is_not(None), key.in_(keys))
    )
    return BlindCounts(*core(session).execute(statement).one())
