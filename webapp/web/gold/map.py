"""A drawn map: a square of land on a square of pixels, without any network.

Over some tens of kilometres the land is flat enough: degrees of longitude are shortened by
the cosine of the latitude in the middle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

SIZE = 340
"""Pixels of a side, on every screen: a click sends its place in pixels."""

KM_PER_DEGREE = 111.195
SMALLEST_KM = 3.0
MARGIN = 1.1

Point = tuple[float, float]
"""Latitude and longitude in degrees."""


class Frame(Struct, frozen=True):
    """The square that is drawn: its middle and the length of its sides in km."""

    latitude: float
    longitude: float
    side_km: float

    def pixels(self, latitude: float, longitude: float) -> tuple[float, float]:
        """Return where a point is drawn, from the left and from the top.

        >>> Frame(3.6, 98.7, 10).pixels(3.6, 98.7)
        (170.0, 170.0)
        """
        east = (longitude - self.longitude) * self._km_per_longitude
        north = (latitude - self.latitude) * KM_PER_DEGREE
        middle = SIZE / 2
        return middle + self.length(east), middle - self.length(north)

    def point(self, x: float, y: float) -> Point:
        """Return the point that is drawn at some pixels."""
        km = self.side_km / SIZE
        north, east = (SIZE / 2 - y) * km, (x - SIZE / 2) * km
        return self.latitude + north / KM_PER_DEGREE, self.longitude + east / self._km_per_longitude

    def length(self, km: float) -> float:
        """Return how many pixels some km are."""
        return km * SIZE / self.side_km

    @property
    def _km_per_longitude(self) -> float:
        return KM_PER_DEGREE * max(0.01, math.cos(math.radians(self.latitude)))

    def __str__(self) -> str:
        return f"{self.latitude:.6f} {self.longitude:.6f} {self.side_km:.4f}"


def frame_around(
    points: Sequence[Point], circle: tuple[Point, float] | None = None
) -> Frame | None:
    """Return the square that holds most of `points` and all of `circle`; ``None`` without any.

    Of many points the outermost twentieth on each side may lie beyond: one listing with a
    wrong point must not make the map a map of the world.
    """
    if not points and circle is None:
        return None
    lats, lngs = sorted(point[0] for point in points), sorted(point[1] for point in points)
    ends = [_ends(lats), _ends(lngs)]
    if circle is not None:
        (latitude, longitude), radius = circle
        north = radius / KM_PER_DEGREE
        east = north / max(0.01, math.cos(math.radians(latitude)))
        ends = [_wider(ends[0], latitude, north), _wider(ends[1], longitude, east)]
    (south, top), (west, right) = (end or (0.0, 0.0) for end in ends)
    middle = Frame((south + top) / 2, (west + right) / 2, 1)
    width = (right - west) * middle._km_per_longitude
    side = max(SMALLEST_KM, MARGIN * width, MARGIN * (top - south) * KM_PER_DEGREE)
    return Frame(middle.latitude, middle.longitude, side)


def read_frame(text: str) -> Frame | None:
    """Return the frame that was written by ``str``; ``None`` for anything else.

    >>> read_frame(str(Frame(3.6, 98.7, 10.0))) == Frame(3.6, 98.7, 10.0)
    True
    """
    try:
        latitude, longitude, side = map(float, text.split())
    except ValueError:
        return None
    usable = abs(latitude) <= 90 and abs(longitude) <= 180 and 0 < side < 50_000
    return Frame(latitude, longitude, side) if usable else None


def _ends(values: Sequence[float]) -> tuple[float, float] | None:
    if not values:
        return None
    cut = len(values) // 20
    return values[cut], values[-1 - cut]


def _wider(ends: tuple[float, float] | None, middle: float, by: float) -> tuple[float, float]:
    low, high = ends or (middle, middle)
    return min(low, middle - by), max(high, middle + by)
