"""Pictures of a comparison: where marks lie, what they say in words, and that nothing overlaps."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations
from xml.etree import ElementTree as ET

import pytest

from tests.exporters.comparisons.comparisons import (
    DAY,
    FALSE_NEGATIVE,
    UNCLASSIFIED,
    Judged,
    comparison_report,
    run,
    three_runs,
)
from webapp.exporters.comparisons.charts import categories, intervals, lettering, questions
from webapp.exporters.comparisons.charts.canvas import PRINT, SMALL
from webapp.exporters.comparisons.charts.intervals import Track
from webapp.exporters.comparisons.charts.pictures import (
    FORMATS,
    KINDS,
    NARROW,
    WIDE,
    PictureChoice,
    drawn,
    file_name,
    standalone,
)
from webapp.i18n import speaking
from webapp.metrics.comparisons.report import ComparisonReport

SVG = "{http://www.w3.org/2000/svg}"
LONG = (
    "hybrid 60/40 with reranking and query rewriting · GPT-4o-mini (2024-07-18)",
    '<script>alert("1")</script> & co\x07',
    "W" * 40,
    "混合検索",
    "a",
    "b",
)


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    with speaking("en"):
        yield


@cache
def study(asked: int, names: tuple[str, ...] = ("hybrid", "api_only")) -> ComparisonReport:
    """Runs of so many made-up questions in 12 categories with long names."""
    draw = random.Random(1)
    runs = []
    for number, name in enumerate(names):
        judged: list[Judged] = [
            "".join(draw.choice("RRN") for _ in range(draw.randint(1, 10))) for _ in range(asked)
        ]
        one = run(f"r{number}", *judged, name=name)
        renamed = tuple(
            replace(
                q,
                category=f"a category of a very long name, number {q.position % 12}",
                question="Is there a house for sale near the campus with three bedrooms? " * 2,
            )
            for q in one.queries
        )
        runs.append(replace(one, queries=renamed))
    return comparison_report(runs)


def parsed(markup: str) -> ET.Element:
    return ET.fromstring(markup)


def texts(svg: ET.Element) -> list[ET.Element]:
    return list(svg.iter(f"{SVG}text"))


def said(svg: ET.Element) -> list[str]:
    return [text.text or "" for text in texts(svg)]


def box(text: ET.Element) -> tuple[float, float, float, float]:
    """The left, right, top and bottom of a text at the widest a font may run."""
    size, x, y = (float(text.get(name, "0")) for name in ("font-size", "x", "y"))
    wide = lettering.width(text.text or "", size)
    left = {"start": x, "middle": x - wide / 2, "end": x - wide}[text.get("text-anchor", "start")]
    return left, left + wide, y - 0.8 * size, y + 0.2 * size


REPORTS: dict[str, Callable[[], ComparisonReport]] = {
    "small": three_runs,
    "long": lambda: study(30, LONG),
    "many": lambda: study(1000),
}


@pytest.mark.parametrize("width", [NARROW, WIDE])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("language", ["id", "en"])
def test_no_text_overlaps_another_or_leaves_the_picture(
    name: str, kind: str, width: int, language: str
) -> None:
    with speaking(language):
        picture = drawn(REPORTS[name](), PictureChoice(kind), width=width)
    boxes = [(text.text, box(text)) for text in texts(parsed(picture.markup))]

    for text, (left, right, _, bottom) in boxes:
        assert left >= -0.5, text
        assert right <= width + 0.5, text
        assert bottom <= picture.height, text
    for (one, a), (other, b) in combinations(boxes, 2):
        apart = a[1] <= b[0] + 0.5 or b[1] <= a[0] + 0.5 or a[3] <= b[2] or b[3] <= a[2]
        assert apart, (one, other)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_set_smaller_than_a_phone_can_show(kind: str) -> None:
    svg = parsed(drawn(three_runs(), PictureChoice(kind), width=NARROW).markup)

    assert min(float(text.get("font-size", "0")) for text in texts(svg)) >= SMALL
    assert svg.get("viewBox", "").startswith("0 0 360 ")


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_has_a_text_alternative(kind: str) -> None:
    picture = drawn(three_runs(), PictureChoice(kind))
    svg = parsed(picture.markup)
    title, description = svg.find(f"{SVG}title"), svg.find(f"{SVG}desc")

    assert svg.get("role") == "img"
    assert title is not None
    assert description is not None
    assert svg.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    assert title.text == picture.title
    assert "hybrid" in (description.text or "")


@pytest.mark.parametrize("kind", KINDS)
def test_on_a_page_a_picture_takes_the_page_s_colours(kind: str) -> None:
    svg = parsed(drawn(three_runs(), PictureChoice(kind)).markup)
    colours = {m.get(name, "none") for m in svg.iter() for name in ("fill", "stroke")} - {"none"}

    assert colours
    assert all("var(--" in colour for colour in colours)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_stands_alone_on_white_and_says_who_rated(kind: str) -> None:
    markup = standalone(three_runs(), PictureChoice(kind)).markup

    assert "var(" not in markup
    assert "Ani (1,200), Budi (34)" in " ".join(said(parsed(markup)))
    assert "Relevansi 0.1.0." in " ".join(said(parsed(markup)))


def test_hostile_names_are_text_in_every_picture() -> None:
    for kind in KINDS:
        svg = parsed(drawn(study(30, LONG), PictureChoice(kind)).markup)

        assert {element.tag.removeprefix(SVG) for element in svg.iter()} <= {
            *("svg", "title", "desc", "text", "line", "rect", "circle", "polygon"),
        }


def test_a_value_lies_on_its_track() -> None:
    track = Track(left=10, right=110, top=1.0)

    assert [track.at(value) for value in (0.0, 0.25, 1.0)] == [10, 35, 110]
    assert Track(left=0, right=100, top=5.0).at(4) == 80


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
    hollow = [dot for dot in svg.iter(f"{SVG}circle") if dot.get("fill") == PRINT.paper]

    assert hollow
    assert "Hollow dot" in " ".join(said(svg))


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
    shades = [box.get("fill", "") for box in svg.iter("rect")][1:5]

    # 1, 0.5 / 0, 1: the darker, the smaller the number its red is
    reds = [int(shade[1:3], 16) for shade in shades]
    assert reds[0] < reds[1] < reds[2]
    assert reds[3] == reds[0]


def test_names_without_room_become_letters_with_a_key() -> None:
    found = said(parsed(drawn(study(30, LONG), PictureChoice("categories"), width=NARROW).markup))

    assert {"A", "F"} <= set(found)
    assert any(line.startswith("A: hybrid 60/40") for line in found)


def test_wins_ties_and_losses_differ_in_shape() -> None:
    report = comparison_report([run("a", "R", "R", "N"), run("b", "N", "R", "R")])
    svg = questions.draw(report, PRINT).svg
    joins = [line for line in svg.iter("line") if float(line.get("stroke-width", "1")) > 1.5]

    assert [line.get("stroke-dasharray") for line in joins] == [None, "4 3"]
    triangles = [m for m in svg.iter("polygon") if len(m.get("points", "").split()) == 3]
    assert [m.get("fill") for m in triangles[2:]] == [PRINT.accent, "none"]


def test_a_false_negative_counts_as_zero_and_questions_without_a_pair_are_counted() -> None:
    report = comparison_report([run("a", "R", "R", "R"), run("b", FALSE_NEGATIVE, ".", "N")])
    picture = questions.draw(report, PRINT)

    assert "a is higher on 2 questions, level on 0, lower on 0." in picture.description
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


def test_progress_puts_every_question_in_one_part() -> None:
    picture = drawn(three_runs(), PictureChoice("progress"))

    assert "hybrid: 6 complete." in picture.description
    assert (
        "vector_only: 2 complete, 2 waiting for verdicts, 1 unreadable, 1 not run."
        in picture.description
    )
    assert "api_only: 5 complete, 1 failed call." in picture.description


def test_numbers_are_written_as_the_reader_writes_them() -> None:
    with speaking("id"):
        svg = parsed(drawn(three_runs(), PictureChoice("categories")).markup)

    assert "0,90" in said(svg)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("picture_format", FORMATS)
def test_a_picture_file_is_the_same_twice(kind: str, picture_format: str) -> None:
    render = FORMATS[picture_format].render
    choice = PictureChoice(kind)
    starts = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}

    first = render(three_runs(), choice)

    assert first.startswith(starts[picture_format])
    assert render(three_runs(), choice) == first


def test_a_png_has_two_pixels_for_each_unit() -> None:
    data = FORMATS["png"].render(three_runs(), PictureChoice("progress"))

    assert int.from_bytes(data[16:20], "big") == 2 * (WIDE + 48)


def test_picture_files_are_named_after_phase_kind_and_day() -> None:
    report = three_runs()

    assert (
        file_name(report, PictureChoice("intervals"), "png", DAY)
        == "phase1_comparison_intervals_20260123.png"
    )
    with pytest.raises(KeyError):
        file_name(report, PictureChoice("intervals"), "gif", DAY)


@pytest.mark.parametrize("room", [0, 5, 20, 60, 200])
def test_a_fitted_text_is_never_wider_than_its_room(room: float) -> None:
    for text in (*LONG, "", "é" * 30):
        assert lettering.width(lettering.fitted(text, 12, room), 12) <= room


@pytest.mark.parametrize("room", [40, 90, 300])
def test_lines_hold_the_whole_text_and_fit(room: float) -> None:
    text = "vector_only with a re-ranking of 60/40"
    found = lettering.lines(text, 12, room)

    assert all(lettering.width(line, 12) <= room for line in found)
    if not any(line.endswith("…") for line in found):
        assert "".join(found).replace(" ", "") == text.replace(" ", "")
