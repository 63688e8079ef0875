"""A run rated under one rule, query by query: what every export, page and report is made from.

This is also the door through which the other layers reach what a summary is made of.
"""

from __future__ import annotations

from dataclasses import dataclass

from webapp.metrics.figures import COLUMNS, Figure, Sum, Totals
from webapp.metrics.queries import QUERY_FIGURES, QueryJudgments, QuerySummary, Span

__all__ = [
    "COLUMNS",
    "QUERY_FIGURES",
    "Figure",
    "QueryJudgments",
    "QueryRow",
    "QuerySummary",
    "RunReport",
    "Span",
    "Sum",
    "Totals",
]


@dataclass(frozen=True, slots=True)
class QueryRow:
    """One query of a run with its question and what the judgments make of it."""

    query_id: int
    question: str
    category: str
    notes: str
    summary: QuerySummary


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run under one rule ("rater NAME", "majority", "adjudicated"), rows in run order.

    ``run`` is the run's id or, for a rated file, its name. ``search_method`` and ``llm``
    are ``None`` where they are not stated.
    """

    run: str
    rule: str
    rows: tuple[QueryRow, ...]
    search_method: str | None = None
    llm: str | None = None
