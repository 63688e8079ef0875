"""Pictures: where marks lie, what they say in words, that nothing overlaps, and their files."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from xml.etree import ElementTree as ET

import pytest

from relevansi.exporters.comparisons import pictures
from relevansi.exporters.frame import canvas
from relevansi.exporters.frame.canvas import PRINT
from relevansi.i18n import speaking
from relevansi.metrics.comparisons.comparisons import ComparisonReport
from tests.exporters.comparisons.comparisons import UNCLASSIFIED, comparison_report, run, three_runs

SVG = "{http://www.w3.org/2000/svg}"
LONG = (
    "hybrid 60/40 with reranking and query rewriting · GPT-4o-mini (2024-07-18)",
    '<script>alert("1")</script> & co\x07',
    "W" * 40,
    "混合検索",
    "a",
    "b",
)


def parsed(markup: str) -> ET.Element:
    """The picture as a tree of elements."""
    return ET.fromstring(markup)


def texts(svg: ET.Element) -> list[ET.Element]:
    """Every text element of a picture."""
    return list(svg.iter(f"{SVG}text"))


def words(svg: ET.Element) -> list[str]:
    """The words of a picture, text by text."""
    return [text.text or "" for text in texts(svg)]


def box(text: ET.Element) -> tuple[float, float, float, float]:
    """The left, right, top and bottom of a text at the widest a font may run."""
    size, x, y = (float(text.get(name, "0")) for name in ("font-size", "x", "y"))
    wide = canvas.text_width(text.text or "", size)
    remaining = {"start": x, "middle": x - wide / 2, "end": x - wide}[
        text.get("text-anchor", "start")
    ]
    return remaining, remaining + wide, y - 0.8 * size, y + 0.2 * size


@cache
def long_names() -> ComparisonReport:
    """Runs of thirty made-up questions."""
    draw = random.Random(1)
    runs = []
    for number, name in enumerate(LONG):
        judged = (draw.choices("RRN", k=draw.randint(1, 10)) for _ in range(30))
        runs.append(run(f"r{number}", *map("".join, judged), name=name))
    return comparison_report(runs)


REPORTS = {"small": three_runs, "long": long_names}


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """Pictures are drawn in English unless a test says otherwise."""
    with speaking("en"):
        yield


def test_the_mark_of_a_figure_is_where_its_value_is() -> None:
    # P@5 of a is 0.5: the middle of its plot. Runs of no study have shapes by their order.
    report = comparison_report([run("a", "RN"), run("b", "R")])
    svg = pictures.draw_intervals(report, PRINT).svg
    _beside_the_name, mark, *_ = [float(dot.get("cx", "")) for dot in svg.iter("circle")]

    assert mark == (pictures.BESIDE.plot.low_end + pictures.BESIDE.plot.high_end) / 2
    assert [m.get("fill") for m in svg.iter("polygon")][:2] == [PRINT["m2"]] * 2


def test_a_run_that_is_not_rated_has_a_band_alone_and_a_partial_one_hollow_marks() -> None:
    report = comparison_report([run("a", "RN", "R"), run("b", UNCLASSIFIED, UNCLASSIFIED)])
    svg = parsed(pictures.draw_intervals(report, PRINT).markup)
    partial = pictures.draw_intervals(three_runs(), PRINT)
    paper = PRINT["paper"]

    assert "– 0.00–1.00" in words(svg)  # of b, which is not rated, the success rate
    filled = [dot for dot in svg.iter(f"{SVG}circle") if dot.get("fill") != paper]
    assert len(filled) == 2 * 4  # all four figures of a, beside its name and in the plot
    assert [m for m in parsed(partial.markup).iter(f"{SVG}polygon") if m.get("fill") == paper]
    assert "Hollow" in partial.title


@pytest.mark.parametrize("picture_format", pictures.FORMATS)
def test_a_picture_file_is_the_same_twice(picture_format: str) -> None:
    write, _media_type = pictures.FORMATS[picture_format]
    starts = {"svg": b"<?xml", "png": b"\x89PNG"}

    first = write(pictures.standalone(three_runs()))

    assert first.startswith(starts[picture_format])
    assert write(pictures.standalone(three_runs())) == first


def test_a_picture_has_a_text_alternative_the_page_s_colours_and_hostile_names_as_text() -> None:
    picture = pictures.draw_intervals(long_names())
    svg = parsed(picture.markup)
    title, description = svg.find(f"{SVG}title"), svg.find(f"{SVG}desc")
    colours = {m.get(name, "none") for m in svg.iter() for name in ("fill", "stroke")} - {"none"}

    assert svg.get("role") == "img"
    assert title is not None
    assert description is not None
    assert svg.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    assert title.text == picture.title
    assert "hybrid" in (description.text or "")
    assert all("var(--" in colour for colour in colours)
    assert {element.tag.removeprefix(SVG) for element in svg.iter()} <= {
        *("svg", "title", "desc", "text", "line", "rect", "circle", "polygon")
    }
    alone = pictures.standalone(three_runs()).markup
    assert "var(" not in alone
    assert "Ani (1,200), Budi (34)" in " ".join(words(parsed(alone)))


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("language", ["id", "en"])
@pytest.mark.parametrize("columns", [pictures.BESIDE, pictures.BELOW], ids=["page", "phone"])
def test_no_text_overlaps_another_or_leaves_the_picture(
    name: str, language: str, columns: pictures.Columns
) -> None:
    with speaking(language):
        picture = pictures.draw_intervals(REPORTS[name](), columns=columns)
    boxes = [(text.text, box(text)) for text in texts(parsed(picture.markup))]

    for text, (remaining, right, _, bottom) in boxes:
        assert remaining >= -0.5, text
        assert right <= columns.width + 0.5, text
        assert bottom <= picture.height, text
    for (first, a), (second, b) in combinations(boxes, 2):
        apart = a[1] <= b[0] + 0.5 or b[1] <= a[0] + 0.5 or a[3] <= b[2] or b[3] <= a[2]
        assert apart, (first, second)
