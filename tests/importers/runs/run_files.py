"""Run files as chatbots' scripts write them, and what is read of them."""

from __future__ import annotations

import json
from typing import Any

from relevansi.i18n import speaking
from relevansi.importers.runs import json_runs
from relevansi.importers.runs.problems import message
from relevansi.records import ReadQuery, ReadRun

SITE = "https://rumah.example/properti"
TWO_CARDS = f"""1. **[Rumah A]({SITE}/a)**
   📍 Medan
   💰 Rp 800 jt
2. **[Rumah B]({SITE}/b)**
   🏠 3 KT"""


def entry(query_id: int = 1, **changes: Any) -> dict[str, Any]:
    """A V1 entry with two cards, `changes` applied; a key given as ``...`` is left out."""
    values: dict[str, Any] = {
        "query_id": query_id,
        "question": f"Carikan rumah {query_id}",
        "category": "location_simple",
        "success": True,
        "response": TWO_CARDS,
        "response_length": len(TWO_CARDS),
        "results_count": 2,
    } | changes
    return {key: value for key, value in values.items() if value is not ...}


def v1(*entries: object, **top: object) -> dict[str, Any]:
    """A V1 file with `entries`."""
    head = {"timestamp": "20260126_141433", "thread_id": "t", "user_id": "u"}
    return {**head, "search_method": "hybrid", "results": list(entries), **top}


def v2(*entries: object, **top: object) -> dict[str, Any]:
    """A V2 file with `entries`."""
    head = {"timestamp": "20260126_141433", "method": "hybrid", "llm": "openai"}
    return {**head, "threshold_t": 0.6, "results": list(entries), **top}


def v2_entry(*properties: object, **changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "properties": list(properties),
        "properties_count": len(properties),
    } | changes
    return entry(success=..., response_length=..., results_count=..., **values)


def read(document: object, name: str = "test_results.json") -> ReadRun:
    """Return the run that is read from a file that holds `document`."""
    return json_runs.read(name, json.dumps(document).encode())


def query(document: object) -> ReadQuery:
    (only,) = read(document).queries
    return only


def described(run: ReadRun) -> str:
    """The only problem of `run` in English."""
    (problem,) = run.problems
    with speaking("en"):
        return message(problem)
