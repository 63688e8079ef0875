#!/usr/bin/env python3
"""Writes the sample study around its recorded runs: questions, catalogue, V2, part of a rating.

``runs/*/test_results.json`` was recorded once and is read. ``python seeds/generate.py`` rewrites
the other files beside it byte for byte, from one seed; ``python seeds/generate.py DIR`` writes
them under DIR instead.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import to_builtins

# A checkout need not be installed.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "webapp"))

import finished
from catalogue import make_catalogue
from listings import DemoListing, load
from questions import QUESTIONS
from verdicts import RATER, half, rate

from relevansi.exporters.exports.run_folders import document
from relevansi.importers.runs import property_cards
from relevansi.kinds.property import Card

METHODS = ("hybrid", "api_only", "vector_only")


def main(into: Path) -> None:
    """Write every file of the sample study under `into`."""
    _write(into / "questions.json", _rows(_questions()))
    _write(into / "catalogue.json", _rows(_entry(listing) for listing in make_catalogue()))
    catalogue = {listing.slug: listing for listing in load(into / "catalogue.json")}
    runs = {method: _recorded(method) for method in METHODS}
    ratings = list(_ratings(runs, catalogue))
    _write(into / "ratings.json", document({"rater": RATER}, "ratings", ratings))
    for method, run in runs.items():
        data = document(_v2_head(run), "results", _v2(run, catalogue))
        _write(into / "runs" / method / "results.json", data)
    finished.write(into / "demo", runs, catalogue)
    answers = finished.graded_answers(Path(__file__).with_name("documents"))
    data = finished.written("machine_answers.json", answers)
    _write(into / "documents" / "machine_answers.json", data)


def _ratings(
    runs: Mapping[str, Mapping[str, Any]], catalogue: Mapping[str, DemoListing]
) -> Iterator[dict[str, object]]:
    """The first questions of every run rated, and of one run the next one begun."""
    for method, run in runs.items():
        shown = {
            answer["query_id"]: [catalogue[str(card.slug)] for card in _cards(answer)]
            for answer in run["results"]
        }
        failed = {answer["query_id"] for answer in run["results"] if not answer["success"]}
        yield from rate(method, shown, failed, tuple(catalogue.values()))
        if method == "hybrid":
            yield half(method, shown)


def _recorded(method: str) -> dict[str, Any]:
    """The recorded run of a method, as ``relevansi collect`` wrote it."""
    path = Path(__file__).with_name("runs") / method / "test_results.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def _questions() -> list[dict[str, object]]:
    return [
        {
            "id": question.id,
            "question": question.text,
            "category": question.category,
            "context_dependent": question.context_dependent,
        }
        for question in QUESTIONS
    ]


def _entry(listing: DemoListing) -> dict[str, object]:
    """The listing as the catalogue file holds it: what is unknown is left out."""
    stated = to_builtins(listing).items()
    entry = {name: value for name, value in stated if value is not None and value != ()}
    if listing.indexed_price == listing.price:
        del entry["indexed_price"]
    return entry


def _v2_head(run: Mapping[str, Any]) -> dict[str, object]:
    return {
        "timestamp": run["timestamp"],
        "method": run["search_method"],
        "llm": run["llm"],
        "threshold_t": 0.6,
        "total_questions": run["total_questions"],
    }


def _v2(
    run: Mapping[str, Any], catalogue: Mapping[str, DemoListing]
) -> Iterator[dict[str, object]]:
    """The same answers as V2: each card read from the text and looked up in the catalogue."""
    for answer in run["results"]:
        properties = [_verified(card, catalogue[str(card.slug)]) for card in _cards(answer)]
        yield {
            **{name: answer[name] for name in ("query_id", "question", "category", "response")},
            "properties": properties,
            "properties_count": len(properties),
            **({} if answer["success"] else {"success": False, "error": answer["error"]}),
        }


def _cards(answer: Mapping[str, Any]) -> tuple[Card, ...]:
    return property_cards.parse(answer["response"])


def _verified(card: Card, listing: DemoListing) -> dict[str, object]:
    """The card's fields as extracted from the answer, and what the property site has."""
    fields = {
        "name": card.title,
        "slug": card.slug,
        "source": card.source,
        "location": card.location,
        "price": card.price or 0,
        "price_max": card.price_max,
        "bedrooms": card.bedrooms,
        "bathrooms": card.bathrooms,
        "land_area": _whole(card.land_area),
        "building_area": _whole(card.building_area),
        "property_type": listing.property_type,
        "listing_type": listing.listing_type,
        "verified": True,
    }
    known = {name: value for name, value in fields.items() if value is not None}
    return known | {"api_data": _record(listing)}


def _whole(area: float | None) -> int | None:
    return None if area is None else int(area)


def _record(listing: DemoListing) -> dict[str, object]:
    """The listing as the property site's API gives it: null where the seller said nothing."""
    return {
        "api_id": listing.id,
        "name": listing.title.lower(),
        "slug": listing.slug,
        "price": str(listing.price),
        "bedrooms": listing.bedrooms,
        "bathrooms": listing.bathrooms,
        "floors": listing.floors,
        "land_area": listing.land_area,
        "building_area": listing.building_area,
        "property_type": listing.property_type,
        "listing_type": listing.listing_type,
        "address": f"{listing.location}, Kota Medan",
        "latitude": listing.latitude,
        "longitude": listing.longitude,
        "district": listing.district,
        "city": "Kota Medan",
        "facilities": listing.facilities,
        "description": _description(listing),
    }


def _description(listing: DemoListing) -> str:
    """Return the description a seller writes: the nearest place worth naming."""
    near = sorted(listing.nearby, key=lambda place: place.distance_m)[:2]
    return ", ".join(f"{place.distance_m} m ke {place.name}" for place in near)


def _rows(rows: Iterable[object]) -> bytes:
    listed = ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    return f"[\n{listed}\n]\n".encode()


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
