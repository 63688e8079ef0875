"""The properties that a V2 results file lists, as the constraints read them.

A property that was verified carries the listing's own data (``api_data``): every field of
it replaces the parsed one, null included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct
from pydantic import Field

from webapp.importers.runs.json_documents import (
    FromFile,
    FromPerson,
    Whole,
    kind_of,
    load,
    read_object,
)
from webapp.importers.runs.prices import exact_number, said, says_nothing
from webapp.importers.runs.problems import ImportRefused, UnknownRunFormat, error, warning
from webapp.importers.runs.questions import looks_like
from webapp.metrics.gold.constraint_rules import CardFacts
from webapp.records import Problem


class ListedResults(Struct, frozen=True):
    """The cards of a V2 file by number of the question, and the problems of the file."""

    name: str
    cards: Mapping[int, tuple[CardFacts, ...]]
    problems: tuple[Problem, ...] = ()


class ResultsFile(FromFile):
    """The top of a results file."""

    results: list[Any] = Field(description="list")


class ListedQuestion(FromPerson):
    """One question with the properties that came back for it."""

    query_id: Whole
    properties: list[Any] | None = None
    properties_count: Whole | None = None


def read(name: str, data: bytes) -> ListedResults:
    """The properties listed in the V2 file `name`, with all its problems.

    Raises an `ImportRefused` when the file holds no results that can be used. A value of a
    property that cannot be read counts as not on the card and is reported.
    """
    document, numbers = load(name, data, expected="v2_file")
    top, _ = read_object(ResultsFile, document, file=name, place="", outcomes={"": "file_refused"})
    if top is None or not _lists_properties(top.results):
        looks = {"found": looks_like(document), "expected": "v2_file"}
        raise UnknownRunFormat(error("unknown_format", name, looks))
    problems = list(numbers)
    cards: dict[int, tuple[CardFacts, ...]] = {}
    for position, raw in enumerate(top.results):
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
    if top.results and not cards:
        raise ImportRefused(error("no_readable_query", name), *problems)
    return ListedResults(name, cards, tuple(problems))


def facts_of(listed: Sequence[object]) -> tuple[CardFacts, ...]:
    """The facts that the constraints read from the ``properties`` of one entry, in order."""
    return tuple(_facts(raw, []) for raw in listed)


def _lists_properties(results: Sequence[object]) -> bool:
    keys = {key for entry in results if isinstance(entry, dict) for key in entry}
    return not results or bool(keys & {"properties", "properties_count"})


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
            where = f"{place}.properties[{position}]" + (f".{key}" if key else "")
            words = {"place": where, "found": kind_of(value), "expected": expected}
            words["outcome"] = "counts_as_missing"
            problems.append(error("value_wrong", name, words, query_id=entry.query_id))
    return tuple(cards)


def _facts(raw: object, wrong: list[tuple[str, object, str]]) -> CardFacts:
    """The facts of one property; unreadable values are added to `wrong`."""
    if not isinstance(raw, dict):
        wrong.append(("", raw, "object"))
        return CardFacts()
    verified, details = raw.get("verified") is True, raw.get("api_data")
    shown = {**raw, **details} if verified and isinstance(details, dict) else raw
    return CardFacts(
        name=_text(shown, "name", wrong),
        location=_text(shown, "location", wrong),
        address=_text(shown, "address", wrong),
        property_type=_text(shown, "property_type", wrong) or None,
        listing_type=_text(shown, "listing_type", wrong) or None,
        price=_number(shown, "price", wrong),
        bedrooms=_number(shown, "bedrooms", wrong) or None,  # 0 is absent
        floors=_number(shown, "floors", wrong) or None,
        latitude=_coordinate(shown, "latitude", 90, wrong),
        longitude=_coordinate(shown, "longitude", 180, wrong),
        slug=_text(shown, "slug", wrong) or None,
        verified=verified,
    )


def _text(shown: Mapping[str, Any], key: str, wrong: list[tuple[str, object, str]]) -> str:
    value = shown.get(key)
    if value is None or isinstance(value, str):
        return value if value and said(value) else ""
    wrong.append((key, value, "text"))
    return ""


def _number(
    shown: Mapping[str, Any], key: str, wrong: list[tuple[str, object, str]]
) -> Fraction | None:
    """A number, also as a string of digits: the price of a listing is one."""
    return _fitting(shown, key, lambda number: number >= 0, wrong)


def _coordinate(
    shown: Mapping[str, Any], key: str, largest: int, wrong: list[tuple[str, object, str]]
) -> float | None:
    number = _fitting(shown, key, lambda number: abs(number) <= largest, wrong)
    return float(number) if number else None  # 0 is absent


def _fitting(
    shown: Mapping[str, Any],
    key: str,
    fits: Callable[[Fraction], bool],
    wrong: list[tuple[str, object, str]],
) -> Fraction | None:
    value = shown.get(key)
    if value is None or says_nothing(value):
        return None
    number = _exact(value)
    if number is None or not fits(number):
        wrong.append((key, value, "number"))
        return None
    return number


def _exact(value: object) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    return exact_number(value if isinstance(value, str) else repr(value))
