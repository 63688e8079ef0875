"""The drawn map: a click gives back the point that is drawn there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.metrics.runs.provenance import haversine_km
from webapp.web.gold.map import SIZE, Frame, frame_around, read_frame

MEDAN = (3.595, 98.672)


@given(
    st.floats(-80, 80), st.floats(-170, 170), st.floats(1, 60), st.integers(0, 340),
    st.integers(0, 340),
)  # fmt: skip
def test_a_click_is_drawn_where_it_was_made(
    latitude: float, longitude: float, side: float, x: int, y: int
) -> None:
    frame = Frame(latitude, longitude, side)

    assert frame.pixels(*frame.point(x, y)) == pytest.approx((x, y), abs=1e-6)


def test_a_radius_is_drawn_as_long_as_it_is_on_the_globe() -> None:
    frame = Frame(*MEDAN, 20)
    east = frame.point(SIZE / 2 + frame.length(3), SIZE / 2)

    assert haversine_km(*MEDAN, *east) == pytest.approx(3, rel=1e-3)


def test_all_of_the_circle_and_most_points_are_within() -> None:
    points = [(3.5 + n / 1000, 98.6 + n / 1000) for n in range(40)] + [(-6.2, 106.8)]
    frame = frame_around(points, (MEDAN, 15))

    assert frame is not None
    assert 30 < frame.side_km < 60  # Jakarta, 1,400 km away, is not drawn
    x, y = frame.pixels(*MEDAN)
    assert frame.length(15) <= min(x, y, SIZE - x, SIZE - y)


def test_a_single_point_has_land_around_it_and_none_has_no_map() -> None:
    one = frame_around([MEDAN])
    assert one is not None
    assert one.side_km == 3
    assert frame_around([]) is None


@pytest.mark.parametrize("text", ["", "1 2", "a b c", "91 0 1", "0 0 0", "nan 0 1", "0 0 1e9"])
def test_a_frame_that_cannot_be_is_none(text: str) -> None:
    assert read_frame(text) is None
