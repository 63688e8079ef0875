"""Filters of a search of listings, as forms, questions and gold constraints state them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import ColumnElement

from relevansi.db.tables.catalogue import CatalogueItem
from relevansi.importers.runs import prices
from relevansi.kinds.document import content_words
from relevansi.metrics.gold.constraint_rules import Constraints, Place, Range
from relevansi.services.catalogue.catalogue import folded, property_type

MAX_PLACE = 100  # characters


class Filters(Struct, frozen=True):
    """The filters of a search of listings; ``None`` is no filter. Prices are in rupiah.

    ``type`` is a kind of property as ``catalogue.property_type`` names it, ``offer`` "sale" or
    "rent", ``place`` words that a listing has, or several places with commas between.
    """

    type: str | None = None
    offer: str | None = None
    place: str | None = None
    price_from: int | None = None
    price_to: int | None = None
    bedrooms: int | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return the conditions on columns of the catalogue; the place is for its index."""
        compared: dict[str, Callable[[Any], ColumnElement[bool]]] = {
            "type": CatalogueItem.type.__eq__,
            "offer": CatalogueItem.offer.__eq__,
            "price_from": CatalogueItem.price.__ge__,
            "price_to": CatalogueItem.price.__le__,
            "bedrooms": CatalogueItem.bedrooms.__eq__,
        }
        return [compared[name](getattr(self, name)) for name in self.names() if name in compared]

    def names(self) -> list[str]:
        """Return the names of those that are set."""
        return [name for name, value in asdict(self).items() if value is not None]

    def places(self) -> list[list[str]]:
        """Return the words of each place; a listing has all words of one of them."""
        words = (folded(place).split() for place in (self.place or "").split(","))
        return [place for place in words if place]


def of_constraints(constraints: Constraints) -> Filters:
    """Return the constraints of a gold question as far as the catalogue has them as filters."""
    price = constraints.price or Range()
    bedrooms = constraints.bedrooms or Range()
    location = constraints.location or Place()
    return Filters(
        type=property_type(constraints.property_type or ""),
        offer=constraints.listing_type,
        place=", ".join(location.keywords)[:MAX_PLACE] or None,
        price_from=None if price.lowest is None else int(price.lowest),
        price_to=None if price.highest is None else int(price.highest),
        bedrooms=int(bedrooms.exact) if bedrooms.exact is not None else None,
    )


def of_question(question: str) -> tuple[Filters, str]:
    """Return the filters that a question about listings states, and its other content words.

    An amount without "below", "from" or a second amount is a price give or take a fifth.

    >>> of_question("Ruko disewa dekat Krakatau, di bawah 1,5 M, ada parkir?")
    (Filters(type='shophouse', offer='rent', place='Krakatau', price_from=None,
    price_to=1500000000, bedrooms=None), 'parkir')
    """
    price = _PRICE.search(question)
    lowest, highest = _bounds(price) if price else (None, None)
    bedrooms = _BEDROOMS.search(question)
    unnumbered = _BEDROOMS.sub(" , ", _PRICE.sub(" , ", question))
    place, others = _place(unnumbered)
    filters = Filters(
        type=property_type(unnumbered),
        offer=prices.read_note(unnumbered),
        place=" ".join(place)[:MAX_PLACE] or None,
        price_from=lowest,
        price_to=highest,
        bedrooms=int(bedrooms["number"]) if bedrooms and not bedrooms["least"] else None,
    )
    return filters, content_words(" ".join(word for word in others if not _is_filter(word)))


_UNIT = f"(?:{'|'.join(sorted(prices.UNITS, key=len, reverse=True))})(?: ?-?an)?"
_PRICE = re.compile(
    r"(?:(?P<most>di ?bawah|kurang dari|maks\w*|max\w*|under|below|up to|at most|sampai|hingga"
    r"|budget|<)|(?P<least>di ?atas|lebih dari|min\w*|mulai(?: dari)?|over|above|at least|from|>)"
    r")? ?(?:harga(?:nya)? )?(?P<amount>(?:rp\.? ?)?(?:"
    rf"{prices.NUMBER} ?(?:{_UNIT})? ?(?:-|–|sampai|hingga|s/d|to) ?(?:rp\.? ?)?)?"
    rf"{prices.NUMBER} ?{_UNIT}\b|rp\.? ?{prices.NUMBER})",
    re.IGNORECASE,
)
_ABOUT = re.compile(r" ?-?an\b", re.IGNORECASE)  # 1M-an, 700 jutaan
_MAX_PRICE = 50 * 10**9
"""Rupiah; in a larger amount "m" means metres, not milyar."""
_BEDROOMS = re.compile(
    r"(?P<least>min\w*|at least|lebih dari)? ?\b(?P<number>[0-9]{1,2}) ?"
    r"(?:kamar(?: tidur)?|kt|bedrooms?|br)\b(?! mandi)",
    re.IGNORECASE,
)


def _bounds(price: re.Match[str]) -> tuple[int | None, int | None]:
    """Return the lowest and the highest price of a match, in rupiah."""
    amount = prices.read_price(_ABOUT.sub("", price["amount"]))
    if amount.low is None or amount.low >= _MAX_PRICE:
        return None, None
    if price["most"]:
        return None, amount.high or amount.low
    if price["least"] or amount.high is not None:
        return amount.low, amount.high
    return amount.low * 4 // 5, amount.low * 6 // 5


_LEADING = "di dekat daerah kawasan sekitar in near around"
_KINDS_OF_PLACES = "area jalan jl jln kec kel komp komplek kompleks perumahan"
_NO_PLACES = """
    ada bawah cari diatas dibawah disana fasilitas harga harganya lain lantai murah sana sini
"""
_BEFORE_PLACES = frozenset(_LEADING.split())
_OF_PLACES = frozenset(_KINDS_OF_PLACES.split())
_AFTER_PLACES = frozenset(_NO_PLACES.split())


def _place(question: str) -> tuple[list[str], list[str]]:
    """Return the words behind "di", "dekat", "in" and their like, and all others."""
    place, others = list[str](), list[str]()
    is_place = False
    for word in re.findall(r"\w+|[,;:!?()]", question):
        key = word.casefold()
        if key in _BEFORE_PLACES:
            is_place = True
        elif is_place and key in _OF_PLACES:
            continue
        elif is_place and not _ends_place(key):
            place.append(word)
        else:
            is_place = False
            others.append(word)
    return place, others


def _ends_place(word: str) -> bool:
    is_plain = word.isdecimal() or not content_words(word)
    return is_plain or word in _AFTER_PLACES or _is_filter(word)


def _is_filter(word: str) -> bool:
    return word in {"harga", "harganya"} or bool(property_type(word) or prices.read_note(word))
