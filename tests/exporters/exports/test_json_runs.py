from __future__ import annotations

import json

from webapp.exporters.exports.json_runs import ExportedQuery, ExportedResult, ExportedRun, run_json
from webapp.records import Card, EmptyOutcome, QueryState, Relevance

CARD = Card("Rumah A", slug="rumah-a", price=850_000_000, land_area=105.0, building_area=62.5)


NOT_GIVEN = {"n": 0, "blind": 0, "open": 0, "last_open": None, "unknown": 0}
NOTHING: dict[str, object] = {
    "description": None,
    "features": [],
    "facts": {},
    "latitude": None,
    "longitude": None,
    "distance_km": None,
}


def exported(*queries: ExportedQuery) -> ExportedRun:
    return ExportedRun("k3x9", "rater Ani", queries, "not_relevant", search_method="hybrid")


def test_a_result_holds_every_field_of_its_card_null_where_nothing_is_said() -> None:
    query = ExportedQuery(
        1, "q", "c", "text", QueryState.RESULTS, (ExportedResult(1, CARD, Relevance.UNSURE),)
    )

    document = json.loads(json.dumps(run_json(exported(query))))

    assert document["queries"][0]["results"] == [
        {
            "rank": 1,
            "title": "Rumah A",
            "url": None,
            "slug": "rumah-a",
            "price": 850_000_000,
            "price_max": None,
            "price_note": None,
            "price_period": None,
            "location": None,
            "bedrooms": None,
            "bathrooms": None,
            "land_area": 105,
            "building_area": 62.5,
            "floors": None,
            "certificate": None,
            "listing_type": None,
            "source": None,
            "relevance": "unsure",
            "particulars": {
                "headings": [],
                "lines": [],
                **NOTHING,
                "asked_place": None,
                "record": {**NOTHING, "card": {}},
            },
        }
    ]
    assert '"land_area": 105,' in json.dumps(run_json(exported(query)))


def test_verdicts_are_1_0_unsure_and_null() -> None:
    verdicts = (Relevance.RELEVANT, Relevance.NOT_RELEVANT, Relevance.UNSURE, None)
    results = tuple(ExportedResult(rank, CARD, v) for rank, v in enumerate(verdicts, 1))
    query = ExportedQuery(1, "q", "c", "text", QueryState.RESULTS, results)

    document = json.loads(json.dumps(run_json(exported(query))))

    assert [r["relevance"] for r in document["queries"][0]["results"]] == [1, 0, "unsure", None]


def test_a_query_and_its_run_say_where_they_come_from() -> None:
    query = ExportedQuery(
        12,
        "apakah ada gudang?",
        "property_type",
        "tidak ada",
        QueryState.EMPTY,
        empty_outcome=EmptyOutcome.CORRECT_EMPTY,
        quality=4.0,
        notes="benar",
    )

    assert run_json(exported(query)) == {
        "run": "k3x9",
        "search_method": "hybrid",
        "llm": None,
        "question_set": None,
        "timestamp": None,
        "source_file": None,
        "sha256": None,
        "rule": "rater Ani",
        "cannot_tell": "not_relevant",
        "blindness": {"verdicts": NOT_GIVEN, "grades": NOT_GIVEN},
        "queries": [
            {
                "query_id": 12,
                "question": "apakah ada gudang?",
                "category": "property_type",
                "response": "tidak ada",
                "state": "empty",
                "empty_outcome": "correct_empty",
                "quality": 4,
                "notes": "benar",
                "question_note": "",
                "results": [],
            }
        ],
    }
