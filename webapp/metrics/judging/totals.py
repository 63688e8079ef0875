"""Counts and sums over a set of queries, from which every figure of a run is made.

They are made of the queries' summaries here, or of one row of SQL sums; either way the same
figures follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from math import fsum
from operator import attrgetter

from msgspec import Struct, field

from webapp.metrics.judging.queries import QUERY_FIGURES, QuerySummary, Span
from webapp.records import EmptyOutcome, QueryState

COLUMNS = tuple(name + end for name in QUERY_FIGURES for end in ("", "_lower", "_upper"))
"""One name per stored number of a query: each figure's value, lower and upper bound."""
_spans: Callable[[QuerySummary], Sequence[Span]] = attrgetter(*QUERY_FIGURES)


class Sum(Struct, frozen=True):
    """The total of a column over the `n` queries that have a value in it."""

    total: float = 0.0
    n: int = 0

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.total + other.total, self.n + other.n)


def _no_sums() -> dict[str, Sum]:
    return dict.fromkeys(COLUMNS, Sum())


class Totals(Struct, frozen=True):
    """Counts and sums over a set of queries; those of disjoint sets can be added.

    ``n_queries`` counts every query asked, unreadable ones included. ``sums`` has one
    ``Sum`` for each of ``COLUMNS``: in SQL, ``coalesce(sum(column), 0)`` and
    ``count(column)``. No queries at all is ``Totals()``, which changes nothing it is added to.
    """

    n_queries: int = 0
    n_complete: int = 0
    n_with_results: int = 0
    n_empty: int = 0
    n_failed: int = 0
    n_unreadable: int = 0
    n_correct_empty: int = 0
    n_false_negative: int = 0
    n_results: int = 0
    n_judged: int = 0
    n_relevant: int = 0
    n_not_relevant: int = 0
    n_unsure: int = 0
    sums: Mapping[str, Sum] = field(default_factory=_no_sums)

    @classmethod
    def of(cls, summaries: Iterable[QuerySummary]) -> Totals:
        """The totals of `summaries`, the same in whatever order they come."""
        listed = tuple(summaries)
        rows = [_counts(summary) for summary in listed]
        counts = {name: sum(row[name] for row in rows) for name in COUNTS}
        return cls(**counts, sums=_sums([columns(summary) for summary in listed]))

    @classmethod
    def together(cls, disjoint: Iterable[Totals]) -> Totals:
        """The totals over several sets of queries that have none in common."""
        listed = tuple(disjoint)
        counts = {name: sum(getattr(one, name) for one in listed) for name in COUNTS}
        return cls(**counts, sums={c: _added([one.sums[c] for one in listed]) for c in COLUMNS})

    def __add__(self, other: Totals) -> Totals:
        return Totals.together((self, other))

    @property
    def n_counted(self) -> int:
        """Number of queries that count: all but the unreadable ones."""
        return self.n_queries - self.n_unreadable

    @property
    def n_unjudged(self) -> int:
        """Number of results that still wait for a verdict."""
        return self.n_results - self.n_judged

    @property
    def n_unrated(self) -> int:
        """Number of answers that still wait for their response quality."""
        return self.n_counted - self.sums["response_quality"].n

    @property
    def n_unclassified(self) -> int:
        """Number of empty lists that still wait for their classification."""
        return self.n_empty - self.n_correct_empty - self.n_false_negative


COUNTS = tuple(name for name in Totals.__struct_fields__ if name != "sums")
"""The names of the counts of ``Totals``."""


def columns(summary: QuerySummary) -> dict[str, float | None]:
    """The numbers of one query under ``COLUMNS``, ``None`` where there is none."""
    return dict(zip(COLUMNS, chain.from_iterable(_spans(summary)), strict=True))


def _sums(rows: list[dict[str, float | None]]) -> dict[str, Sum]:
    return {name: _sum(row[name] for row in rows) for name in COLUMNS}


def _added(parts: list[Sum]) -> Sum:
    return Sum(fsum(part.total for part in parts), sum(part.n for part in parts))


def _sum(values: Iterable[float | None]) -> Sum:
    present = [value for value in values if value is not None]
    return Sum(fsum(present), len(present))


def _counts(summary: QuerySummary) -> dict[str, int]:
    return {
        "n_queries": 1,
        "n_complete": int(summary.complete),
        "n_with_results": int(summary.state is QueryState.RESULTS),
        "n_empty": int(summary.state is QueryState.EMPTY),
        "n_failed": int(summary.state is QueryState.FAILED),
        "n_unreadable": int(summary.state is QueryState.UNREADABLE),
        "n_correct_empty": int(summary.empty_outcome is EmptyOutcome.CORRECT_EMPTY),
        "n_false_negative": int(summary.empty_outcome is EmptyOutcome.FALSE_NEGATIVE),
        "n_results": summary.results_count,
        "n_judged": summary.judged_count,
        "n_relevant": summary.relevant_count,
        "n_not_relevant": summary.not_relevant_count,
        "n_unsure": summary.unsure_count,
    }
