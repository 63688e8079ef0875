"""Totals count every kind of query, and can be made of one row of SQL."""

from __future__ import annotations

from tests.metrics.judging.verdicts import (
    SEED_5_2,
    empty,
    failed,
    listed,
    unreadable,
)
from webapp.metrics.judging.figures import COLUMNS, COUNTS, Sum, Totals, columns, figures


def test_totals_count_every_kind_of_query_and_verdict() -> None:
    found = Totals.of([*SEED_5_2, failed(), unreadable(), listed("UN."), empty()])
    expected = {
        "n_queries": 9,
        "n_complete": 6,
        "n_with_results": 4,
        "n_empty": 3,
        "n_failed": 1,
        "n_unreadable": 1,
        "n_correct_empty": 1,
        "n_false_negative": 1,
        "n_results": 18,
        "n_judged": 17,
        "n_relevant": 12,
        "n_not_relevant": 4,
        "n_unsure": 1,
    }

    assert {name: getattr(found, name) for name in COUNTS} == expected
    assert (found.n_counted, found.n_unjudged, found.n_unclassified) == (8, 1, 1)


def test_totals_can_be_made_from_one_row_of_sums_and_counts() -> None:
    made = Totals.of(SEED_5_2)
    counts = {name: getattr(made, name) for name in COUNTS}
    rows = [columns(summary) for summary in SEED_5_2]
    sums = {
        name: Sum(sum(r[name] or 0 for r in rows), sum(r[name] is not None for r in rows))
        for name in COLUMNS
    }

    assert figures(Totals(**counts, sums=sums)) == figures(made)
