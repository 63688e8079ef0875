"""Gaps of the cards in an answer filled from the properties a V2 file lists beside it."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from webapp.importers.runs.json_documents import FromPerson, read_object
from webapp.importers.runs.links import slug_of
from webapp.importers.runs.prices import HIGHEST_PRICE
from webapp.importers.runs.property_cards import LARGEST_AREA
from webapp.records import Card, Problem

_MOST_ROOMS = 999
_SOURCES = {"listing": "listing", "resale": "listing", "project": "project", "proyek": "project"}
_LISTING_TYPES = {
    **dict.fromkeys(("sale", "jual", "dijual"), "sale"),
    **dict.fromkeys(("rent", "sewa", "disewa", "disewakan"), "rent"),
}

Number = int | float | str | None


class PropertyInFile(FromPerson):
    """One entry of ``properties``; what a later check found (``api_data``) is not looked at.

    ``title`` and ``id`` are what a chatbot itself says for ``name`` and ``api_id``.
    """

    name: str | None = None
    title: str | None = None
    slug: str | None = None
    url: str | None = None
    api_id: int | str | None = None
    id: int | str | None = None
    source: str | None = None
    location: str | None = None
    listing_type: str | None = None
    certificate: str | None = None
    price: Number = None
    bedrooms: Number = None
    bathrooms: Number = None
    floors: Number = None
    land_area: Number = None
    building_area: Number = None
    image_url: str | None = None


def read_properties(
    name: str, place: str, listed: Iterable[object]
) -> tuple[list[PropertyInFile | None], list[Problem]]:
    """The properties of one entry in their order, ``None`` for each that is not an object.

    A value that is wrong is left out and reported; `place` is the entry's in file `name`.
    """
    properties: list[PropertyInFile | None] = []
    problems: list[Problem] = []
    for position, raw in enumerate(listed):
        inner = f"{place}.properties[{position}]"
        known, wrong = read_object(
            PropertyInFile, raw, file=name, place=inner, outcomes={"": "value_ignored"}
        )
        properties.append(known)
        problems.extend(wrong)
    return properties, problems


def fill(cards: Sequence[Card], properties: Sequence[PropertyInFile | None]) -> tuple[Card, ...]:
    """`cards` with every field that is ``None`` taken from the property that belongs to it.

    A property belongs to the card with its slug, repetitions in order; without one, to the
    card at its own position if the titles agree. ``None`` stands for a property that could
    not be read. A card no property belongs to stays as it is.
    """
    return tuple(
        card if place is None else filled(card, properties[place])
        for card, place in zip(cards, places(cards, properties), strict=True)
    )


def places(
    cards: Iterable[Card], properties: Sequence[PropertyInFile | None]
) -> Iterator[int | None]:
    """The place in `properties` of what belongs to each card (see ``fill``), else ``None``."""
    by_slug: defaultdict[str, deque[int]] = defaultdict(deque)
    for place, known in enumerate(properties):
        if known:
            by_slug[_slug(known) or ""].append(place)
    for position, card in enumerate(cards):
        same = by_slug.get(card.slug or "") if card.slug else None
        if same:
            # The last one stays: a card repeated more often than its property is still it.
            yield same.popleft() if len(same) > 1 else same[0]
        else:
            there = properties[position] if position < len(properties) else None
            yield position if there and _agree(card, there) else None


def enriched(known: object, further: object) -> object:
    """The ``properties`` of two files of one session as one list: `known` values are kept.

    A property of `further` adds the keys that the same property has not or has empty.
    """
    if not isinstance(known, list) or not isinstance(further, list):
        return known or further
    cards = [_card(raw) for raw in known]
    found, _ = read_properties("", "", further)
    return [
        {**further[place], **{key: value for key, value in raw.items() if value is not None}}
        if place is not None and isinstance(raw, dict)
        else raw
        for raw, place in zip(known, places(cards, found), strict=True)
    ]


def _card(raw: object) -> Card:
    """The card that is made from the property `raw` alone."""
    (known,), _ = read_properties("", "", [raw])
    if known is None:
        return Card(title="")
    return Card(title=known.name or known.title or "", slug=_slug(known))


def _agree(card: Card, there: PropertyInFile) -> bool:
    slug = _slug(there)
    contradicted = card.slug and slug and card.slug != slug
    return not contradicted and _plain(card.title) == _plain(there.name or there.title or "")


def _slug(known: PropertyInFile) -> str | None:
    """The slug as it is stated, else out of the address."""
    return known.slug or (slug_of(known.url) if known.url else None)


def _plain(title: str) -> str:
    return " ".join(title.split()).casefold()


def filled(card: Card, known: PropertyInFile | None) -> Card:
    """`card` with its gaps filled from one property."""
    if known is None:
        return card
    number = known.id if known.api_id in (None, "") else known.api_id
    stated = {
        "url": _address(known.url),
        "slug": _slug(known),
        "listing_id": str(number) if number not in (None, "") else None,
        "price": _whole(known.price, HIGHEST_PRICE),
        "location": (known.location or "").strip() or None,
        "bedrooms": _whole(known.bedrooms, _MOST_ROOMS),
        "bathrooms": _whole(known.bathrooms, _MOST_ROOMS),
        "land_area": _number(known.land_area, LARGEST_AREA),
        "building_area": _number(known.building_area, LARGEST_AREA),
        "floors": _whole(known.floors, _MOST_ROOMS),
        "certificate": (known.certificate or "").strip() or None,
        "listing_type": _LISTING_TYPES.get((known.listing_type or "").casefold()),
        "source": _SOURCES.get((known.source or "").casefold()),
        "image_url": _address(known.image_url),
    }
    gaps: dict[str, Any] = {
        name: value for name, value in stated.items() if value and getattr(card, name) is None
    }
    return replace(card, **gaps)


def _address(url: str | None) -> str | None:
    return url if url and url.startswith(("http://", "https://", "/")) else None


def _number(value: Number, largest: int) -> float | None:
    """A number above 0, also written as plain digits; 0 means that it is not known."""
    try:
        number = float(value) if value is not None else 0.0
    except (ValueError, OverflowError):
        return None
    return number if 0 < number <= largest else None


def _whole(value: Number, largest: int) -> int | None:
    number = _number(value, largest)
    return int(number) if number is not None and number == int(number) else None
