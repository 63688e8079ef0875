"""Dots and bounds lie where their values are."""

from __future__ import annotations

from tests.exporters.comparisons.charts.drawn_studies import SVG, parsed, said
from tests.exporters.comparisons.comparisons import (
    UNCLASSIFIED,
    comparison_report,
    run,
    three_runs,
)
from webapp.exporters.comparisons.charts import intervals
from webapp.exporters.comparisons.charts.canvas import PRINT


def test_the_dot_of_a_figure_is_where_its_value_is() -> None:
    # P@5 of a is 0.5: the middle of the first panel, which is 340 wide with 8 left at each end
    report = comparison_report([run("a", "RN"), run("b", "R")])
    svg = intervals.draw(report, PRINT).svg
    dots = [float(dot.get("cx", "")) for dot in svg.iter("circle")]

    assert dots[:2] == [170.0, 332.0]


def test_a_run_that_is_not_rated_has_no_dot_and_a_dash() -> None:
    report = comparison_report([run("a", "RN", "R"), run("b", UNCLASSIFIED, UNCLASSIFIED)])
    svg = parsed(intervals.draw(report, PRINT).markup)

    assert "- n = 0" in said(svg)
    assert len(list(svg.iter(f"{SVG}circle"))) == len(intervals.FIGURES)  # a's alone


def test_a_partial_run_has_hollow_dots_and_a_key() -> None:
    svg = parsed(intervals.draw(three_runs(), PRINT).markup)
    hollow = [dot for dot in svg.iter(f"{SVG}circle") if dot.get("fill") == PRINT.colours["paper"]]

    assert hollow
    assert "Hollow dot" in " ".join(said(svg))
