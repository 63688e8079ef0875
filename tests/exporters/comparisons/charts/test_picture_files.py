"""Files of pictures: equal bytes twice, sharp, and readable without seeing them."""

from __future__ import annotations

from io import BytesIO

import pytest
from pypdf import PdfReader

from tests.exporters.comparisons.charts.drawn_studies import LONG, study
from tests.exporters.comparisons.comparisons import three_runs
from webapp.exporters.comparisons.charts.pictures import (
    FORMATS,
    KINDS,
    WIDE,
    PictureChoice,
    standalone,
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("picture_format", FORMATS)
def test_a_picture_file_is_the_same_twice(kind: str, picture_format: str) -> None:
    render = FORMATS[picture_format].render
    choice = PictureChoice(kind)
    starts = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}

    first = render(three_runs(), choice)

    assert first.startswith(starts[picture_format])
    assert render(three_runs(), choice) == first


def test_a_pdf_has_the_picture_s_words_once_and_says_what_it_shows() -> None:
    choice = PictureChoice("questions")
    data = FORMATS["pdf"].render(study(30, LONG), choice)
    picture = standalone(study(30, LONG), choice)

    document = PdfReader(BytesIO(data))
    words = document.pages[0].extract_text()

    assert words.count("Is there a house") == len(study(30, LONG).comparison.questions)
    assert document.metadata is not None
    assert document.metadata.title == picture.title
    assert document.metadata.subject == picture.description


def test_a_png_has_two_pixels_for_each_unit() -> None:
    data = FORMATS["png"].render(three_runs(), PictureChoice("progress"))

    assert int.from_bytes(data[16:20], "big") == 2 * (WIDE + 48)
