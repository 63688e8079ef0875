"""The summary row of each query for each rater, rewritten by every click, and their sums.

Figures of runs are sums over these rows and stored nowhere (docs/decisions/0005).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

from msgspec import Struct, field, json
from sqlalchemy import (
    ColumnElement,
    Integer,
    Row,
    Select,
    String,
    Text,
    and_,
    bindparam,
    cast,
    delete,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy.orm import Session, aliased

from relevansi.db.engine import Database, to_json
from relevansi.db.rows import core, insert_rows, upsert
from relevansi.db.tables.judging import (
    JudgedItem,
    Judgment,
    QueryRating,
    StoredItem,
    StoredSummary,
)
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, Study
from relevansi.metrics.judging.figures import COUNTS, Totals, sums_of
from relevansi.metrics.judging.graded import headline_of, ranking_names
from relevansi.metrics.judging.queries import QuerySummary, Span
from relevansi.records import EmptyOutcome, QueryState, Scale
from relevansi.services.judging import changes, verdicts
from relevansi.services.judging.verdicts import HOLE, TAIL, AskedQuery, Scope, Verdicts
from relevansi.services.study.question_sets import is_put_to_raters

RESULT_COUNTS = tuple(name for name in QuerySummary._fields if name.endswith("_count"))
_SEPARATOR = "\x1f"
"""Between the items of a pool in one text: their identities come from files, blanks included."""
_COUNTING = (Study.cannot_tell, Study.scale, Study.measures, Study.kind, Study.pool_depth)
_FIGURES_READER = json.Decoder(list[dict[str, tuple[float | None, float | None, float | None]]])


def refresh(session: Session, rater_ids: Sequence[int], scope: Scope) -> None:
    """Rewrite the summary rows of these raters of one study for the queries in `scope`.

    The study gets another revision. A fixed number of statements for each rater, for runs of any
    size.
    """
    session.flush()
    study_id = select(Rater.study_id).where(Rater.id.in_(rater_ids)).limit(1).scalar_subquery()
    study = session.execute(select(Study.id, *_COUNTING).where(Study.id == study_id)).first()
    if study is None:
        return
    changes.revise(session, study.id)
    ranking = _ranking(study)
    for rater_id in rater_ids:
        queries = _read(session, scope, rater_id, ranking)
        rows = [_row_of(query, rater_id, ranking) for query in queries]
        in_scope = StoredSummary.query_key.in_(select(Query.id).where(scope))
        session.execute(delete(StoredSummary).where(StoredSummary.rater_id == rater_id, in_scope))
        if rows:
            stored = [row | {"figures": to_json(row["figures"])} for row in rows]
            values = [tuple(row.values()) for row in stored]
            insert_rows(core(session), StoredSummary, ", ".join(rows[0]), values)


def recompute(database: Database) -> None:
    """Rewrite every stored summary, in a transaction for each run.

    For whoever upgrades a database: a later version may define a figure in another way.
    """
    with database.reading() as session:
        runs = session.execute(select(Run.id, Run.study_id)).all()
    for run_id, study_id in runs:
        with database.writing() as session:
            # Clicks queue at the row of their rater: none is between what is read and written here.
            raters = select(Rater.id).where(Rater.study_id == study_id).order_by(Rater.id)
            ids = session.scalars(raters.with_for_update()).all()
            refresh(session, ids, Query.run_id == run_id)
            session.commit()


def refresh_touched(
    session: Session, rater_id: int, item_id: int | None, query_key: int | None
) -> dict[int, QuerySummary]:
    """Rewrite one rater's summaries of the queries that one change touches, and return them.

    Those are the queries that show the item; in a study of ranking figures, which rest on the
    pool, all queries of its question.
    """
    # One statement to read and one to write, since every click waits for it.
    by_item = item_id is not None
    values = {"rater_id": rater_id, "key": item_id if by_item else query_key}
    connection = core(session)
    rows = connection.execute(_touched(by_item=by_item, pooled=False), values).all()
    if not rows or _ranking(rows[0]):  # an item that no run lists may be in the pool
        rows = connection.execute(_touched(by_item=by_item, pooled=True), values).all()
    if not rows:
        return {}
    ranking = _ranking(rows[0])
    summaries = [_row_of(query, rater_id, ranking) for query in rows]
    write = upsert(StoredSummary, connection.dialect.name, unchanged=("run_id",))
    connection.execute(write, summaries)
    return {row["query_key"]: summary(SimpleNamespace(**row)) for row in summaries}


def _ranking(study: Row[Any] | Study) -> tuple[str, ...]:
    return ranking_names(headline_of(study))


def _read(
    session: Session, scope: Scope, rater_id: int, ranking: Sequence[str]
) -> Iterable[Row[Any]]:
    return core(session).execute(_judged(scope, literal(rater_id), pooled=bool(ranking)))


@cache
def _touched(*, by_item: bool, pooled: bool) -> Select[*tuple[Any, ...]]:
    key, rater_id = bindparam("key", type_=Integer), bindparam("rater_id", type_=Integer)
    if not by_item:
        touched = Query.id == key
    elif pooled:
        question_id = select(JudgedItem.question_id).where(JudgedItem.id == key)
        touched = Query.question_id == question_id.scalar_subquery()
    else:
        shows_item = select(Result.query_key).where(Result.judged_item_id == key)
        empty = select(Query.id).where(Query.emptiness_id == key)
        touched = Query.id.in_(shows_item.union_all(empty))
    return _judged(touched, rater_id, pooled=pooled)


def _judged(
    scope: Scope, rater_id: ColumnElement[int], *, pooled: bool
) -> Select[*tuple[Any, ...]]:
    # One row a query, its results in one text: a row a result would repeat all other columns.
    of_empty = aliased(Judgment)
    item = func.coalesce(Result.judged_item_id, HOLE)
    numbers = cast(Result.rank, String) + " " + cast(item, String)
    is_of_result = Judgment.judged_item_id == Result.judged_item_id
    is_outcome = of_empty.judged_item_id == Query.emptiness_id
    is_grade = QueryRating.query_key == Query.id
    listed = (
        select(func.aggregate_strings(numbers + " " + func.coalesce(Judgment.verdict, ""), ","))
        .join_from(Result, Judgment, is_of_result & (Judgment.rater_id == rater_id), isouter=True)
        .where(Result.query_key == Query.id)
        .correlate(Query)
    )
    columns = select(Query.id, Query.run_id, Query.query_id, Query.state, Query.emptiness_id)
    if pooled:
        columns = columns.add_columns(_pool(rater_id), Query.extra[TAIL].label("tail"))
    return (
        columns.add_columns(Query.asks_quality, of_empty.verdict.label("outcome"), *_COUNTING)
        .add_columns(QueryRating.quality, listed.scalar_subquery().label("listed"))
        .join(Run, Run.id == Query.run_id)
        .join(Study, Study.id == Run.study_id)
        .outerjoin(of_empty, is_outcome & (of_empty.rater_id == rater_id))
        .outerjoin(QueryRating, is_grade & (QueryRating.rater_id == rater_id))
        .where(scope)
        .order_by(Query.id)
    )


def _pool(rater_id: ColumnElement[int]) -> ColumnElement[str]:
    """Return the items of a query's question as one text: id, verdict and identity of each."""
    verdict = func.coalesce(Judgment.verdict, "")
    identity = func.replace(StoredItem.identity, _SEPARATOR, "")
    described = cast(JudgedItem.id, String) + " " + verdict + " " + identity
    is_own = and_(Judgment.judged_item_id == JudgedItem.id, Judgment.rater_id == rater_id)
    of_run = or_(JudgedItem.run_id.is_(None), JudgedItem.run_id == Query.run_id)
    pool = (
        select(func.aggregate_strings(described, _SEPARATOR))
        .join_from(JudgedItem, StoredItem)
        .outerjoin(Judgment, is_own)
        .where(JudgedItem.question_id == Query.question_id, of_run)
    )
    return pool.correlate(Query).scalar_subquery().label("pool")


def _row_of(query: Row[Any], rater_id: int, ranking: Sequence[str]) -> dict[str, Any]:
    """Return the summary row of a query as ``_judged`` read it, by the columns of its table."""
    results = [result.split(" ") for result in query.listed.split(",")] if query.listed else []
    listed = sorted([(int(rank), int(item), verdict) for rank, item, verdict in results])
    by_item = {item: verdict for _, item, verdict in listed if verdict}
    if query.outcome:
        by_item[query.emptiness_id] = query.outcome
    answer = AskedQuery(
        key=query.id,
        run_id=query.run_id,
        query_id=query.query_id,
        state=QueryState(query.state),
        item_ids=tuple([item for _, item, _ in listed]),
        emptiness=query.emptiness_id,
        asks_quality=query.asks_quality,
        pooled=query.pool_depth,
    )
    if ranking:
        pool = [part.split(" ", 2) for part in query.pool.split(_SEPARATOR)] if query.pool else []
        by_item |= {int(item): verdict for item, verdict, _ in pool if verdict}
        identities = {int(item): identity for item, _, identity in pool}
        answer = verdicts.with_pool(answer, identities, query.tail)
    quality = {} if query.quality is None else {query.id: query.quality}
    judged = Verdicts(by_item, quality, scale=Scale.stored(query.scale))
    summary = judged.summary(answer, cannot_tell=query.cannot_tell, ranking=ranking)
    return summary._asdict() | {
        "rater_id": rater_id,
        "query_key": query.id,
        "run_id": query.run_id,
        "state": str(summary.state),
        "open_judgments": len(judged.open_items(answer)),
        "empty_outcome": summary.empty_outcome and str(summary.empty_outcome),
        "figures": {name: [*span] for name, span in summary.figures.items()},
    }


def is_open(row: type[StoredSummary] = StoredSummary) -> ColumnElement[bool]:
    """Return the condition on ``StoredSummary`` that the rater has work left in the query."""
    return or_(row.open_judgments > 0, is_unrated(row))


def is_unrated(row: type[StoredSummary] = StoredSummary) -> ColumnElement[bool]:
    """Return the condition on ``StoredSummary`` that a readable answer lacks its quality."""
    is_readable = row.state != str(QueryState.UNREADABLE)
    return and_(row.asks_quality, is_readable, row.quality.is_(None))


def summary(row: StoredSummary | Row[Any] | SimpleNamespace) -> QuerySummary:
    """Return the summary that a row with its columns holds."""
    stored: dict[str, Any] = {name: getattr(row, name) for name in QuerySummary._fields}
    stored["state"] = QueryState(row.state)
    stored["empty_outcome"] = EmptyOutcome(row.empty_outcome) if row.empty_outcome else None
    stored["figures"] = {name: Span(*numbers) for name, numbers in row.figures.items()}
    return QuerySummary(**stored)


Disagreement = tuple[str, str, int, str, object, object]
"""A rater, run, query and column, and its stored and its computed value."""


def check(session: Session) -> list[Disagreement]:
    """Return where the stored summaries differ from the judgments; empty means equal."""
    disagreements: list[Disagreement] = []
    for rater in session.scalars(select(Rater).order_by(Rater.id)):
        run_ids = select(Run.id).where(Run.study_id == rater.study_id)
        for run_id in session.scalars(run_ids.order_by(Run.sequence, Run.id)):
            disagreements.extend(_check_run(session, rater, run_id))
    return disagreements


def _check_run(session: Session, rater: Rater, run_id: str) -> Iterator[Disagreement]:
    scope = Query.run_id == run_id
    of_rater = StoredSummary.rater_id == rater.id, StoredSummary.run_id == run_id
    rows = session.execute(select(*StoredSummary.__table__.columns).where(*of_rater)).mappings()
    stored_by_query = {row["query_key"]: row for row in rows}
    ranking = _ranking(rater.study)
    for query in _read(session, scope, rater.id, ranking):
        stored: Mapping[Any, Any] = stored_by_query.get(query.id, {})
        for column, value in _row_of(query, rater.id, ranking).items():
            if stored.get(column) != value:
                yield rater.name, run_id, query.query_id, column, stored.get(column), value


class RunProgress(Struct, frozen=True):
    """One rater's progress in some queries of a run: the sums, and the work left."""

    totals: Totals = field(default_factory=Totals)
    open_judgments: int = 0
    open_queries: int = 0

    @property
    def work_left(self) -> tuple[int, int, int, int]:
        """The cards, empty lists, questions and grades that are left."""
        lists = self.totals.n_unclassified
        return self.open_judgments - lists, lists, self.open_queries, self.totals.n_unrated

    @classmethod
    def together(cls, disjoint: Iterable[RunProgress]) -> RunProgress:
        """Return the rater's progress in several sets of queries that have none in common."""
        listed = tuple(disjoint)
        return cls(
            Totals.together(part.totals for part in listed),
            sum(part.open_judgments for part in listed),
            sum(part.open_queries for part in listed),
        )


def by_category(session: Session, rater_id: int, run_id: str) -> dict[str, RunProgress]:
    """Return a rater's progress in a run, by category in question order; one statement."""
    values = {"rater_id": rater_id, "run_id": run_id}
    progress = {}
    for category, spans, *numbers in core(session).execute(_by_category(), values):
        open_judgments, open_queries, *counts = (number or 0 for number in numbers)
        sums = sums_of(_FIGURES_READER.decode(f"[{spans}]"))
        totals = Totals(**dict(zip(COUNTS, counts, strict=True)), sums=sums)
        progress[category] = RunProgress(totals, open_judgments, open_queries)
    return progress


@cache
def _by_category() -> Select[Any]:
    # The figures in one text: ten times as fast as sums over paths into JSON.
    figures = func.aggregate_strings(cast(StoredSummary.figures, Text), ",")
    return (
        select(Question.category, figures, *_counts())
        .join_from(StoredSummary, Query, Query.id == StoredSummary.query_key)
        .join(Question, Question.id == Query.question_id)
        .where(
            StoredSummary.rater_id == bindparam("rater_id"),
            StoredSummary.run_id == bindparam("run_id"),
            is_put_to_raters(Question.id),
        )
        .group_by(Question.category)
        .order_by(func.min(Question.position))
    )


def _counts() -> Iterator[ColumnElement[Any]]:
    """Yield the columns of open judgments, open queries and the counts of ``Totals``, in order."""
    row = StoredSummary
    yield func.sum(row.open_judgments)
    yield func.count().filter(is_open())
    yield func.count()
    yield func.count().filter(row.complete.is_(True))
    for state in QueryState.RESULTS, QueryState.EMPTY, QueryState.FAILED, QueryState.UNREADABLE:
        yield func.count().filter(row.state == str(state))
    for outcome in EmptyOutcome:
        yield func.count().filter(row.empty_outcome == str(outcome))
    for column in RESULT_COUNTS:
        yield func.sum(getattr(row, column))
