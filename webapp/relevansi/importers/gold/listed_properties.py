"""The properties that a V2 results file lists, as the constraints read them.

A property that was verified carries the listing's own data (``api_data``): every field of
it replaces the parsed one, null included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct

from relevansi.importers.runs.json_documents import (
    FromPerson,
    Whole,
    kind_of,
    load,
    read_object,
)
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
    document, numbers = load(name, data, expected="v2_file")
    results = document.get("results") if isinstance(document, dict) else None
    entries = results if isinstance(results, list) else []
    keys = {key for entry in entries if isinstance(entry, dict) for key in entry}
    if entries is not results or (entries and not {"properties", "properties_count"} & keys):
        raise UnknownRunFormat(unknown_format(name, document, "v2_file"))
    problems = list(numbers)
    cards: dict[int, tuple[CardFacts, ...]] = {}
    for position, raw in enumerate(entries):
        place = f"results[{position}]"
        entry, wrong = read_object(
            ListedQuestion, raw, file=name, place=place, outcomes={"": "entry_left_out"}
        )
        problems += wrong
        if entry is None:
            continue
        if entry.query_id in cards:
            where = {"place": f"{place}.query_id"}
            problems.append(error("query_repeated", name, where, query_id=entry.query_id))
            continue
        cards[entry.query_id] = _cards(name, place, entry, problems)
    if entries and not cards:
        raise ImportRefused(error("no_readable_query", name), *problems)
    return ListedResults(cards, tuple(problems))


def facts_of(listed: Sequence[object]) -> tuple[CardFacts, ...]:
    """Return the facts that constraints read from the ``properties`` of one entry, in order."""
    return tuple(_facts(raw, []) for raw in listed)


def _cards(
    name: str, place: str, entry: ListedQuestion, problems: list[Problem]
) -> tuple[CardFacts, ...]:
    listed = entry.properties or []
    if entry.properties_count not in (None, len(listed)):
        counts = {"claimed": entry.properties_count or 0, "count": len(listed)}
        problems.append(warning("properties_differ", name, counts, query_id=entry.query_id))
    cards = []
    for position, raw in enumerate(listed):
        wrong: list[tuple[str, object, str]] = []
        cards.append(_facts(raw, wrong))
        for key, value, expected in wrong:
            where = f"{place}.properties[{position}].{key}".removesuffix(".")
            words = {"place": where, "found": kind_of(value), "expected": expected}
            words["outcome"] = "counts_as_missing"
            problems.append(error("value_wrong", name, words, query_id=entry.query_id))
    return tuple(cards)


def _facts(raw: object, wrong: list[tuple[str, object, str]]) -> CardFacts:
    """Return the facts of one property; unreadable values are added to `wrong`."""
    if not isinstance(raw, dict):
        wrong.append(("", raw, "object"))
        return CardFacts()
    details = raw.get("api_data") if raw.get("verified") is True else None
    fields = {**raw, **details} if isinstance(details, dict) else raw

    def text(key: str) -> str:
        value = fields.get(key)
        if value is None or isinstance(value, str):
            return value if value and content_of(value) else ""
        wrong.append((key, value, "text"))
        return ""

    def number(key: str, largest: int | None = None) -> Fraction | None:
        value = fields.get(key)
        if value is None or is_placeholder(value):
            return None
        exact = None
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            exact = exact_number(value if isinstance(value, str) else repr(value))
        fits = exact is not None and (exact >= 0 if largest is None else abs(exact) <= largest)
        if not fits:
            wrong.append((key, value, "number"))
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
