"""The heat map of categories prints every value with its n."""

from __future__ import annotations

from tests.exporters.comparisons.charts.drawn_studies import parsed, said
from tests.exporters.comparisons.comparisons import (
    comparison_report,
    run,
    three_runs,
)
from webapp.exporters.comparisons.charts import categories
from webapp.exporters.comparisons.charts.canvas import PRINT
from webapp.exporters.comparisons.charts.pictures import (
    PictureChoice,
    drawn,
)


def test_every_cell_of_the_heat_map_prints_its_value_and_n() -> None:
    svg = parsed(drawn(three_runs(), PictureChoice("categories")).markup)

    # location_simple: hybrid 0.9 of questions 1 and 3, api_only 0.1 of 1 and 3, vector_only 0.4
    for value in ("0.90", "0.10", "0.40"):
        assert value in said(svg)
    assert said(svg).count("n = 2") >= 2
    assert "-" in said(svg)  # vector_only has no P@5 in location_price


def test_a_category_that_a_run_was_not_asked_is_not_run() -> None:
    report = comparison_report([run("a", "R", "R"), run("b", "N", None)])

    assert "not run" in said(parsed(categories.draw(report, PRINT).markup))


def test_more_value_is_more_shade() -> None:
    report = comparison_report([run("a", "R", "N"), run("b", "RN", "R")])
    svg = categories.draw(report, PRINT).svg
    shades = [float(box.get("fill-opacity", "1")) for box in svg.iter("rect")][1:5]

    # 1, 0.5 / 0, 1
    assert shades[0] > shades[1] > shades[2]
    assert shades[3] == shades[0]
