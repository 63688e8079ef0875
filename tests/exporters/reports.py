"""Reports written the way one reads them: a row's verdicts are letters, see ``verdicts``."""

from __future__ import annotations

from relevansi.metrics.judging.figures import QueryRow, RunReport
from relevansi.metrics.judging.queries import QuerySummary
from relevansi.records import EmptyOutcome
from tests.metrics.judging.verdicts import empty, failed, listed, unreadable, verdicts

CORRECT_EMPTY = empty(EmptyOutcome.CORRECT_EMPTY, 0)
FALSE_NEGATIVE = empty(EmptyOutcome.FALSE_NEGATIVE, 0)
UNCLASSIFIED = empty()
FAILED = failed(0)
UNREADABLE = unreadable()


def row(
    judged: str | QuerySummary, query_id: int = 1, notes: str = "", quality: float | None = None
) -> QueryRow:
    letters = judged if isinstance(judged, str) else ""
    summary = listed(judged, quality) if isinstance(judged, str) else judged
    return QueryRow(query_id, "cari rumah", "location", notes, summary, verdicts(letters))


def report(*rows: QueryRow) -> RunReport:
    return RunReport("r1", "rater Ani", rows, "hybrid", "openai", cannot_tell="left_out")
