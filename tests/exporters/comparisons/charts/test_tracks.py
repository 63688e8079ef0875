"""Values lie on their track, panels beside and below each other."""

from __future__ import annotations

from webapp.exporters.comparisons.charts import tracks
from webapp.exporters.comparisons.charts.canvas import NARROW, WIDE
from webapp.exporters.comparisons.charts.tracks import Track


def test_a_value_lies_on_its_track() -> None:
    track = Track(left=10, right=110, top=1.0)

    assert [track.at(value) for value in (0.0, 0.25, 1.0)] == [10, 35, 110]
    assert Track(left=0, right=100, top=5.0).at(4) == 80


def test_a_wide_picture_has_two_columns_of_panels_and_a_phone_s_one() -> None:
    figures = ("mrr", "success_rate", "coverage")

    wide = [(track.start, top) for _, top, track in tracks.panels(WIDE, figures, 100)]
    narrow = [(track.start, top) for _, top, track in tracks.panels(NARROW, figures, 100)]

    # 720 less a gap of 40 is two panels of 340
    assert wide == [(0, 0), (380, 0), (0, 100)]
    assert narrow == [(0, 0), (0, 100), (0, 200)]
    assert [tracks.below(width, figures, 100) for width in (WIDE, NARROW)] == [200, 300]
