"""A run rated under one rule, query by query: the source of every export, page and report.

The other layers import the parts of a summary from here.
"""

from __future__ import annotations

from msgspec import Struct

from webapp.metrics.judging.figures import HEADLINES, Confusion, Figure, confusion, figures
from webapp.metrics.judging.queries import (
    QUERY_FIGURES,
    QueryJudgments,
    QuerySummary,
    Span,
    summarise,
    why_undefined,
)
from webapp.metrics.judging.ranking import Undefined
from webapp.metrics.judging.totals import COLUMNS, COUNTS, Sum, Totals, columns
from webapp.records import Blindness, CannotTell, Relevance

__all__ = [
    "COLUMNS",
    "COUNTS",
    "HEADLINES",
    "QUERY_FIGURES",
    "Confusion",
    "Figure",
    "QueryJudgments",
    "QueryRow",
    "QuerySummary",
    "RunReport",
    "Span",
    "Sum",
    "Totals",
    "category_totals",
    "columns",
    "confusion",
    "figures",
    "summarise",
    "totals",
    "undefined",
    "why_undefined",
]


class QueryRow(Struct, frozen=True):
    """One query of a run with its question and the summary of its judgments.

    ``verdicts`` are those the summary was made of, in rank order. Only files that name single
    results need them (the rated CSV names each "cannot tell"); else they may be left out.
    """

    query_id: int
    question: str
    category: str
    notes: str
    summary: QuerySummary
    verdicts: tuple[Relevance | None, ...] = ()


class RunReport(Struct, frozen=True):
    """A run under one rule ("rater NAME", "majority", "adjudicated"), rows in run order.

    ``run`` is the run's id or, for a rated file, its name. ``search_method`` and ``llm``
    are ``None`` where they are not stated. ``unasked`` are the query ids of questions that the
    study puts to nobody, as outside a sample: they have no row. ``blindness`` is there for
    reports in words. ``cannot_tell`` is what such a result is in the figures, ``None`` where a
    rated file does not say.
    """

    run: str
    rule: str
    rows: tuple[QueryRow, ...]
    search_method: str | None = None
    llm: str | None = None
    unasked: tuple[int, ...] = ()
    blindness: Blindness = Blindness()
    cannot_tell: CannotTell | None = None


def totals(report: RunReport) -> Totals:
    """The totals over all queries of `report`."""
    return Totals.of(row.summary for row in report.rows)


def undefined(report: RunReport) -> dict[tuple[str, Undefined], tuple[int, ...]]:
    """The query ids for which a figure of a query has no value, by figure and reason."""
    found: dict[tuple[str, Undefined], list[int]] = {}
    for figure in QUERY_FIGURES:
        for row in report.rows:
            why = why_undefined(row.summary, figure)
            if why is not None:
                found.setdefault((figure, why), []).append(row.query_id)
    return {key: tuple(ids) for key, ids in found.items()}


def category_totals(report: RunReport) -> dict[str, Totals]:
    """The totals of each category of `report`, in the order in which they first appear."""
    members: dict[str, list[QuerySummary]] = {}
    for row in report.rows:
        members.setdefault(row.category, []).append(row.summary)
    return {category: Totals.of(summaries) for category, summaries in members.items()}
