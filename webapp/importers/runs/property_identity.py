"""When two cards show the same property, and when they say the same about it.

The rules are those of the method: a slug names a property, else a listing id, else its
normalised title and location. Its content is the same while no two versions contradict
each other in price, price note, bedrooms or place.
"""

from __future__ import annotations

import re

from msgspec.structs import asdict, replace

from webapp.records import Card

_WORD = re.compile(r"\w+")


def identity(card: Card) -> str:
    """Return the identity of the property on `card`, as ``kind:value``."""
    if card.slug:
        return f"slug:{card.slug}"
    if card.listing_id:
        return f"id:{card.listing_id}"
    return f"title:{_normalised(card.title)}|{_normalised(card.location or '')}"


def differences(one: Card, other: Card) -> tuple[str, ...]:
    """Return the fields in which two versions of a property contradict each other.

    A field that only one of them states is not a contradiction.
    """
    found = []
    if _both_differ((one.price, one.price_max), (other.price, other.price_max)):
        found.append("price")
    if _stated_and_different(one.price_note, other.price_note):
        found.append("price_note")
    if _stated_and_different(one.bedrooms, other.bedrooms):
        found.append("bedrooms")
    if _elsewhere(one.location, other.location):
        found.append("location")
    return tuple(found)


def same_content(one: Card, other: Card) -> bool:
    """Whether a verdict on one version holds for the other."""
    return not differences(one, other)


def fullest(one: Card, other: Card) -> Card:
    """Return `one` with its gaps filled from `other`, and the fuller of the two locations."""
    gaps = {
        name: value
        for name, value in asdict(other).items()
        if value is not None and getattr(one, name) is None
    }
    if one.location and other.location and _words(one.location) < _words(other.location):
        gaps["location"] = other.location
    return replace(one, **gaps)


def _both_differ(one: tuple[int | None, ...], other: tuple[int | None, ...]) -> bool:
    return one[0] is not None and other[0] is not None and one != other


def _stated_and_different(one: object, other: object) -> bool:
    return one is not None and other is not None and one != other


def _elsewhere(one: str | None, other: str | None) -> bool:
    if not one or not other:
        return False
    words, others = _words(one), _words(other)
    return not (words <= others or others <= words)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _normalised(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
