"""A property of the sample's catalogue, as the seeds' scripts make it."""  # noqa: INP001 (a script's neighbour, no package)

from __future__ import annotations

from pathlib import Path

from msgspec import Struct, json

MILLION = 1_000_000
NEAR_M = 1500
"""Metres within which a landmark is part of a listing's address."""


class Nearby(Struct, frozen=True):
    """A landmark near a listing, with the distance in metres."""

    name: str
    kind: str
    distance_m: int


class DemoListing(Struct, frozen=True, kw_only=True):
    """One property; rupiah, square metres, degrees. ``price`` 0 is "not stated".

    ``indexed_price`` is the price when the semantic index was built, where it has changed since;
    ``area`` is what sellers call the part of town; ``source`` is "listing" or "project".
    """

    id: int
    slug: str
    title: str
    url: str
    property_type: str
    listing_type: str
    price: int
    indexed_price: int | None = None
    location: str
    area: str
    district: str
    latitude: float
    longitude: float
    certificate: str
    source: str
    price_max: int | None = None
    price_period: str | None = None
    bedrooms: int | None = None
    bathrooms: int | None = None
    floors: int | None = None
    land_area: int | None = None
    building_area: int | None = None
    facilities: tuple[str, ...] = ()
    complex: str | None = None
    nearby: tuple[Nearby, ...] = ()


def load(path: Path) -> tuple[DemoListing, ...]:
    """Return the listings in a catalogue file, in its order; a missing field is unknown."""
    return json.decode(path.read_bytes(), type=tuple[DemoListing, ...])
