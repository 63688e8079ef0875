#!/usr/bin/env python3
"""Writes the sample study: questions, catalogue, three runs over it, and part of a rating.

Everything here is invented and repeatable: one seed, the standard library only, no clock.
``python seeds/generate.py`` rewrites the files beside it byte for byte;
``python seeds/generate.py DIR`` writes them under DIR instead.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from answers import shown_location, write_answer
from catalogue import make_catalogue
from listings import Listing
from questions import QUESTIONS
from retrieval import Searcher
from sessions import METHODS, Turn, hold
from verdicts import RATER, rate

TIMESTAMPS = {
    "hybrid": "20260203_091512",
    "api_only": "20260203_101844",
    "vector_only": "20260203_113027",
}


def main(into: Path) -> None:
    """Write every file of the sample study under `into`."""
    catalogue = make_catalogue()
    searcher = Searcher(catalogue)
    sittings = {method: hold(method, searcher) for method in METHODS}
    ratings = rate(sittings["hybrid"], catalogue)
    _write(into / "questions.json", _rows(_questions()))
    _write(into / "catalogue.json", _rows([_entry(listing) for listing in catalogue]))
    _write(into / "ratings.json", _document({"rater": RATER}, "ratings", ratings))
    for method, turns in sittings.items():
        folder = into / "runs" / method
        v1, v2 = _v1(method, turns), _v2(method, turns, catalogue)
        _write(folder / "test_results.json", _document(_v1_head(method, turns), "results", v1))
        _write(folder / "results.json", _document(_v2_head(method), "results", v2))


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


def _entry(listing: Listing) -> dict[str, object]:
    """The listing as the catalogue file holds it: what is unknown is left out."""
    hidden = {"indexed_price", "uuid", "village"}
    return {
        name: value
        for name, value in asdict(listing).items()
        if name not in hidden and value is not None
    }


def _v1_head(method: str, turns: Sequence[Turn]) -> dict[str, object]:
    return {
        "timestamp": TIMESTAMPS[method],
        "thread_id": f"sample_{method}",
        "user_id": "sample",
        "search_method": method,
        "total_questions": len(turns),
        "successful": sum(turn.error is None for turn in turns),
    }


def _v1(method: str, turns: Sequence[Turn]) -> list[dict[str, object]]:
    return [_v1_result(turn, write_answer(method, turn)) for turn in turns]


def _v1_result(turn: Turn, response: str) -> dict[str, object]:
    return _asked(turn) | {
        "success": turn.error is None,
        "response": response,
        "response_length": len(response),
        "results_count": None if turn.error else len(turn.listings),
        **_failure(turn),
    }


def _v2_head(method: str) -> dict[str, object]:
    return {
        "timestamp": TIMESTAMPS[method],
        "method": method,
        "llm": "openai",
        "threshold_t": 0.6,
        "total_questions": len(QUESTIONS),
    }


def _v2(
    method: str, turns: Sequence[Turn], catalogue: Sequence[Listing]
) -> list[dict[str, object]]:
    records = {listing.slug: _record(listing) for listing in catalogue}
    return [
        _asked(turn)
        | {
            "response": write_answer(method, turn),
            "properties": [
                _property(method, turn, shown) | {"api_data": records[shown.slug]}
                for shown in turn.listings
            ],
            "properties_count": len(turn.listings),
        }
        | ({"success": False} | _failure(turn) if turn.error else {})
        for turn in turns
    ]


def _asked(turn: Turn) -> dict[str, object]:
    asked = turn.question
    return {"query_id": asked.id, "question": asked.text, "category": asked.category}


def _failure(turn: Turn) -> dict[str, object]:
    return {"error": turn.error} if turn.error else {}


def _property(method: str, turn: Turn, shown: Listing) -> dict[str, object]:
    """The card's fields as extracted from the answer."""
    card = {
        "name": shown.title,
        "slug": shown.slug,
        "source": shown.source,
        "location": shown_location(method, turn.question.id, shown),
        "price": shown.price,
        "price_max": shown.price_max,
        "bedrooms": shown.bedrooms,
        "bathrooms": shown.bathrooms,
        "land_area": shown.land_area,
        "building_area": shown.building_area,
        "property_type": shown.property_type,
        "listing_type": shown.listing_type,
        "verified": True,
    }
    return {name: value for name, value in card.items() if value is not None}


def _record(listing: Listing) -> dict[str, object]:
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
    }


def _document(head: Mapping[str, object], key: str, rows: Iterable[object]) -> str:
    """A JSON object: `head` first, then the list `rows` under `key`, a row to a line."""
    fields = [f"{_json(name)}: {_json(value)}" for name, value in head.items()]
    return "{" + ",\n".join([*fields, f"{_json(key)}: {_rows(rows)}"]) + "}"


def _rows(rows: Iterable[object]) -> str:
    return "[\n" + ",\n".join(_json(row) for row in rows) + "\n]"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(f"{text}\n".encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
