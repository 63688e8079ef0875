"""The tables of differences hold the figures of the comparison's JSON."""

from __future__ import annotations

from tests.exporters.comparisons.comparisons import three_runs
from webapp.exporters.comparisons import document as difference_tables
from webapp.exporters.comparisons.json_file import comparison_json


def test_the_differences_are_the_json_s() -> None:
    report = three_runs()
    document = comparison_json(report)
    table = difference_tables.differences(report)

    for row, found in zip(table.rows, document["differences"], strict=True):
        line = tuple(value for cell in row for value in cell.values)
        interval = found["interval"]
        assert line[1:8] == (
            found["first"],
            found["second"],
            found["first_value"],
            found["second_value"],
            found["mean"],
            interval["lower"],
            interval["upper"],
        )
        assert line[8:12] == (found["n"], found["wins"], found["ties"], found["losses"])
        assert line[13:] == (found["p"], found["p_holm"], found["headline"])


def test_a_signed_rank_test_is_a_row_for_every_difference_that_has_one() -> None:
    report = three_runs()
    tested = [one for one in report.comparison.differences if one.signed_rank is not None]

    rows = difference_tables.signed_ranks(report).rows

    assert len(rows) == len(tested) > 0
    for row, one in zip(rows, tested, strict=True):
        assert one.signed_rank is not None
        assert row[2].values == (one.signed_rank.n, one.signed_rank.zeros)
        assert row[5].values == (one.signed_rank.p,)
