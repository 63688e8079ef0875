"""A comparison carries the features' comparisons of the same runs."""

from __future__ import annotations

from tests.metrics.comparisons.compared import QUICK, compared
from webapp.metrics.comparisons.comparisons import ComparisonPart, ComparisonReport, compare
from webapp.metrics.comparisons.stability import stability
from webapp.records import Blindness


def test_a_wings_part_is_found_by_its_name_and_a_missing_one_is_none() -> None:
    runs = [compared("a", "1"), compared("b", "0")]
    report = ComparisonReport(
        study="Tesis",
        phase=None,
        comparison=compare(runs, rule="majority", settings=QUICK),
        stability=stability(runs),
        raters=(),
        judged_until=None,
        blindness=Blindness(),
        version="1",
        parts=(ComparisonPart("first", 1), ComparisonPart("second", 2)),
    )

    assert (report.part("second"), report.part("gold")) == (2, None)
