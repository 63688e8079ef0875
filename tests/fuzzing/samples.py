"""Valid files of every format that is read: cut out of the sample study, or made up."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from relevansi.config import resource
from relevansi.db.engine import Database
from relevansi.exporters.frame.csv_cells import CsvStyle
from relevansi.importers.runs import json_runs
from relevansi.services.exports import exports
from relevansi.services.proof_packs import packs
from relevansi.services.runs import reports
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.evaluations import scored_files
from tests.services.exports import offline_files
from tests.services.gold import gold_files
from tests.services.judging import rated_studies

MANUAL = {
    "timestamp": "2026-03-01T09:00:00.000Z",
    "constraint_overrides": {"1": {"1": {"price": "pass"}, "2": {"location": "na"}}},
    "manual_evaluations": {
        "2": {"0": {"result": "pass", "comment": "dekat"}, "1": {"result": "pending"}}
    },
}
MAPPING = {
    "send": {"q": "{message}", "chat": "{session_id}", "turns": "{messages}"},
    "read": {"text": "data.0.answer", "items": "data.0.items", "session": "id", "usage": "usage"},
    "item": {"name": "title", "price": "cost"},
    "headers": {"X-Method": "{method}"},
    "assigns_sessions": True,
}
ANSWERED = {
    "id": "s1",
    "usage": {"total_tokens": 7},
    "data": [{"answer": "1. **Rumah**\n   Rp 1 M", "items": [{"title": "Rumah", "cost": 1}]}],
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


def as_bytes(document: object) -> bytes:
    """Return a value as a JSON file."""
    return json.dumps(document, ensure_ascii=False).encode()


OUTPUTS = b'{"id": "j1", "output": "{}"}\n{"id": "j2", "output": null}\n'
QUESTIONS = resource("seeds") / "questions.json"
RUNS = [
    run(method, name, first=first)
    for method in ("hybrid", "api_only", "vector_only")
    for name in ("test_results.json", "results.json")
    for first in (0, 12, 24)
]
FILES: Mapping[str, Sequence[bytes]] = {
    "runs": [*RUNS, gold_files.v2_file(), as_bytes(COLLECTED)],
    "collections": [as_bytes(COLLECTED)],
    "questions": [as_bytes(json.loads(QUESTIONS.read_bytes())[:6])],
    "gold": [gold_files.gold_bytes()],
    "listed": [gold_files.v2_file()],
    "manual": [as_bytes(MANUAL)],
    "answers": [scored_files.lines(*scored_files.ANSWERS)],
    "chunks": [scored_files.lines(*scored_files.CHUNKS)],
    "json-v2": [as_bytes(scored_files.JSON_SET)],
    "outputs": [OUTPUTS, b'["j1", "j2"]'],
    "mappings": [as_bytes(MAPPING)],
    "chatbot": [as_bytes(ANSWERED)],
}
"""Valid files by format; runs in both forms, with empty lists and failed calls among them."""


def rated(database: Database) -> tuple[tuple[bytes, ...], bytes]:
    """Return the rated CSVs of a study in which everything occurs, and its proof pack."""
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        first, second = rated_studies.rated_study(session, study)
        rule = reports.rule_of(session, study)
        csvs = tuple(
            exports.export(session, study, run_id, rule, "csv", style=style).data
            for run_id in (first, second)
            for style in CsvStyle
        )
        pack = packs.pack(session, study, None, rule).data
        session.rollback()
    return csvs, pack


def ratings(data: bytes) -> bytes:
    """Return what a page without a server gives for the run in `data`."""
    read = json_runs.read("test_results.json", data)
    changes = [
        offline_files.change(1, read.queries[0].query_id, "relevance", "1", rank=1),
        offline_files.change(2, read.queries[0].query_id, "quality", 4),
        offline_files.change(3, read.queries[0].query_id, "notes", "baik"),
        offline_files.change(4, read.queries[0].query_id, "relevance", "0", rank=2, minute=1),
        offline_files.change(
            5, read.queries[0].query_id, "relevance", None, rank=2, minute=2, undoes="e4"
        ),
    ]
    return offline_files.ratings(read, *changes)
