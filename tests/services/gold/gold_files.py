from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Run
from relevansi.db.tables.study import Question, Study
from relevansi.importers.runs import json_runs
from relevansi.services.gold import gold
from tests.conftest import NOW
from tests.services.runs.runs import store

GOLD: dict[str, Any] = {
    "threshold_t": 0.6,
    "price_tolerance": 0.1,
    "questions": [
        {
            "id": 1,
            "question": "Rumah dijual di Cemara di bawah 1M?",
            "category": "area",
            "expected_result": "has_data",
            "constraints": {
                "property_type": "house",
                "listing_type": "sale",
                "location": {"keywords": ["cemara"], "lat": 3.6, "lng": 98.7, "radius_km": 2},
                "price": {"max": 1_000_000_000},
            },
        },
        {
            "id": 2,
            "question": "Rumah dekat sekolah?",
            "category": "nearby",
            "expected_result": "has_data",
            "evaluation_mode": "manual",
            "constraints": {},
        },
        {
            "id": 3,
            "question": "Kastel?",
            "category": "area",
            "expected_result": "no_data",
            "constraints": {"property_type": "castle"},
        },
    ],
}


def listing(slug: str, **values: object) -> dict[str, Any]:
    described = {"name": f"Rumah {slug}", "slug": slug, "source": "listing", "verified": False}
    base = {"property_type": "house", "listing_type": "sale", "location": "Cemara"}
    return {**described, **base, "price": 900_000_000, "bedrooms": 3} | values


LISTED: dict[int, list[dict[str, Any]]] = {
    1: [
        listing("a"),  # meets all 4
        listing("b", price=2_000_000_000),  # too dear: 3/4
        listing("c", location="Binjai", property_type=None),  # no keyword, no type: 2/4
    ],
    2: [listing("d"), listing("e")],
    3: [],
}
"""CPRs without people: 1, 3/4, 1/2 (mean 3/4 >= 0.6: TP); 0, 0 pending (FN); TN."""


def v2_file(listed: dict[int, list[dict[str, Any]]] | None = None) -> bytes:
    """Return a V2 results file of the gold questions that lists these properties."""
    results = []
    for question in GOLD["questions"]:
        cards = (LISTED if listed is None else listed)[question["id"]]
        lines = [
            f"{n}. **[{card['name']}](https://x.example/properti/{card['slug']})**\n"
            f"   💰 Rp {card['price']:,}\n"
            for n, card in enumerate(cards, start=1)
        ]
        results.append(
            {
                "query_id": question["id"],
                "question": question["question"],
                "category": question["category"],
                "response": "\n".join(lines) or "Tidak ada.",
                "properties": cards,
                "properties_count": len(cards),
            }
        )
    document = {"timestamp": "20260301", "method": "hybrid", "llm": "x", "threshold_t": 0.6}
    return json.dumps({**document, "results": results}).encode()


def gold_bytes(**changed: object) -> bytes:
    return json.dumps(GOLD | changed).encode()


def stored_file(
    session: Session, study: Study, rater: Rater, data: bytes, *, with_gold: bool = True
) -> str:
    """Store a V2 results file, with the gold questions in force; return the run's id."""
    read = json_runs.read("results.json", data)
    run = session.get_one(Run, store(session, study, read).id)
    if with_gold:
        gold.import_file(session, rater, run.question_set_id, "gold.json", gold_bytes(), NOW)
    return run.id


def stored_run(session: Session, study: Study, rater: Rater, *, with_gold: bool = True) -> Run:
    run_id = stored_file(session, study, rater, v2_file(), with_gold=with_gold)
    return session.get_one(Run, run_id)


def leaves(document: object, place: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(document, dict):
        for key, value in document.items():
            yield from leaves(value, f"{place}.{key}")
    elif isinstance(document, list):
        for position, value in enumerate(document):
            yield from leaves(value, f"{place}[{position}]")
    else:
        yield place, round(document, 4) if isinstance(document, float) else document


def take_gold(session: Session, rater: Rater, **changed: object) -> None:
    """Import a gold question for the stored run's question."""
    question = {**GOLD["questions"][0], **changed}
    set_id = session.scalars(select(Question.question_set_id)).first()
    assert set_id is not None
    data = gold_bytes(questions=[question])
    gold.import_file(session, rater, set_id, "gold.json", data, NOW)
