"""Valid files of every format that is read: cut out of the sample study, or made up."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from tests.conftest import NOW
from tests.services.evaluations import scored_files
from tests.services.exports import offline_files
from tests.services.gold import gold_files
from tests.services.judging import rated_studies
from webapp.config import resource
from webapp.db.engine import Database
from webapp.exporters.frame.csv_cells import CsvStyle
from webapp.importers.runs import json_runs
from webapp.metrics.evaluations import json_answers as eval_sets
from webapp.services.exports import exports
from webapp.services.proof_packs import packs as proof_packs
from webapp.services.runs import reports
from webapp.services.study import studies

MANUAL = {
    "timestamp": "2026-03-01T09:00:00.000Z",
    "constraint_overrides": {"1": {"1": {"price": "pass"}, "2": {"location": "na"}}},
    "manual_evaluations": {
        "2": {"0": {"result": "pass", "comment": "dekat"}, "1": {"result": "pending"}}
    },
}
PLACES = {
    "version": "1.0",
    "default_radius_km": 2.0,
    "locations": {
        "cemara": {"name": "Cemara", "keywords": ["cemara"], "lat": 3.62, "lng": 98.7}
    },
}  # fmt: skip
MAPPING = {
    "send": {"q": "{message}", "chat": "{session_id}", "turns": "{messages}"},
    "read": {"text": "data.0.answer", "items": "data.0.items", "session": "id", "usage": "usage"},
    "item": {"name": "title", "price": "cost.idr"},
    "headers": {"X-Method": "{method}"},
    "assigns_sessions": True,
}
ANSWERED = {
    "id": "s1",
    "usage": {"total_tokens": 7},
    "data": [
        {
            "answer": "1. **Rumah**\n   Rp 1 M",
            "items": [{"title": "Rumah", "cost": {"idr": 1}}],
        }
    ],
}
COLLECTED = {
    "timestamp": "20260301_090000",
    "thread_id": "t",
    "user_id": "u",
    "search_method": "hybrid",
    "llm": "m",
    "endpoint": "http://127.0.0.1:9/chat",
    "total_questions": 2,
    "results": [
        {
            "query_id": 1,
            "question": "Rumah?",
            "category": "area",
            "context_dependent": False,
            "success": True,
            "response": "1. **Rumah A**\n   📍 Cemara",
            "results_count": 1,
            "latency_ms": 12,
            "tries": 1,
            "usage": {"total_tokens": 3},
            "metadata": {},
            "properties": [{"name": "Rumah A", "price": 5}],
        },
        {
            "query_id": 2,
            "question": "Lagi?",
            "category": "",
            "context_dependent": True,
            "success": False,
            "response": "",
            "results_count": None,
            "error": "timed out",
            "error_code": "timeout",
        },
    ],
}


@cache
def run(method: str, name: str, *, first: int = 0, most: int = 4) -> bytes:
    """Return a run file of the sample study with some of its questions only."""
    path = resource("seeds") / "runs" / method / name
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    document["results"] = document["results"][first : first + most]
    return json.dumps(document, ensure_ascii=False).encode()


def runs() -> tuple[bytes, ...]:
    """Return runs in both forms, with empty lists and failed calls among their answers."""
    seeds = [
        run(method, name, first=first)
        for method in ("hybrid", "api_only", "vector_only")
        for name in ("test_results.json", "results.json")
        for first in (0, 12, 24)
    ]
    return (*seeds, gold_files.v2_file(), as_bytes(COLLECTED))


def questions() -> bytes:
    """Return the sample study's question file, shortened."""
    listed = json.loads((resource("seeds") / "questions.json").read_text("utf-8"))
    return as_bytes(listed[:6])


def rated(database: Database) -> tuple[tuple[bytes, ...], bytes]:
    """Return the rated CSVs of a study in which everything occurs, and its proof pack."""
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        first, second = rated_studies.rated_study(session, study)
        rule = reports.rule_of(session, study)
        csvs = tuple(
            exports.rated_csv(session, study, run_id, rule, style=style).data
            for run_id in (first, second)
            for style in CsvStyle
        )
        pack = proof_packs.of_study(session, study, rule).data
        session.rollback()
    return csvs, pack


def ratings(data: bytes) -> bytes:
    """Return what a page without a server gives for the run in `data`."""
    read = json_runs.read("test_results.json", data)
    said = [
        offline_files.change(1, read.queries[0].query_id, "relevance", "1", rank=1),
        offline_files.change(2, read.queries[0].query_id, "quality", 4),
        offline_files.change(3, read.queries[0].query_id, "notes", "baik"),
        offline_files.change(4, read.queries[0].query_id, "relevance", "0", rank=2, minute=1),
        offline_files.change(
            5, read.queries[0].query_id, "relevance", None, rank=2, minute=2, undoes="e4"
        ),
    ]
    return offline_files.ratings(read, *said)


def answers() -> bytes:
    """Return cited answers as JSON Lines."""
    return scored_files.lines(*scored_files.ANSWERS)


def chunks() -> bytes:
    """Return retrieved chunks as JSON Lines."""
    return scored_files.lines(*scored_files.CHUNKS)


def json_answers() -> bytes:
    """Return a set of JSON answers."""
    return as_bytes(scored_files.JSON_SET)


def outputs() -> bytes:
    """Return an output apart from the set of JSON answers, with its provenance."""
    version = eval_sets.eval_set_version("json", scored_files.JSON_SET["items"])
    stated = scored_files.PROVENANCE | {"eval_set_version": version}
    return scored_files.lines(stated, {"id": "j1", "output": "{}"})


def as_bytes(document: object) -> bytes:
    """Return a value as a JSON file."""
    return json.dumps(document, ensure_ascii=False).encode()
