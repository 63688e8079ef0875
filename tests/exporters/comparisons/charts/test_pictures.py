"""Pictures of a comparison: where marks lie, what they say in words, and that nothing overlaps."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest

from tests.exporters.comparisons.charts.drawn_studies import (
    LONG,
    SVG,
    box,
    parsed,
    said,
    study,
    texts,
)
from tests.exporters.comparisons.comparisons import (
    DAY,
    three_runs,
)
from webapp.exporters.comparisons.charts.pictures import (
    KINDS,
    NARROW,
    WIDE,
    PictureChoice,
    drawn,
    file_name,
    standalone,
)
from webapp.i18n import speaking
from webapp.metrics.comparisons.comparisons import ComparisonReport

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


def test_names_without_room_become_letters_with_a_key() -> None:
    found = said(parsed(drawn(study(30, LONG), PictureChoice("categories"), width=NARROW).markup))

    assert {"A", "F"} <= set(found)
    assert any(line.startswith("A: hybrid 60/40") for line in found)


def test_picture_files_are_named_after_phase_kind_and_day() -> None:
    report = three_runs()

    assert (
        file_name(report, PictureChoice("intervals"), "png", DAY)
        == "phase1_comparison_intervals_20260123.png"
    )
    with pytest.raises(KeyError):
        file_name(report, PictureChoice("intervals"), "gif", DAY)
