"""A picture's numbers, and the least size of its letters."""

from __future__ import annotations

import pytest

from tests.exporters.comparisons.charts.drawn_studies import (
    parsed,
    said,
    texts,
)
from tests.exporters.comparisons.comparisons import (
    three_runs,
)
from webapp.exporters.comparisons.charts.canvas import SMALL
from webapp.exporters.comparisons.charts.pictures import (
    KINDS,
    NARROW,
    PictureChoice,
    drawn,
)
from webapp.i18n import speaking


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_set_smaller_than_a_phone_can_show(kind: str) -> None:
    svg = parsed(drawn(three_runs(), PictureChoice(kind), width=NARROW).markup)

    assert min(float(text.get("font-size", "0")) for text in texts(svg)) >= SMALL
    assert svg.get("viewBox", "").startswith("0 0 360 ")


def test_numbers_are_written_as_the_reader_writes_them() -> None:
    with speaking("id"):
        svg = parsed(drawn(three_runs(), PictureChoice("categories")).markup)

    assert "0,90" in said(svg)
