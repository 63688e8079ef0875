"""What a listing of the invented catalogue is."""  # noqa: INP001 (a script's neighbour, no package)

from __future__ import annotations

from dataclasses import dataclass

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Nearby:
    """A landmark near a listing, with the distance in metres."""

    name: str
    kind: str
    distance_m: int


@dataclass(frozen=True, slots=True)
class Listing:
    """One made-up property; rupiah, square metres, degrees. ``price`` 0 is "not stated".

    ``indexed_price`` is the older price that the semantic index still holds, ``area`` what
    sellers call the part of town.
    """

    id: int
    uuid: str
    slug: str
    title: str
    url: str
    property_type: str
    listing_type: str
    price: int
    price_max: int | None
    price_period: str | None
    indexed_price: int
    location: str
    area: str
    village: str
    district: str
    latitude: float
    longitude: float
    bedrooms: int | None
    bathrooms: int | None
    floors: int | None
    land_area: int | None
    building_area: int | None
    certificate: str
    facilities: tuple[str, ...]
    complex: str | None
    nearby: tuple[Nearby, ...]
    source: str
