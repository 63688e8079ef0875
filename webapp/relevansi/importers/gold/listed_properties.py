"""The properties that a V2 results file lists, as the constraints read them.

A property that was verified carries the listing's own data (``api_data``): every field of
it replaces the parsed one, null included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct

from relevansi.importers.runs.json_documents import FromPerson, Reading, Whole, kind_of
from relevansi.importers.runs.prices import content_of, exact_number, is_placeholder
from relevansi.importers.runs.problems import ImportRefused, UnknownRunFormat, error, warning
from relevansi.importers.runs.questions import unknown_format
from relevansi.metrics.gold.constraint_rules import CardFacts
from relevansi.records import Problem


class ListedResults(Struct, frozen=True):
    """The cards of a V2 file by number of the question, and the problems of the file."""

    cards: Mapping[int, tuple[CardFacts, ...]]
    problems: tuple[Problem, ...] = ()


class ListedQuestion(FromPerson, frozen=True):
    query_id: Whole
    properties: list[Any] | None = None
    properties_count: Whole | None = None


def read(name: str, data: bytes) -> ListedResults:
    """The properties listed in the V2 file `name`, with all its problems.

    Raises an `ImportRefused` when the file holds no results that can be used. A value of a
    property that cannot be read counts as not on the card and is reported.
    """
    reading = Reading(name)
    document = reading.document(data, "v2_file")
    results = document.get("results") if isinstance(document, dict) else None
    entries = results if isinstance(results, list) else []
    keys = {key for entry in entries if isinstance(entry, dict) for key in entry}
    if entries is not results or (entries and not {"properties", "properties_count"} & keys):
        raise UnknownRunFormat(unknown_format(name, document, "v2_file"))
    listed = reading.entries(ListedQuestion, entries, "results", {"": "entry_left_out"})
    cards = {entry.query_id: _cards(reading, place, entry) for place, _, entry in listed}
    if entries and not cards:
        raise ImportRefused(error("no_readable_query", name), *reading.problems)
    return ListedResults(cards, tuple(reading.problems))


def facts_of(listed: Sequence[object]) -> tuple[CardFacts, ...]:
    """Return the facts that constraints read from the ``properties`` of one entry, in order."""
    return tuple(_facts(Reading(""), "", raw, None) for raw in listed)


def _cards(reading: Reading, place: str, entry: ListedQuestion) -> tuple[CardFacts, ...]:
    listed, query_id = entry.properties or [], entry.query_id
    if entry.properties_count not in (None, len(listed)):
        counts = {"claimed": entry.properties_count or 0, "count": len(listed)}
        differ = warning("properties_differ", reading.name, counts, query_id=query_id)
        reading.problems.append(differ)
    return tuple(
        _facts(reading, f"{place}.properties[{position}]", raw, query_id)
        for position, raw in enumerate(listed)
    )


def _facts(reading: Reading, place: str, raw: object, query_id: int | None) -> CardFacts:
    """Return the facts of one property; a value that cannot be read counts as missing."""
    if not isinstance(raw, dict):
        reading.wrong(place, kind_of(raw), "object", "counts_as_missing", query_id)
        return CardFacts()
    details = raw.get("api_data") if raw.get("verified") is True else None
    fields = {**raw, **details} if isinstance(details, dict) else raw

    def text(key: str) -> str:
        value = fields.get(key)
        if value is None or isinstance(value, str):
            return value if value and content_of(value) else ""
        reading.wrong(f"{place}.{key}", kind_of(value), "text", "counts_as_missing", query_id)
        return ""

    def number(key: str, largest: int | None = None) -> Fraction | None:
        value = fields.get(key)
        if value is None or is_placeholder(value):
            return None
        written = value if isinstance(value, str) else repr(value)
        # "3/2" on a card are two numbers, no fraction.
        exact = None if "/" in written else exact_number(written)
        fits = exact is not None and (exact >= 0 if largest is None else abs(exact) <= largest)
        if not fits:
            reading.wrong(f"{place}.{key}", kind_of(value), "number", "counts_as_missing", query_id)
        return exact if fits else None

    # Coordinates of 0 are absent, as are 0 bedrooms and floors.
    latitude, longitude = number("latitude", 90), number("longitude", 180)
    point = (float(latitude), float(longitude)) if latitude and longitude else None
    return CardFacts(
        name=text("name"),
        location=text("location"),
        address=text("address"),
        property_type=text("property_type") or None,
        listing_type=text("listing_type") or None,
        price=number("price"),
        bedrooms=number("bedrooms") or None,
        floors=number("floors") or None,
        point=point,
        slug=text("slug") or None,
    )
