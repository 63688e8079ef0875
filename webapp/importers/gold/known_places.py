"""Places that questions speak of, as ``locations.json`` lists them: words, a point, a radius."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Struct
from pydantic import Field

from webapp.importers.gold.gold_questions import Amount, Latitude, Longitude
from webapp.importers.runs.json_documents import load
from webapp.importers.runs.json_values import FromFile, Words, read_object
from webapp.importers.runs.problems import ImportRefused, error
from webapp.importers.runs.questions import looks_like
from webapp.metrics.gold.constraint_rules import DEFAULT_RADIUS_KM
from webapp.records import Problem

PLACES = "locations"
"""Where a gold file carries the known places."""

_EXPECTED = "locations.json (locations)"


class UnusablePlaces(ImportRefused):
    """The JSON holds no places, or one that is wrong."""


class KnownPlace(Struct, frozen=True):
    """One place by its name."""

    name: str
    keywords: tuple[str, ...]
    latitude: float
    longitude: float
    radius_km: float = DEFAULT_RADIUS_KM


class PlaceInFile(FromFile):
    """One place of the file."""

    lat: Latitude
    lng: Longitude
    name: Words | None = None
    keywords: Annotated[list[str] | None, Field(description="list")] = None
    radius_km: Amount = None


def read(name: str, data: bytes) -> dict[str, Any]:
    """The places in the file `name` as it has them, by key.

    Raises `UnusablePlaces` with every problem, and `UnreadableFile` for a file that is not JSON.
    """
    document, problems = load(name, data, expected=_EXPECTED)
    listed = document.get("locations") if isinstance(document, dict) else None
    if not isinstance(listed, dict) or not listed:
        looks = {"found": looks_like(document), "expected": _EXPECTED}
        raise UnusablePlaces(error("unknown_format", name, looks))
    wrong: list[Problem] = list(problems)
    for key, raw in listed.items():
        wrong += _read(name, key, raw)[1]
    if wrong:
        raise UnusablePlaces(*wrong)
    return listed


def places(listed: object) -> tuple[KnownPlace, ...]:
    """The places that `listed` holds by key; a value that is not a place is left out."""
    if not isinstance(listed, Mapping):
        return ()
    found = []
    for key, raw in listed.items():
        entry, _ = _read("", str(key), raw)
        if entry is not None and entry.lat is not None and entry.lng is not None:
            found.append(
                KnownPlace(
                    name=entry.name or str(key),
                    keywords=tuple(word for word in entry.keywords or () if word.strip()),
                    latitude=float(entry.lat),
                    longitude=float(entry.lng),
                    radius_km=float(entry.radius_km or DEFAULT_RADIUS_KM),
                )
            )
    return tuple(found)


def _read(name: str, key: str, raw: object) -> tuple[PlaceInFile | None, tuple[Problem, ...]]:
    outcomes = dict.fromkeys(("", *PlaceInFile.model_fields), "file_refused")
    entry, wrong = read_object(
        PlaceInFile, raw, file=name, place=f"locations.{key}", outcomes=outcomes
    )
    return entry, tuple(wrong)
