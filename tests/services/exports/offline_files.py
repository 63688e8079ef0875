from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from relevansi.importers.runs import json_runs
from relevansi.importers.runs.ratings import FORMAT
from relevansi.records import ReadRun
from tests.conftest import NOW


def change(
    sequence: int,
    query_id: int,
    field: str,
    value: str | int | None,
    *,
    rank: int | None = None,
    minute: int = 0,
    undoes: str | None = None,
) -> dict[str, Any]:
    clicked_at = (NOW + timedelta(minutes=minute)).timestamp() * 1000
    entry = {
        "sequence": sequence,
        "event_id": f"e{sequence}",
        "time": int(clicked_at),
        "query_id": query_id,
        "field": field,
        "value": value,
        "cause": "undo" if undoes else "click",
    }
    return entry | ({"rank": rank} if rank else {}) | ({"undoes": undoes} if undoes else {})


def ratings(run: ReadRun, *changes: dict[str, Any], **top: Any) -> bytes:
    queries = [
        {
            "query_id": query.query_id,
            "results": [
                {"rank": rank, "title": card.title, "identity": card.identity}
                for rank, card in enumerate(query.cards, start=1)
            ],
        }
        for query in run.queries
    ]
    document = {
        "format": FORMAT,
        "version": 1,
        "identity": json_runs.session_key(run),
        "rater": "Ani",
        "device": "phone",
        "queries": queries,
        "changes": list(changes),
    }
    return json.dumps(document | top).encode()
