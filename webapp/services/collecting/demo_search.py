"""The sample's catalogue, and three small searches over it for the demo chatbot."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct, json
from msgspec.structs import replace

MILLION = 1_000_000
NEAR_M = 1500
"""Metres within which a landmark is part of a listing's address."""
TYPES = {
    "rumah": "house",
    "ruko": "shophouse",
    "tanah": "land",
    "gudang": "warehouse",
    "apartemen": "apartment",
}
DEALS = {"jual": "sale", "sewa": "rent"}
SYNONYMS = {
    **dict.fromkeys(("dijual", "beli", "membeli"), "jual"),
    **dict.fromkeys(("disewa", "disewakan", "menyewa", "kontrakan"), "sewa"),
    "apartment": "apartemen",
    "villa": "rumah",
    "rukan": "ruko",
    "kavling": "tanah",
}
STOPWORDS = frozenset(
    re.findall(
        r"\w+",
        """
        ada apakah atau bisa cari carikan dan daerah dekat dengan di dibawah bawah harga harganya
        ingin jl juta jt kamar kec kel komp komplek lagi lain lantai m masih mau medan milyar
        miliar no pilihan saya tapi yang
        """,
    )
)
_PRICE = re.compile(r"(\d+(?:[.,]\d+)?)\s*(juta|jt|milyar|miliar|m)\b")
_COUNT = re.compile(r"(\d+)\s*(kamar(?!\s*mandi)|lantai)")


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

    @property
    def address(self) -> str:
        """Everything that says where the listing is."""
        near = (f"{at.kind} {at.name}" for at in self.nearby if at.distance_m <= NEAR_M)
        return " ".join((self.area, self.district, self.location, *near))


def load(path: Path) -> tuple[DemoListing, ...]:
    """Return the listings in a catalogue file, in its order; a missing field is unknown."""
    return json.decode(path.read_bytes(), type=tuple[DemoListing, ...])


class Wish(Struct, frozen=True):
    """The wishes in a message; empty or ``None`` where it asks for nothing of that kind."""

    types: frozenset[str]
    deals: frozenset[str]
    places: frozenset[str]
    most: int | None
    bedrooms: int | None
    floors: int | None

    def misses(self, listing: DemoListing) -> int:
        """Count the wishes, places aside, that a listing does not meet."""
        return sum(
            (
                bool(self.types) and listing.property_type not in self.types,
                bool(self.deals) and listing.listing_type not in self.deals,
                self.most is not None and listing.price > self.most,
                self.bedrooms is not None and listing.bedrooms not in {None, self.bedrooms},
                self.floors is not None and listing.floors not in {None, self.floors},
            )
        )


class DemoSearch:
    """The catalogue, searched in one of three ways."""

    def __init__(self, listings: Iterable[DemoListing]) -> None:
        self.listings = tuple(listings)
        self._addresses = [_words(listing.address) for listing in self.listings]
        self._texts = [_words(_described(listing)) for listing in self.listings]
        self._places = frozenset().union(*self._addresses) - TYPES.keys() - DEALS.keys()
        seen_in = Counter(word for text in self._texts for word in text)
        self._weights = {word: math.log(1 + len(self.listings) / n) for word, n in seen_in.items()}

    def wish(self, message: str) -> Wish:
        """Return what can be understood of a message; of several prices the last one counts."""
        words, text = _words(message), message.lower()
        counts = {unit.split()[0]: int(number) for number, unit in _COUNT.findall(text)}
        prices = [_rupiah(number, unit) for number, unit in _PRICE.findall(text)]
        return Wish(
            types=frozenset(TYPES[word] for word in words & TYPES.keys()),
            deals=frozenset(DEALS[word] for word in words & DEALS.keys()),
            places=words & self._places,
            most=prices[-1] if prices else None,
            bedrooms=counts.get("kamar"),
            floors=counts.get("lantai"),
        )

    def api_only(self, message: str) -> list[DemoListing]:
        """Return the listings that meet every wish, by slug; it does not know facilities."""
        wish = self.wish(message)
        if wish == self.wish(""):
            return []
        found = [
            listing
            for listing, address in zip(self.listings, self._addresses, strict=True)
            if not wish.misses(listing) and wish.places <= address
        ]
        return sorted(found, key=lambda listing: listing.slug[-8:])

    def vector_only(self, message: str) -> list[DemoListing]:
        """Return listings by the words they share with the message, whatever they cost.

        Their prices are those of the day on which the index was built.
        """
        found = sorted(self._alike(message, at_least=0.5), key=lambda one: (-one[0], one[1].id))
        return [
            replace(listing, price=listing.indexed_price or listing.price) for _, listing in found
        ]

    def hybrid(self, message: str) -> list[DemoListing]:
        """Return listings that share words and miss at most one wish, the fewest misses first."""
        wish = self.wish(message)
        found = [
            (wish.misses(listing), -alike, listing.id, listing)
            for alike, listing in self._alike(message, at_least=0.3, naming=wish.places)
        ]
        return [listing for missed, *_, listing in sorted(found) if missed < 2]

    def _alike(
        self, message: str, *, at_least: float, naming: frozenset[str] = frozenset()
    ) -> list[tuple[float, DemoListing]]:
        """Return listings with the share of the message's words, by weight, that they have."""
        asked = _words(message) & self._weights.keys()
        whole = self._weight(asked) or 1.0
        return [
            (share, listing)
            for listing, text in zip(self.listings, self._texts, strict=True)
            if naming <= text and (share := self._weight(asked & text) / whole) >= at_least
        ]

    def _weight(self, words: frozenset[str]) -> float:
        return round(math.fsum(self._weights[word] for word in words), 9)


def _described(listing: DemoListing) -> str:
    kind = next(word for word, name in TYPES.items() if name == listing.property_type)
    deal = next(word for word, name in DEALS.items() if name == listing.listing_type)
    inside = listing.complex or ""
    return " ".join((kind, deal, listing.title, listing.address, inside, *listing.facilities))


def _words(text: str) -> frozenset[str]:
    words = re.findall(r"[a-z]+", text.lower())
    return frozenset(SYNONYMS.get(word, word) for word in words) - STOPWORDS


def _rupiah(number: str, unit: str) -> int:
    millions = 1 if unit in {"juta", "jt"} else 1000
    return round(float(number.replace(",", ".")) * millions * MILLION)
