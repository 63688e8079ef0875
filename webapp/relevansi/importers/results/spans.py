"""Spans of tracing tools as objects with a question and its results.

OpenInference (Phoenix) as JSON, JSON Lines, OTLP or the table that pandas writes of it, the
retrieval spans of OpenTelemetry's conventions for generative AI, and those of MLflow's traces.
"""

from __future__ import annotations

from contextlib import suppress

from relevansi import json_text
from relevansi.importers.results.records import LOOKED_AT, at, literal, objects_in
from relevansi.importers.results.rows import Values, as_text

_SPELLED = {"spanId": "span_id", "traceId": "trace_id"}  # in OTLP
_KINDS = ("openinference.span.kind", "span_kind", "span.kind")
_PLACES = ("resourceSpans.scopeSpans.spans", "data.spans", "data", "spans")
"""Where exports have their spans: OTLP, MLflow of a trace, and Phoenix in pages."""
_LISTS = {
    "reranker.output_documents": "reranker.query",
    "gen_ai.retrieval.documents": "gen_ai.retrieval.query.text",
}
"""Where spans of other kinds have results, and the question of these."""
_IDS = frozenset({"span_id", "spanId", "context.span_id"})


def spans_in(value: object) -> list[object]:
    """The span that a JSON value is, or the list of those that it holds; ``[]`` for any other."""
    if isinstance(value, dict) and not is_span(value):
        value = next(filter(None, (at(value, path) for path in _PLACES)), None)
    are_spans = any(map(is_span, objects_in(value)[:LOOKED_AT]))
    entries = value if isinstance(value, list) else [value]
    return entries if are_spans else []


def is_span(value: Values) -> bool:
    """Whether an object is a span of a tracing tool."""
    has_attributes = any(name.startswith("attributes") for name in value)
    has_id = isinstance(value.get("context"), dict) or not _IDS.isdisjoint(value)
    return (has_attributes and (has_id or "name" in value)) or "span_kind" in value


def question(value: Values) -> Values | None:
    """The question of a retrieval span with its ``results``; ``None`` for any other span."""
    span: Values = {}
    for name, inner in value.items():
        _place(span, name, inner)
    documents = _documents(at(span, "retrieval.documents"))
    query = span.get("input")
    kind = next((as_text(at(span, path)) for path in _KINDS if at(span, path)), "")
    for path, words in _LISTS.items():
        if (listed := at(span, path)) is not None:
            documents, query, kind = _documents(listed), at(span, words), "RETRIEVER"
    mlflow = span.get("mlflow")
    if isinstance(mlflow, dict):  # whose values are JSON in texts
        kind = as_text(_decoded(mlflow.get("spanType")))
        query = _decoded(mlflow.get("spanInputs", span.get("inputs")))
        documents = _documents(_decoded(mlflow.get("spanOutputs", span.get("outputs"))))
    has_documents = isinstance(documents, list) and bool(documents)
    if (kind.upper() or ("RETRIEVER" if has_documents else "")) != "RETRIEVER":
        return None
    read: Values = {"input": query, "system": span.get("name"), "results": documents}
    for name in ("span_id", "trace_id"):
        read[name] = at(span, f"context.{name}") or span.get(name)
    return {name: inner for name, inner in read.items() if inner is not None}


def _decoded(value: object) -> object:
    """The value that a text has as JSON; the text itself, or any other value, where it has none."""
    with suppress(ValueError, RecursionError):
        return json_text.decode(value) if isinstance(value, str) else value
    return value


def _place(tree: Values, path: str, value: object) -> None:
    """Put a value of a span into nested objects, by its path without "attributes." before it."""
    if path == "attributes" and isinstance(value, list):  # of OTLP
        pairs = ((at(pair, "key"), at(pair, "value")) for pair in value)
        value = {str(k): next(iter(v.values()), None) for k, v in pairs if isinstance(v, dict)}
    if isinstance(value, str) and path.endswith("metadata"):
        value = literal(value)
    if isinstance(value, dict) and not path.endswith("metadata"):
        for name, inner in value.items():
            _place(tree, f"{path}.{name}", inner)
        return
    *outer, last = _SPELLED.get(path, path).removeprefix("attributes.").split(".")
    for name in outer:
        inner = tree.setdefault(name, {})
        if not isinstance(inner, dict):
            return
        tree = inner
    tree.setdefault(last, value)


def _documents(value: object) -> object:
    """The documents of a span in order: a list, one in a cell, or an object by their places.

    What is none of these is returned as it is.
    """
    parsed = literal(value) if isinstance(value, str) else None
    raw = value if parsed is None else parsed
    by_place = {str(n): entry for n, entry in enumerate(raw)} if isinstance(raw, list) else raw
    listed: dict[int, object] = {}
    for place, entry in by_place.items() if isinstance(by_place, dict) else ():
        if place.isdecimal() and len(place) < 7:
            document: Values = {"rank": int(place) + 1}
            for name, inner in entry.items() if isinstance(entry, dict) else ():
                _place(document, name.removeprefix("document."), inner)
            listed[int(place)] = document if isinstance(entry, dict) else entry
    return [listed[place] for place in sorted(listed)] or raw or []
