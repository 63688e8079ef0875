"""The figures of a run, a category or any other set of queries, from sums over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from webapp.metrics.queries import QUERY_FIGURES, QuerySummary

COLUMNS = tuple(name + end for name in QUERY_FIGURES for end in ("", "_lower", "_upper"))
"""One name per stored number of a query: each figure's value, lower and upper bound."""


@dataclass(frozen=True, slots=True)
class Sum:
    """The total of a column over the `n` queries that have a value in it."""

    total: float = 0.0
    n: int = 0

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.total + other.total, self.n + other.n)


def _no_sums() -> dict[str, Sum]:
    return dict.fromkeys(COLUMNS, Sum())


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts and sums over a set of queries; those of disjoint sets can be added.

    ``n_queries`` counts every query asked, unreadable ones included. ``sums`` has one
    ``Sum`` for each of ``COLUMNS``: in SQL, ``sum(column)`` and ``count(column)``.
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


@dataclass(frozen=True, slots=True)
class Figure:
    """A headline figure: the value so far over `n` queries, and its bounds over all."""

    value: float | None
    lower: float | None
    upper: float | None
    n: int
