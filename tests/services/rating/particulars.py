"""A V2 file of one answer with one card, of which more is known than it shows."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy.orm import Session

from relevansi.db.tables.study import Study
from relevansi.importers.runs import json_runs
from relevansi.kinds.property import CardParticulars
from relevansi.services.exports import exports
from relevansi.services.rating import particulars
from relevansi.services.runs.reports import Rule
from tests.services.runs.runs import store

RECORD = {
    "name": "rumah a", "slug": "a", "bedrooms": 3, "floors": 2, "location": "Cemara, Medan",
    "address": "Cemara, Medan", "city": "Medan", "facilities": ["CCTV", "Carport"],
    "description": "Ada carport.", "latitude": 3.6, "longitude": 98.71,
}  # fmt: skip
LISTED: dict[str, Any] = {
    "name": "Rumah A", "slug": "a", "bedrooms": 3, "facilities": ["cctv"], "verified": True,
    "api_data": RECORD,
}  # fmt: skip


def v2_answer(
    method: str = "hybrid",
    listed: dict[str, Any] | None = None,
    *,
    heading: str = "Dekat Sun Plaza (300 m)",
    line: str = "Lingkungan tenang",
) -> bytes:
    response = (
        f"### {heading}\n1. **[Rumah A](https://x.example/properti/a)**\n   📍 Cemara\n   {line}"
    )
    entry = {
        "query_id": 1, "question": "Rumah dijual di Cemara di bawah 1M?", "category": "area",
        "response": response, "context_dependent": False,
        "properties": [LISTED if listed is None else listed],
    }  # fmt: skip
    document = {"timestamp": "20260101_000000", "method": method, "results": [entry]}
    return json.dumps(document).encode()


def stored(
    session: Session,
    study: Study,
    method: str = "hybrid",
    *,
    name: str = "results.json",
    **content: Any,
) -> str:
    read = json_runs.read(name, v2_answer(method, **content))
    return store(session, study, read).id


def of_run(session: Session, study: Study, run_id: str) -> CardParticulars:
    return particulars.of_answer(session, study, run_id, 1).cards[1]


def exported(session: Session, study: Study, run_id: str) -> dict[str, Any]:
    file = exports.export(session, study, run_id, Rule("majority"), "json")
    (query,) = json.loads(file.data)["queries"]
    (result,) = query["results"]

    assert query["question_note"] == "Cemara Asri counts."
    details: dict[str, Any] = result["particulars"]
    assert details["headings"] == ["Dekat Sun Plaza (300 m)"]
    assert details["lines"] == ["Lingkungan tenang"]
    assert (details["features"], details["facts"]) == (["cctv"], {})
    assert details["latitude"] is None
    record = details["record"]
    assert (record["description"], record["features"]) == ("Ada carport.", ["Carport"])
    assert record["facts"] == {"address": "Cemara, Medan"}
    assert (record["latitude"], record["longitude"]) == (3.6, 98.71)
    assert record["card"] == {"floors": 2}
    return details
