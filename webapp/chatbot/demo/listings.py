"""The catalogue that the demo chatbot searches."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Nearby:
    """A landmark near a listing, with the distance in metres."""

    name: str
    kind: str
    distance_m: int


@dataclass(frozen=True, slots=True)
class DemoListing:
    """One property; rupiah, square metres, degrees. ``price`` 0 is "not stated".

    ``indexed_price`` is the price when the semantic index was built, which may be an older
    one; ``area`` is what sellers call the part of town; ``source`` is "listing" or "project".
    """

    id: int
    slug: str
    title: str
    url: str
    property_type: str
    listing_type: str
    price: int
    indexed_price: int
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

    @property
    def short_location(self) -> str:
        """The place without street and complex: "Kel. Sunggal, Kec. Medan Sunggal"."""
        return self.location[max(self.location.find("Kel. "), 0) :]


def load(path: Path) -> tuple[DemoListing, ...]:
    """The listings in a catalogue file, in its order; a missing field is unknown."""
    return tuple(_listing(entry) for entry in json.loads(path.read_text("utf-8")))


def _listing(entry: dict[str, Any]) -> DemoListing:
    known = {field.name: entry[field.name] for field in fields(DemoListing) if field.name in entry}
    known["indexed_price"] = entry.get("indexed_price", entry["price"])
    known["facilities"] = tuple(entry.get("facilities", ()))
    known["nearby"] = tuple(Nearby(**place) for place in entry.get("nearby", ()))
    return DemoListing(**known)
