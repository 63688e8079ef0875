#!/usr/bin/env python3
"""Writes the sample study: questions, catalogue, three runs over it, and part of a rating.

The runs come from the demo chatbot: it is started here and asked over HTTP, as
``relevansi collect`` asks any chatbot. Everything is repeatable: one seed, and clocks that
are set rather than read. ``python seeds/generate.py`` rewrites the files beside it byte for
byte; ``python seeds/generate.py DIR`` writes them under DIR instead.
"""

from __future__ import annotations

import io
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from threading import Thread
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # a checkout need not be installed

from catalogue import make_catalogue
from questions import QUESTIONS
from verdicts import RATER, half, rate

from webapp.chatbot.client import Chatbot, Patience
from webapp.chatbot.demo.bot import METHODS, DemoBot
from webapp.chatbot.demo.http import application
from webapp.chatbot.demo.listings import DemoListing, load
from webapp.exporters.exports.collected_runs import document, run_file
from webapp.importers.runs import property_cards, questions
from webapp.records import Card, CollectedAnswer, CollectedRun
from webapp.services.collecting import collection

BEGUN = {
    "hybrid": datetime(2026, 2, 3, 9, 15, 12),  # noqa: DTZ001 (a run file's time names no zone)
    "api_only": datetime(2026, 2, 3, 10, 18, 44),  # noqa: DTZ001
    "vector_only": datetime(2026, 2, 3, 11, 30, 27),  # noqa: DTZ001
}
ENDPOINT = "http://127.0.0.1:8810/chat"
LLM, USER = "openai", "sample"
# Once a busy LLM is staged, so that the sample shows a failed call.
BUSY = ("vector_only", QUESTIONS[19].text)
BUSY_DETAIL = "Error code: 429 - rate limit reached for gpt-4o-mini, try again in 20s"


def main(into: Path) -> None:
    """Write every file of the sample study under `into`."""
    _write(into / "questions.json", _rows(_questions()))
    _write(into / "catalogue.json", _rows(_entry(listing) for listing in make_catalogue()))
    catalogue = {listing.slug: listing for listing in load(into / "catalogue.json")}
    runs = {method: _collect(method, into) for method in METHODS}
    ratings = list(_ratings(runs, catalogue))
    _write(into / "ratings.json", document({"rater": RATER}, "ratings", ratings))
    for method, run in runs.items():
        folder = into / "runs" / method
        _write(folder / "test_results.json", run_file(run))
        _write(folder / "results.json", document(_v2_head(run), "results", _v2(run, catalogue)))


def _ratings(
    runs: Mapping[str, CollectedRun], catalogue: Mapping[str, DemoListing]
) -> Iterator[dict[str, object]]:
    """The first questions of every run rated, and of one run the next one begun."""
    for method, run in runs.items():
        shown = {
            answer.query_id: [catalogue[str(card.slug)] for card in _cards(answer)]
            for answer in run.answers
        }
        failed = {answer.query_id for answer in run.answers if answer.error}
        yield from rate(method, shown, failed, tuple(catalogue.values()))
        if method == "hybrid":
            yield half(method, shown)


def _collect(method: str, folder: Path) -> CollectedRun:
    """The run of one sitting, collected from the chatbot as ``relevansi collect`` does it."""
    asked = questions.read("questions.json", (folder / "questions.json").read_bytes())
    with _serving(DemoBot.of(folder / "catalogue.json")) as address, _scratch() as scratch:
        patience = Patience(first_pause=0, longest_pause=0, jitter=0)
        chatbot = Chatbot(address, patience=patience, timer=_timer(method))
        plan = collection.CollectionPlan(asked, method, LLM, ENDPOINT, USER)
        sitting = collection.begin(plan, scratch, BEGUN[method], f"sample_{method}")
        for further in collection.ask_rest(sitting, plan, chatbot):
            sitting = further
    return sitting.run


def _timer(method: str) -> Callable[[], float]:
    """A clock for invented latencies: 2 to 9 seconds an answer, rarely up to 25."""
    chance = random.Random(f"latency {method}")  # noqa: S311 (invention, not secrecy)
    now = 0.0

    def read() -> float:
        nonlocal now
        now += chance.choice((1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.8)) * chance.uniform(2, 9)
        return now

    return read


@contextmanager
def _serving(bot: DemoBot) -> Iterator[str]:
    """The address at which `bot` answers, except where a failure is staged."""
    from waitress.server import create_server

    server = create_server(_busy_once(application(bot)), host="127.0.0.1", port=0)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.close()


def _busy_once(inner: Any) -> Any:
    def staged(environ: dict[str, Any], start_response: Any) -> Any:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        asked = json.loads(body)
        if (asked["method"], asked["message"]) == BUSY:
            start_response("500 Internal Server Error", [("Content-Type", "application/json")])
            return [json.dumps({"detail": BUSY_DETAIL}).encode()]
        return inner(environ | {"wsgi.input": io.BytesIO(body)}, start_response)

    return staged


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


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
    entry = {
        name: value for name, value in asdict(listing).items() if value is not None and value != ()
    }
    if listing.indexed_price == listing.price:
        del entry["indexed_price"]
    return entry


def _v2_head(run: CollectedRun) -> dict[str, object]:
    return {
        "timestamp": run.timestamp,
        "method": run.search_method,
        "llm": run.llm,
        "threshold_t": 0.6,
        "total_questions": run.total_questions,
    }


def _v2(run: CollectedRun, catalogue: Mapping[str, DemoListing]) -> Iterator[dict[str, object]]:
    """The same answers as V2: each card read from the text and looked up in the catalogue."""
    for answer in run.answers:
        properties = [_verified(card, catalogue[str(card.slug)]) for card in _cards(answer)]
        yield {
            "query_id": answer.query_id,
            "question": answer.question,
            "category": answer.category,
            "response": answer.response,
            "properties": properties,
            "properties_count": len(properties),
            **({"success": False, "error": answer.error} if answer.error else {}),
        }


def _cards(answer: CollectedAnswer) -> Sequence[Card]:
    return property_cards.parse(answer.response)


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
