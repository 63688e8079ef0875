"""A rater's progress in a run: the sums over the stored summaries, by category and in all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from msgspec import Struct, field
from sqlalchemy import ColumnElement, Select, String, bindparam, func, select
from sqlalchemy.orm import Session

from webapp.db.connection import tables
from webapp.db.kept import Kept
from webapp.db.tables.judging import StoredSummary
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Question
from webapp.metrics.judging.totals import COLUMNS, COUNTS, Sum, Totals
from webapp.records import EmptyOutcome, QueryState
from webapp.services.judging import changes
from webapp.services.judging.changes import Changes
from webapp.services.judging.live_metrics import RESULT_COUNTS, is_open
from webapp.services.study.unasked import is_put_to_raters

MOST_KEPT = 256
"""So many raters' runs have their standings kept, for each database."""


class Standing(Struct, frozen=True):
    """One rater's progress in some queries of a run: the sums, and the work left.

    ``open_judgments`` counts verdicts still to give, ``open_queries`` the queries that lack
    one or whose answer lacks its quality.
    """

    totals: Totals = field(default_factory=Totals)
    open_judgments: int = 0
    open_queries: int = 0

    @property
    def work_left(self) -> tuple[int, int, int, int]:
        """The cards, empty lists, questions and answers that wait, as ``labels.work_left`` has."""
        lists = self.totals.n_unclassified
        return self.open_judgments - lists, lists, self.open_queries, self.totals.n_unrated

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


class _KeptStandings(NamedTuple):
    changes: Changes
    by_category: Mapping[str, Standing]


_kept = Kept[tuple[int, str], _KeptStandings](MOST_KEPT)


def by_category(session: Session, rater_id: int, run_id: str) -> dict[str, Standing]:
    """Return a rater's progress in a run, by category in question order; one statement.

    Questions that nobody is asked are left out, here and in ``of_category``.
    """
    values = {"rater_id": rater_id, "run_id": run_id}
    rows = tables(session).execute(_by_category(), values).all()
    return {category: _standing(numbers) for category, *numbers in rows}


def of_category(session: Session, rater: Rater, run_id: str, category: str) -> Standings:
    """Return a rater's progress in one category of a run and in the whole run.

    Each click asks for it, so the categories' sums are kept, and only those of categories with
    newer verdicts are read again: two statements, for runs of any size.
    """
    key = rater.id, run_id
    before = _kept.get(session, key)
    now = changes.since(session, rater, before.changes if before else None)
    if before is None or now.touched is None:
        found = by_category(session, rater.id, run_id)
    else:
        newer = set(now.touched.values()).intersection(before.by_category)
        found = {**before.by_category, **_again(session, rater.id, run_id, newer)}
    _kept.put(session, key, _KeptStandings(now, found))
    return Standings(found.get(category, Standing()), Standing.together(found.values()))


def _again(
    session: Session, rater_id: int, run_id: str, categories: Iterable[str]
) -> dict[str, Standing]:
    values = {"rater_id": rater_id, "run_id": run_id}
    return {
        category: _standing(
            tables(session).execute(_of_category(), values | {"category": category}).one()
        )
        for category in categories
    }


@cache
def _of_category() -> Select[Any]:
    """Return the statement over one category.

    Grouping instead would have SQLite sort the wide rows, which takes three times as long.
    """
    row, run_id = StoredSummary, bindparam("run_id", type_=String)
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
    return select(*_sums()).where(
        row.rater_id == bindparam("rater_id"),
        row.run_id == run_id,
        row.query_key.in_(of_category),
    )


@cache
def _by_category() -> Select[Any]:
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
    """Yield the sums and counts that ``_standing`` reads, in its order.

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


def _standing(numbers: Sequence[Any]) -> Standing:
    """Return the progress of the work left, the counts, then a sum and a count of each column."""
    open_judgments, open_queries, *stated = (number or 0 for number in numbers)
    sums = stated[len(COUNTS) :]
    by_column = zip(COLUMNS, map(Sum, sums[::2], sums[1::2]), strict=True)
    totals = Totals(**dict(zip(COUNTS, stated, strict=False)), sums=dict(by_column))
    return Standing(totals, open_judgments, open_queries)
