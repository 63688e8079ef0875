"""Details that a file states of a property beyond the fields of its card, shown under it.

Only keys that are known to describe a property are taken: a chatbot may list values beside
them that reveal how it searched (a score, a rank, a method), which a blind rater must not see.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import nh3
from msgspec.structs import replace

from relevansi.importers.runs.json_documents import FromPerson, Reading
from relevansi.importers.runs.links import slug_and_source
from relevansi.importers.runs.prices import HIGHEST_PRICE, exact_number
from relevansi.importers.runs.property_cards import LARGEST_AREA
from relevansi.importers.runs.property_names import LISTS, by_name
from relevansi.kinds.property import Card, Particulars
from relevansi.records import Problem

LONGEST_TEXT = 5000
"""Characters of a description that pages show; the file that is kept has all of it."""

FACTS = by_name("facts")
"""The name of a fact by its key in the file."""

_MOST_FACTS, _LONGEST_FACT = 40, 500
_MOST_FEATURES, _LONGEST_FEATURE = 80, 120
_BREAK = re.compile(r"<(?:br|/p|/li|/div)[ /]{0,3}>", re.IGNORECASE)
_NAMES = ("name", "nama", "title", "label", "key", "value")
_DISTANCES = (("distance_m", " m"), ("distance_km", " km"), ("distance", ""), ("jarak", ""))


def read_particulars(raw: object) -> Particulars:
    """The particulars of a property in the object `raw`; unreadable values are left out."""
    if not isinstance(raw, Mapping):
        return Particulars()
    values = {str(key).casefold(): value for key, value in raw.items()}
    latitude = _coordinate(values, "latitude", 90)
    longitude = _coordinate(values, "longitude", 180)
    has_point = latitude is not None and longitude is not None
    texts = (_prose(values.get(key)) for key in LISTS["description"])
    return Particulars(
        description="\n\n".join(dict.fromkeys(filter(None, texts)))[:LONGEST_TEXT],
        features=tuple(dict.fromkeys(_features(values)))[:_MOST_FEATURES],
        facts=tuple(dict(_facts(values)).items())[:_MOST_FACTS],
        latitude=latitude if has_point else None,
        longitude=longitude if has_point else None,
    )


def longest_description(listed: Iterable[object]) -> int:
    """The characters of the longest description among the objects of ``properties``."""
    properties = [raw for raw in listed if isinstance(raw, Mapping)]
    objects = [*properties, *(raw.get("api_data") for raw in properties)]
    mappings = (data for data in objects if isinstance(data, Mapping))
    texts = (data.get(key) for data in mappings for key in LISTS["description"])
    return max((len(text) for text in texts if isinstance(text, str)), default=0)


def _prose(value: object) -> str:
    if not isinstance(value, str):
        return ""
    text = value[:LONGEST_TEXT]
    if "<" in text and ">" in text:
        text = html.unescape(nh3.clean(_BREAK.sub("\n", text), tags=set()))
    lines = (" ".join(line.split()) for line in text.replace("\r\n", "\n").split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _features(values: Mapping[str, object]) -> Iterator[str]:
    for key in LISTS["features"]:
        value = values.get(key)
        words = _words(value.split(",") if isinstance(value, str) else value)
        yield from (word[:_LONGEST_FEATURE] for word in words)


def _facts(values: Mapping[str, object]) -> Iterator[tuple[str, str | bool]]:
    for key, name in FACTS.items():
        value = _value(values.get(key))
        if value is not None:
            yield name, value
    for key in LISTS["specifications"]:
        listed = values.get(key)
        if isinstance(listed, Mapping):
            for inner, inner_value in listed.items():
                name = str(inner)
                if (text := _value(inner_value)) is not None:
                    yield FACTS.get(name.casefold()) or _cut(name.replace("_", " "), 60), text
        elif (text := _value(listed)) is not None:
            yield "specifications", text


def _value(value: object) -> str | bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, list):
        return ", ".join(_words(value))[:_LONGEST_FACT] or None
    if value in (None, "", 0) or not isinstance(value, int | float | str):
        return None
    return _cut(str(value), _LONGEST_FACT) or None


def _words(value: object) -> Iterator[str]:
    for item in value if isinstance(value, list) else ():
        if isinstance(item, Mapping):
            name = next((item[key] for key in _NAMES if isinstance(item.get(key), str)), "")
            away = (f"{item[key]}{unit}" for key, unit in _DISTANCES if _is_scalar(item.get(key)))
            far = next(away, "")
            text = _cut(f"{name} ({far})" if far else name, _LONGEST_FACT)
        else:
            text = _cut(str(item), _LONGEST_FACT) if _is_scalar(item) else ""
        if text:
            yield text


def _is_scalar(value: object) -> bool:
    return isinstance(value, int | float | str) and not isinstance(value, bool)


def _cut(text: str, longest: int) -> str:
    return " ".join(text[: longest * 2].split())[:longest]


def _coordinate(values: Mapping[str, object], what: str, largest: int) -> float | None:
    for key in LISTS[what]:
        value = values.get(key)
        if _is_scalar(value):
            number = exact_number(value if isinstance(value, str) else repr(value))
            if number and abs(number) <= largest:
                return float(number)
    return None


_MOST_ROOMS = 999
_SOURCES, _LISTING_TYPES = by_name("sources"), by_name("listing_types")

Number = int | float | str | None


class PropertyInFile(FromPerson, frozen=True):
    """One entry of ``properties``; ``title`` and ``id`` are ``name`` and ``api_id`` too."""

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
    name: str, place: str, listed: Iterable[object], query_id: int | None = None
) -> tuple[list[PropertyInFile | None], list[Problem]]:
    """The properties of one entry at `place` in order, ``None`` for what is no object.

    The problems are of the question `query_id`; a property has an id of its own.
    """
    reading, costs = Reading(name), {"": "value_ignored"}
    entries = [
        reading.model(PropertyInFile, raw, f"{place}.properties[{n}]", costs, query_id)
        for n, raw in enumerate(listed)
    ]
    return entries, reading.problems


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
    for place, listed in enumerate(properties):
        if listed:
            by_slug[_slug(listed) or ""].append(place)
    for position, card in enumerate(cards):
        same = by_slug.get(card.slug or "") if card.slug else None
        if same:
            # The last one stays: a card repeated more often than its property is still it.
            yield same.popleft() if len(same) > 1 else same[0]
        else:
            candidate = properties[position] if position < len(properties) else None
            yield position if candidate and _agree(card, candidate) else None


def enriched(first: object, further: object) -> object:
    """The ``properties`` of two files of one session as one list; `known` values are kept."""
    if not isinstance(first, list) or not isinstance(further, list):
        return first or further
    cards = [
        Card(title=entry.name or entry.title or "", slug=_slug(entry)) if entry else Card(title="")
        for entry in read_properties("", "", first)[0]
    ]
    entries, _ = read_properties("", "", further)
    return [
        {**further[place], **{key: value for key, value in raw.items() if value is not None}}
        if place is not None and isinstance(raw, dict)
        else raw
        for raw, place in zip(first, places(cards, entries), strict=True)
    ]


def _agree(card: Card, listed: PropertyInFile) -> bool:
    slug = _slug(listed)
    contradicted = card.slug and slug and card.slug != slug
    return not contradicted and _plain(card.title) == _plain(listed.name or listed.title or "")


def _slug(listed: PropertyInFile) -> str | None:
    return listed.slug or slug_and_source(listed.url or "")[0]


def _plain(title: str) -> str:
    return " ".join(title.split()).casefold()


def filled(card: Card, listed: PropertyInFile | None) -> Card:
    """`card` with its gaps filled from one property."""
    if listed is None:
        return card
    number = listed.id if listed.api_id in (None, "") else listed.api_id
    fields = {
        "url": _address(listed.url),
        "slug": _slug(listed),
        "listing_id": str(number) if number not in (None, "") else None,
        "price": _whole_number(listed.price, HIGHEST_PRICE),
        "location": (listed.location or "").strip() or None,
        "bedrooms": _whole_number(listed.bedrooms, _MOST_ROOMS),
        "bathrooms": _whole_number(listed.bathrooms, _MOST_ROOMS),
        "land_area": _number(listed.land_area, LARGEST_AREA),
        "building_area": _number(listed.building_area, LARGEST_AREA),
        "floors": _whole_number(listed.floors, _MOST_ROOMS),
        "certificate": (listed.certificate or "").strip() or None,
        "listing_type": _LISTING_TYPES.get((listed.listing_type or "").casefold()),
        "source": _SOURCES.get((listed.source or "").casefold()),
        "image_url": _address(listed.image_url),
    }
    gaps: dict[str, Any] = {
        name: value for name, value in fields.items() if value and getattr(card, name) is None
    }
    return replace(card, **gaps)


def _address(url: str | None) -> str | None:
    return url if url and url.startswith(("http://", "https://", "/")) else None


def _number(value: Number, largest: int) -> float | None:
    try:
        number = float(value) if value is not None else 0.0
    except (ValueError, OverflowError):
        return None
    return number if 0 < number <= largest else None


def _whole_number(value: Number, largest: int) -> int | None:
    number = _number(value, largest)
    return int(number) if number is not None and number == int(number) else None
