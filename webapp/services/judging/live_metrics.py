"""The figures of a run, kept in step: summary rows that every click rewrites, and their sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import methodcaller
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Integer,
    Row,
    Select,
    String,
    and_,
    bindparam,
    cast,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
)
from sqlalchemy.orm import Session, aliased

from webapp.db.connection import tables
from webapp.db.tables.judging import Judgment, QueryRating, StoredSummary
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Result, Run
from webapp.db.tables.study import Question
from webapp.db.upserts import upsert
from webapp.metrics.judging.queries import QUERY_FIGURES, QueryJudgments, Span, summarise
from webapp.metrics.judging.queries import QuerySummary as Summary
from webapp.metrics.judging.totals import COLUMNS, COUNTS, Sum, Totals, columns
from webapp.records import VERDICTS, EmptyOutcome, QueryState
from webapp.services.judging import verdicts
from webapp.services.judging.verdicts import AskedQuery, Scope
from webapp.services.study.unasked import is_answer_put_to_raters, is_put_to_raters

RESULT_COUNTS = (
    "results_count",
    "judged_count",
    "relevant_count",
    "not_relevant_count",
    "unsure_count",
)
_PARTS = methodcaller("split", " ")


def refresh(session: Session, rater_ids: Sequence[int], scope: Scope) -> None:
    """Rewrite the summary rows of these raters for the queries in `scope`.

    A fixed number of statements for each rater, for runs of any size.
    """
    session.flush()
    asked = verdicts.asked_queries(session, scope)
    for rater_id in rater_ids:
        rows = list(_rows(session, asked, scope, rater_id))
        session.execute(
            delete(StoredSummary).where(
                StoredSummary.rater_id == rater_id,
                StoredSummary.query_key.in_(select(Query.id).where(scope)),
            )
        )
        if rows:
            # One statement: else rows that miss different figures would go in groups.
            session.execute(insert(StoredSummary), rows, execution_options={"render_nulls": True})


def refresh_touched(
    session: Session, rater_id: int, thing_id: int | None, query_key: int | None
) -> None:
    """Rewrite one rater's summaries of the queries that one change touches.

    Those that show or are the judged thing, without one the query with the key. The same as
    ``refresh`` with a statement to read and one for each, since every click waits for it.
    """
    of = query_key if thing_id is None else thing_id
    touched = _touched(by_thing=thing_id is not None)
    connection = tables(session)
    rows = connection.execute(touched, {"rater_id": rater_id, "of": of}).all()
    write = upsert(StoredSummary, connection.dialect, kept=("run_id",))
    if rows:
        connection.execute(write, [_row_of(query, rater_id) for query in rows])


@cache
def _touched(*, by_thing: bool) -> Select[*tuple[Any, ...]]:
    """Return the statement behind ``refresh_touched``: all of a query in a row.

    What it lists is a text of "rank thing verdict", in no order: a row for each result would
    look for the rest of the query as often.
    """
    of, rater_id = bindparam("of", type_=Integer), bindparam("rater_id", type_=Integer)
    shown = select(Result.query_key).where(Result.judged_thing_id == of)
    empty = select(Query.id).where(Query.emptiness_id == of)
    of_empty = aliased(Judgment)
    numbers = cast(Result.rank, String) + " " + cast(Result.judged_thing_id, String)
    listed = (
        select(func.aggregate_strings(numbers + " " + func.coalesce(Judgment.verdict, ""), ","))
        .join_from(
            Result,
            Judgment,
            and_(Judgment.judged_thing_id == Result.judged_thing_id, Judgment.rater_id == rater_id),
            isouter=True,
        )
        .where(Result.query_key == Query.id)
        .correlate(Query)
    )
    return (
        select(
            *(Query.id, Query.run_id, Query.state, Query.emptiness_id),
            of_empty.verdict.label("outcome"),
            QueryRating.quality,
            listed.scalar_subquery().label("listed"),
        )
        .outerjoin(
            of_empty,
            and_(of_empty.judged_thing_id == Query.emptiness_id, of_empty.rater_id == rater_id),
        )
        .outerjoin(
            QueryRating,
            and_(QueryRating.query_key == Query.id, QueryRating.rater_id == rater_id),
        )
        .where(Query.id.in_(shown.union_all(empty)) if by_thing else Query.id == of)
    )


def _row_of(query: Row[Any], rater_id: int) -> dict[str, Any]:
    """Return the summary row of one query that ``_touched`` found."""
    told = map(_PARTS, query.listed.split(",")) if query.listed else ()
    listed = sorted([(int(rank), thing, verdict) for rank, thing, verdict in told])
    unsaid = {thing for _, thing, verdict in listed if not verdict}
    open_emptiness = query.emptiness_id is not None and query.outcome is None
    said = QueryJudgments(
        state=QueryState(query.state),
        verdicts=tuple([VERDICTS[verdict] for _, _, verdict in listed]),
        empty_outcome=EmptyOutcome(query.outcome) if query.outcome else None,
        quality=query.quality,
    )
    return _row(rater_id, query.id, query.run_id, said, len(unsaid) + open_emptiness)


@dataclass(frozen=True, slots=True)
class Standing:
    """One rater's progress in some queries of a run: the sums, and the work left.

    ``open_judgments`` counts verdicts still to give, ``open_queries`` the queries that lack
    one or whose answer lacks its quality.
    """

    totals: Totals = field(default_factory=Totals)
    open_judgments: int = 0
    open_queries: int = 0

    @classmethod
    def together(cls, disjoint: Iterable[Standing]) -> Standing:
        """Return the rater's progress in several sets of queries that have none in common."""
        listed = tuple(disjoint)
        return cls(
            Totals.together(one.totals for one in listed),
            sum(one.open_judgments for one in listed),
            sum(one.open_queries for one in listed),
        )


class Standings(NamedTuple):
    """A rater's progress in one category of a run, and in all of the run."""

    category: Standing
    whole: Standing


def is_open(row: type[StoredSummary] = StoredSummary) -> ColumnElement[bool]:
    """Return the condition on ``StoredSummary`` that something is left to rate."""
    return or_(row.open_judgments > 0, is_unrated(row))


def is_unrated(row: type[StoredSummary] = StoredSummary) -> ColumnElement[bool]:
    """Return the condition on ``StoredSummary`` that its ``is_unrated`` is."""
    return and_(row.state != str(QueryState.UNREADABLE), row.quality.is_(None))


def by_category(session: Session, rater_id: int, run_id: str) -> dict[str, Standing]:
    """Return a rater's progress in a run, by category in question order; one statement.

    Questions that nobody is asked are left out, here and in ``of_category``.
    """
    values = {"rater_id": rater_id, "run_id": run_id}
    rows = tables(session).execute(_standings(), values).all()
    return {
        category: Standing(_totals(numbers), open_judgments or 0, open_queries)
        for category, open_judgments, open_queries, *numbers in rows
    }


def of_category(session: Session, rater_id: int, run_id: str, category: str) -> Standings:
    """Return a rater's progress in one category of a run and in the whole run; one statement."""
    values = {"rater_id": rater_id, "run_id": run_id, "category": category}
    found = {
        is_own: Standing(_totals(numbers), open_judgments or 0, open_queries)
        for is_own, open_judgments, open_queries, *numbers in tables(session).execute(
            _category_and_whole(), values
        )
    }
    return Standings(found[1], found[0])


def summary(row: StoredSummary | Row[Any]) -> Summary:
    """Return a stored summary row as the metrics know it."""
    return Summary(
        state=QueryState(row.state),
        results_count=row.results_count,
        judged_count=row.judged_count,
        relevant_count=row.relevant_count,
        not_relevant_count=row.not_relevant_count,
        unsure_count=row.unsure_count,
        first_relevant_rank=row.first_relevant_rank,
        complete=row.complete,
        empty_outcome=EmptyOutcome(row.empty_outcome) if row.empty_outcome else None,
        quality=row.quality,
        **{figure: _span(row, figure) for figure in QUERY_FIGURES},
    )


def _span(row: StoredSummary | Row[Any], figure: str) -> Span:
    return Span(*(getattr(row, figure + end) for end in ("", "_lower", "_upper")))


@dataclass(frozen=True, slots=True)
class SummaryDisagreement:
    """A number of a summary row that differs from the judgments."""

    rater: str
    run_id: str
    query_id: int
    column: str
    stored: object
    computed: object


def check(session: Session) -> list[SummaryDisagreement]:
    """Return where the stored summaries differ from the judgments; empty means equal."""
    found: list[SummaryDisagreement] = []
    for rater in session.scalars(select(Rater).order_by(Rater.id)):
        for run_id in session.scalars(select(Run.id).where(Run.study_id == rater.study_id)):
            found.extend(_check_run(session, rater, run_id))
    return found


def _check_run(session: Session, rater: Rater, run_id: str) -> Iterator[SummaryDisagreement]:
    scope = Query.run_id == run_id
    asked = verdicts.asked_queries(session, scope)
    computed = {row["query_key"]: row for row in _rows(session, asked, scope, rater.id)}
    stored = {
        row["query_key"]: dict(row)
        for row in session.execute(
            select(*StoredSummary.__table__.columns).where(
                StoredSummary.rater_id == rater.id, StoredSummary.run_id == run_id
            )
        ).mappings()
    }
    for query in asked:
        was, should = stored.get(query.key, {}), computed[query.key]
        for column, value in should.items():
            if was.get(column) != value:
                yield SummaryDisagreement(
                    rater.name, run_id, query.query_id, column, was.get(column), value
                )


def _rows(
    session: Session, asked: Sequence[AskedQuery], scope: Scope, rater_id: int
) -> Iterator[dict[str, Any]]:
    said = verdicts.of_rater(session, scope, rater_id)
    for query in asked:
        unsaid = said.unsaid(query)
        yield _row(rater_id, query.key, query.run_id, said.judgments(query), unsaid)


def _row(
    rater_id: int, query_key: int, run_id: str, said: QueryJudgments, open_judgments: int
) -> dict[str, Any]:
    made = summarise(said)
    return {
        "rater_id": rater_id,
        "query_key": query_key,
        "run_id": run_id,
        "state": str(made.state),
        **{name: getattr(made, name) for name in RESULT_COUNTS},
        "first_relevant_rank": made.first_relevant_rank,
        "open_judgments": open_judgments,
        "complete": made.complete,
        "empty_outcome": made.empty_outcome and str(made.empty_outcome),
        "quality": made.quality,
        **columns(made),
    }


@cache
def _category_and_whole() -> CompoundSelect[Any]:
    """Return the statement behind ``of_category``: a row for the category, one for the whole run.

    Grouping instead would have SQLite sort the wide rows, which takes three times as long.
    """
    row, run_id = StoredSummary, bindparam("run_id", type_=String)
    mine = row.rater_id == bindparam("rater_id"), row.run_id == run_id
    asked = (
        select(Question.id)
        .join(Run, Run.question_set_id == Question.question_set_id)
        .where(
            Run.id == run_id,
            Question.category == bindparam("category"),
            is_put_to_raters(Question.id),
        )
    )
    # By the questions, since an index has their queries: those of the run have long rows.
    of_category = select(Query.id).where(Query.question_id.in_(asked))
    own = select(literal(1), *_sums()).where(*mine, row.query_key.in_(of_category))
    whole = select(literal(0), *_sums()).where(*mine, is_answer_put_to_raters(row.query_key))
    return own.union_all(whole)


@cache
def _standings() -> Select[Any]:
    """Return the statement behind ``by_category``."""
    return (
        select(Question.category, *_sums())
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


def _sums() -> Iterator[ColumnElement[Any]]:
    """Yield one sum or count for each field of ``Totals``, in the order of ``_totals``.

    A sum over nothing is null. Nothing is bound that need not be: each click carries this out.
    """
    row = StoredSummary
    yield func.sum(row.open_judgments).label("open_judgments")
    yield func.count().filter(is_open()).label("open_queries")
    yield func.count().label("n_queries")
    yield func.count().filter(row.complete.is_(True)).label("n_complete")
    for state, name in (
        (QueryState.RESULTS, "n_with_results"),
        (QueryState.EMPTY, "n_empty"),
        (QueryState.FAILED, "n_failed"),
        (QueryState.UNREADABLE, "n_unreadable"),
    ):
        yield func.count().filter(row.state == str(state)).label(name)
    for outcome in EmptyOutcome:
        yield func.count().filter(row.empty_outcome == str(outcome)).label(f"n_{outcome}")
    for column in RESULT_COUNTS:
        yield func.sum(getattr(row, column)).label(f"n_{column.removesuffix('_count')}")
    for column in COLUMNS:
        yield func.sum(getattr(row, column)).label(f"sum_{column}")
        yield func.count(getattr(row, column)).label(f"n_{column}")


def _totals(numbers: Sequence[Any]) -> Totals:
    """Return the totals from the counts, then a sum and a count for each column."""
    stated = [number or 0 for number in numbers]
    sums = stated[len(COUNTS) :]
    by_column = zip(COLUMNS, map(Sum, sums[::2], sums[1::2]), strict=True)
    return Totals(**dict(zip(COUNTS, stated, strict=False)), sums=dict(by_column))
