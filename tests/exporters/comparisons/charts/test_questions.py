"""Two runs, question by question."""

from __future__ import annotations

from tests.exporters.comparisons.charts.drawn_studies import (
    SVG,
    parsed,
    said,
    study,
)
from tests.exporters.comparisons.comparisons import (
    FALSE_NEGATIVE,
    comparison_report,
    run,
    three_runs,
)
from webapp.exporters.comparisons.charts import questions
from webapp.exporters.comparisons.charts.canvas import PRINT
from webapp.exporters.comparisons.charts.pictures import (
    PictureChoice,
    drawn,
)


def test_wins_ties_and_losses_differ_in_shape() -> None:
    report = comparison_report([run("a", "R", "R", "N"), run("b", "N", "R", "R")])
    svg = questions.draw(report, PRINT).svg
    joins = [line for line in svg.iter("line") if float(line.get("stroke-width", "1")) > 1.5]

    assert [line.get("stroke-dasharray") for line in joins] == [None, "4 3"]
    triangles = [m for m in svg.iter("polygon") if len(m.get("points", "").split()) == 3]
    assert [m.get("fill") for m in triangles[2:]] == [PRINT.colours["accent"], "none"]


def test_a_false_negative_counts_as_zero_and_questions_without_a_pair_are_counted() -> None:
    report = comparison_report([run("a", "R", "R", "R"), run("b", FALSE_NEGATIVE, ".", "N")])
    picture = questions.draw(report, PRINT)

    assert "a is higher than b on 2 questions, level on 0, lower on 0." in picture.description
    assert "1 question is left out: it has no value in one of the runs." in said(
        parsed(picture.markup)
    )


def test_without_a_pair_the_picture_says_so_and_draws_nothing() -> None:
    report = comparison_report([run("a", "R"), run("b", ".")])
    svg = parsed(questions.draw(report, PRINT).markup)

    assert "No question has a value in both runs." in said(svg)
    assert {m.tag for m in svg} == {f"{SVG}{tag}" for tag in ("title", "desc", "rect", "text")}


def test_any_two_runs_can_be_drawn() -> None:
    picture = drawn(three_runs(), PictureChoice("questions", pair=("vector_only", "api_only")))

    assert picture.title == "Precision@5 by question: vector_only and api_only"


def test_many_questions_are_counted_instead_of_listed() -> None:
    picture = drawn(study(1000), PictureChoice("questions"))
    rows = said(parsed(picture.markup))

    assert len(rows) < 50
    assert any(line.startswith("1,000 questions by how far") for line in rows)


def test_bars_count_every_question_once() -> None:
    # 61 questions: 31 at 1 against 0, 30 at 1 against 1
    a, b = "R" * 61, "N" * 31 + "R" * 30
    picture = questions.draw(comparison_report([run("a", *a), run("b", *b)]), PRINT)
    rows = said(parsed(picture.markup))
    bars = [line for line in rows if line.isdigit()]

    assert sorted(bars)[-2:] == ["30", "31"]
