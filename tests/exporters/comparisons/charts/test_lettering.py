"""Texts fit their room."""

from __future__ import annotations

import pytest

from tests.exporters.comparisons.charts.drawn_studies import LONG
from webapp.exporters.comparisons.charts import canvas


@pytest.mark.parametrize("room", [0, 5, 20, 60, 200])
def test_a_fitted_text_is_never_wider_than_its_room(room: float) -> None:
    for text in (*LONG, "", "é" * 30):
        assert canvas.width(canvas.fitted(text, 12, room), 12) <= room


@pytest.mark.parametrize("room", [40, 90, 300])
def test_lines_hold_the_whole_text_and_fit(room: float) -> None:
    text = "vector_only with a re-ranking of 60/40"
    found = canvas.lines(text, 12, room)

    assert all(canvas.width(line, 12) <= room for line in found)
    if not any(line.endswith("…") for line in found):
        assert "".join(found).replace(" ", "") == text.replace(" ", "")
