"""Three small honest searches over the catalogue: structured, semantic, and both mixed."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from webapp.chatbot.demo.listings import DemoListing, Nearby
from webapp.chatbot.demo.places import has_words
from webapp.chatbot.demo.understanding import Understanding

TYPE_WORDS = {
    "house": "rumah",
    "shophouse": "ruko",
    "land": "tanah",
    "warehouse": "gudang",
    "apartment": "apartemen apartment",
}
NEAR_M = 1500
"""Metres to a landmark that the structured search still calls near."""

STOPWORDS = frozenset(
    re.findall(
        r"\w+",
        """
        ada adalah an anaknya apakah atau beberapa bisa cari carikan client dan daerah dengan di
        disana harga harganya ingin jl juta kamar kec kel komp kuliah lagi lain masih mau medan
        no pilihan saya sudah tapi yang
        """,
    )
)
SYNONYMS = {
    "dijual": "jual",
    "beli": "jual",
    "disewakan": "sewa",
    "disewa": "sewa",
    "carport": "parkir",
    "garasi": "parkir",
    "apartment": "apartemen",
}


def misses(listing: DemoListing, wanted: Understanding) -> set[str]:
    """The names of the asked-for fields that the listing does not meet, places aside.

    Rooms that the seller left out are not a miss: the listing may well have them.
    """
    return {
        name
        for name, met in (
            ("property_type", wanted.property_type in {None, listing.property_type}),
            ("listing_type", wanted.listing_type in {None, listing.listing_type}),
            ("price", _price_fits(listing.price, wanted)),
            ("bedrooms", listing.bedrooms is None or wanted.bedrooms in {None, listing.bedrooms}),
            ("floors", wanted.floors in {None, listing.floors}),
        )
        if not met
    }


def describe(listing: DemoListing) -> str:
    """The listing as one text, the way it was put into the semantic index."""
    nearby = " ".join(f"dekat {place.kind} {place.name}" for place in listing.nearby)
    deal = "sewa" if listing.listing_type == "rent" else "jual"
    inside = f"dalam komplek {listing.complex}" if listing.complex else ""
    words = (TYPE_WORDS[listing.property_type], deal, listing.title, listing.location)
    return " ".join((*words, inside, *listing.facilities, nearby))


def tokens(text: str) -> list[str]:
    """The words that count, in order, with the few synonyms the index knows."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    return [SYNONYMS.get(word, word) for word in words if word not in STOPWORDS]


class Searcher:
    """The catalogue with its TF-IDF index, searched in one of three ways."""

    def __init__(self, listings: Iterable[DemoListing]) -> None:
        self.listings = tuple(listings)
        self._texts = {listing.slug: describe(listing) for listing in self.listings}
        counts = [Counter(tokens(text)) for text in self._texts.values()]
        seen_in = Counter(word for count in counts for word in count)
        total = len(self.listings)
        self._idf = {word: math.log((1 + total) / (1 + n)) + 1 for word, n in seen_in.items()}
        self._vectors = [self._vector(count) for count in counts]

    def api_only(self, wanted: Understanding) -> list[DemoListing]:
        """Every listing that meets the whole filter, in the site's own order.

        The site knows titles, addresses and distances to landmarks; facilities it cannot
        filter by, so they are ignored. Where nothing was understood, nothing is found.
        """
        if wanted == Understanding():
            return []
        met = [
            listing
            for listing in self.listings
            if not misses(listing, wanted) and _lies_there(listing, wanted)
        ]
        return sorted(met, key=lambda listing: listing.slug[-8:])

    def vector_only(self, query: str, *, at_least: float = 0.16) -> list[DemoListing]:
        """Listings by cosine with the query's words; prices and rooms mean nothing here.

        Their prices are those of the day on which the index was built.
        """
        scored = [(score, listing) for score, listing in self._scored(query) if score >= at_least]
        return [replace(listing, price=listing.indexed_price) for _, listing in _best_first(scored)]

    def hybrid(
        self, query: str, wanted: Understanding, *, at_least: float = 0.25
    ) -> list[DemoListing]:
        """60 % semantic and 40 % structured, over listings that may miss price or rooms."""
        scored = self._scored(query)
        top = max((score for score, _ in scored), default=0.0) or 1.0
        mixed = [
            (0.6 * score / top + (0.0 if misses(listing, wanted) else 0.4), listing)
            for score, listing in scored
            if score / top >= at_least and self._nearly(listing, wanted)
        ]
        return [listing for _, listing in _best_first(mixed)]

    def _nearly(self, listing: DemoListing, wanted: Understanding) -> bool:
        """Right type, deal, floors and place (anywhere in the text), at most one other miss."""
        missed = misses(listing, wanted)
        if wanted.place and not has_words(self._texts[listing.slug], wanted.place):
            return False
        return not missed & {"property_type", "listing_type", "floors"} and len(missed) < 2

    def _scored(self, query: str) -> list[tuple[float, DemoListing]]:
        asked = self._vector(Counter(tokens(query)))
        return [
            (sum(weight * vector.get(word, 0.0) for word, weight in asked.items()), listing)
            for vector, listing in zip(self._vectors, self.listings, strict=True)
        ]

    def _vector(self, counts: Counter[str]) -> dict[str, float]:
        known = {word: n * self._idf[word] for word, n in counts.items() if word in self._idf}
        length = math.sqrt(math.fsum(weight * weight for weight in known.values())) or 1.0
        return {word: weight / length for word, weight in known.items()}


def _price_fits(price: int, wanted: Understanding) -> bool:
    return (wanted.min_price or 0) <= price <= (wanted.max_price or price)


def _lies_there(listing: DemoListing, wanted: Understanding) -> bool:
    """Whether title or address name the place, or it is near the landmark asked for."""
    if wanted.kind:
        return any(place.kind == wanted.kind for place in _walkable(listing))
    name = wanted.place or wanted.elsewhere
    if name is None or has_words(f"{listing.title} {listing.location}", name):
        return True
    return wanted.near and any(has_words(place.name, name) for place in _walkable(listing))


def _walkable(listing: DemoListing) -> list[Nearby]:
    return [place for place in listing.nearby if place.distance_m <= NEAR_M]


def _best_first(scored: list[tuple[float, DemoListing]]) -> list[tuple[float, DemoListing]]:
    # Rounded, so that the last bit of a float never decides the order on another machine.
    return sorted(scored, key=lambda pair: (-round(pair[0], 9), pair[1].id))
