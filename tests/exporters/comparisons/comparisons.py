"""Comparisons written the way one reads them: letters judge the results, see ``verdicts``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import cache

from tests.metrics.judging.verdicts import empty, failed, listed, unreadable, verdicts
from webapp.metrics.comparisons.comparisons import ComparisonReport, RaterShare, compare
from webapp.metrics.comparisons.differences import ComparedQuery, ComparedRun
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.comparisons.stability import stability
from webapp.metrics.judging.queries import QuerySummary
from webapp.records import Blindness, EmptyOutcome, GivenOn

DAY = date(2026, 1, 23)
QUICK = Resampling(resamples=200, seed=7)
CATEGORIES = ("location_simple", "location_price")
CORRECT_EMPTY = empty(EmptyOutcome.CORRECT_EMPTY, 0)
FALSE_NEGATIVE = empty(EmptyOutcome.FALSE_NEGATIVE, 0)
UNCLASSIFIED = empty()
FAILED = failed(0)
UNREADABLE = unreadable()

Judged = str | QuerySummary | None
"""The letters of a list, an answer without results, or a question that was not run."""


def query(
    position: int, judged: str | QuerySummary, *, category: str = "", question: str = ""
) -> ComparedQuery:
    """One compared query; categories take turns unless one is given."""
    letters = judged if isinstance(judged, str) else ""
    summary = listed(judged, quality=4) if isinstance(judged, str) else judged
    return ComparedQuery(
        position=position,
        query_id=position,
        question=question or f"cari rumah {position}",
        category=category or CATEGORIES[(position - 1) % len(CATEGORIES)],
        summary=summary,
        verdicts=verdicts(letters),
    )


def run(run_id: str, *judged: Judged, name: str = "") -> ComparedRun:
    """A run whose questions were judged so, in set order."""
    return ComparedRun(
        run=run_id,
        name=name or run_id,
        search_method=run_id,
        llm="openai",
        queries=tuple(
            query(position, answer)
            for position, answer in enumerate(judged, 1)
            if answer is not None
        ),
    )


def comparison_report(
    runs: Sequence[ComparedRun],
    *,
    phase: int | None = 1,
    settings: Resampling = QUICK,
    raters: Sequence[RaterShare] = (RaterShare("Ani", 1200), RaterShare("Budi", 34)),
) -> ComparisonReport:
    """A report on `runs` by the majority of Ani and Budi."""
    return ComparisonReport(
        study="Skripsi",
        phase=phase,
        comparison=compare(runs, rule="majority", settings=settings),
        stability=stability(runs, other_rules={"rater Ani": runs}),
        raters=tuple(raters),
        judged_until=datetime(2026, 1, 22, 8, 30, tzinfo=UTC),
        blindness=Blindness(GivenOn(112, 112)),
        version="0.1.0",
    )


@cache
def three_runs() -> ComparisonReport:
    """Three runs over six questions, with every state a query can be in."""
    return comparison_report(
        [
            run("hybrid", "RRRRR", "RRN", "RRNRR", "NR", CORRECT_EMPTY, "RRR"),
            run("api_only", "RNNNN", "NRN", "NN", FALSE_NEGATIVE, CORRECT_EMPTY, FAILED),
            run("vector_only", "RRNNN", "R.N", UNREADABLE, UNCLASSIFIED, "UU", None),
        ]
    )
