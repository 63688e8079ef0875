"""Distances over the globe."""

from __future__ import annotations

import math

EARTH_RADIUS_KM = 6371.0


def haversine_km(
    latitude: float, longitude: float, to_latitude: float, to_longitude: float
) -> float:
    """The distance of two points over the globe in km, with R = 6371 km.

    2 R asin(sqrt(sin²(Δφ/2) + cos φ1 cos φ2 sin²(Δλ/2))).

    >>> round(haversine_km(0, 0, 0, 90), 4)  # a quarter of the way round: 6371 π / 2
    10007.5434
    """
    phi, to_phi = math.radians(latitude), math.radians(to_latitude)
    half = math.sin((to_phi - phi) / 2) ** 2
    around = math.sin(math.radians(to_longitude - longitude) / 2) ** 2
    half += math.cos(phi) * math.cos(to_phi) * around
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(min(1.0, half)))
