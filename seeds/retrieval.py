"""Three small honest searches over the catalogue: structured, semantic, and both mixed."""  # noqa: INP001 (a script's neighbour, no package)

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from catalogue_words import TYPE_WORDS
from listings import MILLION, Listing

PLACES = (
    "citraland bagya city",
    "givency one",
    "ringroad",
    "cemara",
    "krakatau",
    "marelan",
    "podomoro",
    "usu",
    "kim",
)
TYPE_NAMES = {
    "rumah": "house",
    "ruko": "shophouse",
    "tanah": "land",
    "gudang": "warehouse",
    "apartment": "apartment",
}
STOPWORDS = frozenset(
    {
        "ada",
        "adalah",
        "an",
        "anaknya",
        "apakah",
        "atau",
        "beberapa",
        "bisa",
        "cari",
        "carikan",
        "client",
        "dan",
        "daerah",
        "dengan",
        "di",
        "disana",
        "harga",
        "harganya",
        "ingin",
        "jl",
        "juta",
        "kamar",
        "kec",
        "kel",
        "komp",
        "kuliah",
        "lagi",
        "lain",
        "masih",
        "mau",
        "medan",
        "no",
        "pilihan",
        "saya",
        "sudah",
        "tapi",
        "yang",
    }
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


@dataclass(frozen=True, slots=True)
class Filter:
    """What the structured search understood of a question; ``None`` where nothing was asked."""

    property_type: str | None = None
    listing_type: str | None = None
    place: str | None = None
    min_price: int | None = None
    max_price: int | None = None
    bedrooms: int | None = None
    floors: int | None = None


def understand(question: str) -> Filter:
    """The filter in an Indonesian question: type, sale or rent, place, price, rooms, floors."""
    text = question.lower()
    low, high = _price_range(text)
    return Filter(
        property_type=next((TYPE_NAMES[word] for word in TYPE_NAMES if word in text), None),
        listing_type=_listing_type(text),
        place=next((place for place in PLACES if _has_word(text, place)), None),
        min_price=low,
        max_price=high,
        bedrooms=_number_before(text, "kamar"),
        floors=_number_before(text, "lantai"),
    )


def modify(standing: Filter, question: str) -> Filter:
    """The session's filter with what a follow-up question changes ("tapi yang 3 lantai")."""
    asked = understand(question)
    changed = standing if asked.floors is None else replace(standing, floors=asked.floors)
    if asked.max_price is None:
        return changed
    return replace(changed, min_price=asked.min_price, max_price=asked.max_price)


def _listing_type(text: str) -> str | None:
    sale = re.search(r"\b(dijual|beli)\b", text)
    rent = re.search(r"\b(sewa|disewa|disewakan)\b", text)
    if sale and rent:
        return None
    return "sale" if sale else "rent" if rent else None


def _price_range(text: str) -> tuple[int | None, int | None]:
    """Lowest and highest rupiah asked for; "1M an" is read as 0.8 to 1.3 milyar."""
    found = re.search(r"(\d+(?:\.\d+)?)\s*(juta|m)\b\s*(an\b)?", text)
    if not found:
        return None, None
    amount = round(float(found[1]) * (MILLION if found[2] == "juta" else 1000 * MILLION))
    return (amount * 8 // 10, amount * 13 // 10) if found[3] else (None, amount)


def _number_before(text: str, word: str) -> int | None:
    found = re.search(rf"(\d+) {word}", text)
    return int(found[1]) if found else None


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"\b{re.escape(word)}\b", text.lower()) is not None


def misses(listing: Listing, wanted: Filter) -> set[str]:
    """The names of the asked-for fields that the listing does not meet.

    Rooms that the seller left out are no miss: the listing may well have them.
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


def _price_fits(price: int, wanted: Filter) -> bool:
    return (wanted.min_price or 0) <= price <= (wanted.max_price or price)


def _in_address(listing: Listing, place: str | None) -> bool:
    text = f"{listing.title} {listing.location}"
    return place is None or _has_word(text, place)


def describe(listing: Listing) -> str:
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

    def __init__(self, listings: Iterable[Listing]) -> None:
        self.listings = tuple(listings)
        counts = [Counter(tokens(describe(listing))) for listing in self.listings]
        seen_in = Counter(word for count in counts for word in count)
        total = len(self.listings)
        self._idf = {word: math.log((1 + total) / (1 + n)) + 1 for word, n in seen_in.items()}
        self._vectors = [self._vector(count) for count in counts]

    def api_only(self, wanted: Filter) -> list[Listing]:
        """Every listing that meets the whole filter, newest first; facilities are ignored."""
        met = [
            listing
            for listing in self.listings
            if _in_address(listing, wanted.place) and not misses(listing, wanted)
        ]
        return sorted(met, key=lambda listing: listing.uuid)

    def vector_only(self, query: str, *, at_least: float = 0.16) -> list[Listing]:
        """Listings by cosine with the query's words; prices and rooms mean nothing here."""
        scored = [(score, listing) for score, listing in self._scored(query) if score >= at_least]
        return [listing for _, listing in _best_first(scored)]

    def hybrid(self, query: str, wanted: Filter, *, at_least: float = 0.25) -> list[Listing]:
        """60 % semantic and 40 % structured, over listings that may miss price or rooms."""
        scored = self._scored(query)
        top = max(score for score, _ in scored) or 1.0
        mixed = [
            (0.6 * score / top + (0.0 if misses(listing, wanted) else 0.4), listing)
            for score, listing in scored
            if score / top >= at_least and _nearly(listing, wanted)
        ]
        return [listing for _, listing in _best_first(mixed)]

    def _scored(self, query: str) -> list[tuple[float, Listing]]:
        asked = self._vector(Counter(tokens(query)))
        return [
            (sum(weight * vector.get(word, 0.0) for word, weight in asked.items()), listing)
            for vector, listing in zip(self._vectors, self.listings, strict=True)
        ]

    def _vector(self, counts: Counter[str]) -> dict[str, float]:
        known = {word: n * self._idf[word] for word, n in counts.items() if word in self._idf}
        length = math.sqrt(math.fsum(weight * weight for weight in known.values())) or 1.0
        return {word: weight / length for word, weight in known.items()}


def _nearly(listing: Listing, wanted: Filter) -> bool:
    """Right type, deal, floors and place (anywhere in the text), at most one other miss."""
    missed = misses(listing, wanted)
    if wanted.place and not _has_word(describe(listing), wanted.place):
        return False
    return not missed & {"property_type", "listing_type", "floors"} and len(missed) < 2


def _best_first(scored: list[tuple[float, Listing]]) -> list[tuple[float, Listing]]:
    # Rounded, so that the last bit of a float never decides the order on another machine.
    return sorted(scored, key=lambda pair: (-round(pair[0], 9), pair[1].id))
