"""Comparisons written the way one reads them, letters judge the results; and their files, read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import cache

from msgspec.structs import replace

from relevansi.exporters.comparisons.document import document
from relevansi.exporters.comparisons.files import FORMATS
from relevansi.exporters.frame.tables import Table
from relevansi.metrics.comparisons.comparisons import ComparisonReport, compare
from relevansi.metrics.comparisons.differences import ComparedRun
from relevansi.metrics.comparisons.stability import stability
from relevansi.records import BlindCounts, Blindness
from tests.metrics.comparisons.compared import compared

DAY = date(2026, 1, 23)
CATEGORIES = ("location_simple", "location_price")
CORRECT_EMPTY, FALSE_NEGATIVE, UNCLASSIFIED, FAILED, UNREADABLE = "cfe!~"
GRADES = {CORRECT_EMPTY: 0, FALSE_NEGATIVE: 0, FAILED: 0, UNCLASSIFIED: None, UNREADABLE: None}
LETTERS = str.maketrans("RNU", "10?")

Judged = str | None
"""The letters of a list, a sign for an answer without results, or a question that was not run."""


def run(run_id: str, *judged: Judged, name: str = "") -> ComparedRun:
    """A run whose questions were judged so, in set order; categories take turns."""
    result = compared(
        run_id,
        *(None if row is None else row.translate(LETTERS) for row in judged),
        qualities=[GRADES.get(row or "", 4) for row in judged],
        categories=[CATEGORIES[number % len(CATEGORIES)] for number in range(len(judged))],
    )
    queries = (replace(query, question=f"cari rumah {query.position}") for query in result.queries)
    return replace(result, name=name or run_id, llm="openai", queries=tuple(queries))


def comparison_report(
    runs: Sequence[ComparedRun],
    *,
    phase: int | None = 1,
    raters: Sequence[tuple[str, int]] = (("Ani", 1200), ("Budi", 34)),
) -> ComparisonReport:
    """A report on `runs` by the majority of Ani and Budi."""
    return ComparisonReport(
        study="Skripsi",
        phase=phase,
        comparison=compare(runs, rule="majority"),
        stability=stability(runs, other_rules={"rater Ani": runs}),
        raters=tuple(raters),
        judged_until=datetime(2026, 1, 22, 8, 30, tzinfo=UTC),
        blindness=Blindness(BlindCounts(112, 112)),
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


HOSTILE = (
    "=1+1|<script>alert(1)</script>",
    r"\input{/etc/passwd} $x$ %&#_{}~^",
    '"quoted" [link](http://x) *a* `b`\x07',
)


def all_tables(report: ComparisonReport) -> list[Table]:
    """Every table of the report's document."""
    return [t for section in document(report, DAY).every_section for t in section.tables]


def rendered(report: ComparisonReport, name: str) -> str:
    """The report in one format, as text."""
    return FORMATS[name].render(report, DAY).decode()


def hostile() -> ComparisonReport:
    """A report whose names are code of every format."""
    judged: tuple[Judged, ...] = ("RN", "NR", CORRECT_EMPTY, FALSE_NEGATIVE)
    runs = [run(f"r{n}", *judged, name=name) for n, name in enumerate(HOSTILE)]
    runs = [
        replace(
            contender,
            queries=tuple(
                replace(q, category=HOSTILE[n % 3], question=HOSTILE[(n + 1) % 3])
                for n, q in enumerate(contender.queries)
            ),
        )
        for contender in runs
    ]
    report = comparison_report(runs, raters=[(HOSTILE[1], 3)])
    return replace(report, study=HOSTILE[0])


def texts_of(tables: Sequence[Table]) -> list[list[list[str]]]:
    """The texts of tables as a file shows them."""
    return [
        [[column.heading for column in t.columns], *([c.text for c in row] for row in t.rows)]
        for t in tables
    ]
