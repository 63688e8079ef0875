"""A collected run as ``test_results.json``: the V1 layout, with what else is known beside it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from webapp.records import CollectedAnswer, CollectedRun

STAMP = "%Y%m%d_%H%M%S"


def run_file(run: CollectedRun) -> bytes:
    """The run file: the head a field to a line, then an answer to a line.

    The keys of the original come first in each answer; latency_ms, tries, usage, metadata
    and properties follow where they are known.
    """
    head = {
        "timestamp": run.timestamp,
        "thread_id": run.thread_id,
        "user_id": run.user_id,
        "search_method": run.search_method,
        "llm": run.llm,
        "endpoint": run.endpoint,
        "total_questions": run.total_questions,
        "successful": sum(not answer.error for answer in run.answers),
    }
    return document(head, "results", map(_answer, run.answers))


def document(head: Mapping[str, object], key: str, rows: Iterable[object]) -> bytes:
    """A JSON object: `head` first, then the list `rows` under `key`, a row to a line."""
    fields = [f"{_json(name)}: {_json(value)}" for name, value in head.items()]
    listed = ",\n".join(map(_json, rows))
    text = "{" + ",\n".join([*fields, f"{_json(key)}: [\n{listed}\n]"]) + "}\n"
    # Half a character, which UTF-8 cannot hold, becomes the JSON escape that it came as.
    return text.encode("utf-8", "backslashreplace")


def _answer(answer: CollectedAnswer) -> dict[str, object]:
    row: dict[str, object] = {
        "query_id": answer.query_id,
        "question": answer.question,
        "category": answer.category,
        "success": not answer.error,
        "response": answer.response,
        "response_length": len(answer.response),
        "results_count": answer.results_count,
    }
    known = {
        "error": answer.error or None,
        "error_code": answer.error_code or None,
        "answer_excerpt": answer.excerpt or None,
        "context_dependent": answer.context_dependent,
        "latency_ms": answer.latency_ms,
        "tries": answer.tries,
        "usage": answer.usage,
        "metadata": answer.metadata or None,
        "properties": None if answer.properties is None else list(answer.properties),
    }
    return row | {name: value for name, value in known.items() if value is not None}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
