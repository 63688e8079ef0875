"""The line that one query has in a rated CSV."""

from __future__ import annotations

from tests.exporters.reports import (
    report,
)
from webapp.exporters.exports.csv_ratings import rated_csv
from webapp.metrics.judging.figures import QueryRow

HEADER = (
    "query_id,question,category,results_count,relevant_count,first_relevant_rank,"
    "overall_precision,precision_at_5,mrr,success,response_quality,notes"
)


def line(one: QueryRow) -> str:
    """The cells after the category in the only line of the file of `one`."""
    return rated_csv(report(one)).decode().removeprefix(f"{HEADER}\n1,cari rumah,location,")
