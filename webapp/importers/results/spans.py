"""Retriever spans of OpenInference: JSON, JSON Lines, OTLP, or the table that Phoenix exports."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from webapp.importers.results.rows import (
    File,
    FlatRow,
    Rows,
    as_number,
    as_text,
    guessed,
    item_of,
    json_objects,
    whole,
)
from webapp.importers.runs.csv_ratings import read_table
from webapp.importers.runs.problems import error
from webapp.records import Problem

_DOCUMENT = re.compile(r"retrieval\.documents\.(\d{1,6})\.(?:document\.)?(\w+)(?:\.(.+))?")
_LONGEST_LITERAL = 2**20
_IDS = {
    "span_id": ("context.span_id", "span_id", "spanId"),
    "trace_id": ("context.trace_id", "trace_id", "traceId"),
}


def read(file: File) -> Rows:
    """Every document of every retriever span, in order; other spans are passed over."""
    for place, found in enumerate(_spans(file), 1):
        if isinstance(found, Problem):
            yield found
        elif _kind(found[1]) == "RETRIEVER":
            yield from _rows(file, *found, place)


def _rows(file: File, line: int, span: dict[str, object], place: int) -> Rows:
    query = as_text(span.get("input.value")).strip()
    if not query:
        yield error("results_without_question", file.name, {"keys": "input.value"}, line=line)
        return
    stated = {
        name: next((as_text(span[path]) for path in paths if span.get(path)), "")
        for name, paths in _IDS.items()
    }
    common = FlatRow(
        line,
        query=query,
        system=as_text(span.get("name")),
        place=place,
        extra={name: value for name, value in stated.items() if value},
    )
    documents = _documents(span)
    if not documents:
        yield common
    for position, values in documents:
        metadata = values.pop("metadata", None)
        if isinstance(metadata, str):
            where = {"place": f"retrieval.documents.{position}.document.metadata"}
            try:
                metadata = json.loads(metadata or "null")
            except (ValueError, RecursionError):
                yield error("results_metadata_broken", file.name, where, line=line)
        every = {**metadata, **values} if isinstance(metadata, dict) else values
        item = item_of(every, guessed(tuple(every), of_item=True))
        if item is None:
            yield error("results_without_item", file.name, line=line)
        else:
            score = as_number(values.get("score"))
            yield replace(common, item=item, rank=position + 1, score=score)


def _spans(file: File) -> Iterator[tuple[int, dict[str, object]] | Problem]:
    with file.opened() as opened:
        is_json = opened.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"["))
    if is_json:
        for found in json_objects(file, _inside):
            yield found if isinstance(found, Problem) else (found[0], _flat(found[1]))
        return
    table = read_table(file.name, whole(file), required=(), known=("context.span_id", "name"))
    yield from table.problems
    yield from ((record.line, _flat(record.cells)) for record in table.records)


def _inside(value: object) -> Iterator[dict[str, object]]:
    """The spans in a value: a span, a list of them, or the envelope of OTLP."""
    if isinstance(value, list):
        for inner in value:
            yield from _inside(inner)
    elif isinstance(value, dict):
        for name in ("resourceSpans", "scopeSpans", "spans", "data"):
            if isinstance(value.get(name), list):
                yield from _inside(value[name])
                return
        yield value


def _flat(span: Mapping[str, object]) -> dict[str, object]:
    """The values of a span by dotted path, without "attributes." before them."""
    values: dict[str, object] = {}
    for name, value in span.items():
        if name == "attributes" and isinstance(value, list):  # OTLP: a list of keys and values
            for one in value:
                if isinstance(one, dict) and isinstance(one.get("value"), dict):
                    values[as_text(one.get("key"))] = next(iter(one["value"].values()), None)
        elif name == "attributes" and isinstance(value, dict):
            values |= _paths(value, "")
        else:
            values |= _paths({name.removeprefix("attributes."): value}, "")
    return values


def _paths(value: Mapping[str, object], before: str) -> dict[str, object]:
    values: dict[str, object] = {}
    for name, stated in value.items():
        path = f"{before}{name}"
        is_cell = path == "retrieval.documents" and isinstance(stated, str)
        inner = _parsed(str(stated)) if is_cell else stated
        if isinstance(inner, dict) and not path.endswith("metadata"):
            values |= _paths(inner, f"{path}.")
        elif isinstance(inner, list) and path == "retrieval.documents":
            entries = {str(n): one for n, one in enumerate(inner) if isinstance(one, dict)}
            values |= _paths(entries, f"{path}.")
        else:
            values[path] = inner
    return values


def _parsed(text: str) -> object:
    """A list in a cell: as JSON, or as Python writes it, which is what pandas exports."""
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(text[:_LONGEST_LITERAL])
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
    return None


def _kind(span: Mapping[str, object]) -> str:
    names = ("openinference.span.kind", "span_kind", "span.kind")
    stated = next((as_text(span[name]) for name in names if span.get(name)), "")
    has_documents = any(name.startswith("retrieval.documents") for name in span)
    return stated.upper() or ("RETRIEVER" if has_documents else "")


def _documents(span: Mapping[str, object]) -> list[tuple[int, dict[str, object]]]:
    found: dict[int, dict[str, object]] = {}
    for path, value in span.items():
        match = _DOCUMENT.fullmatch(path)
        if match:
            values = found.setdefault(int(match[1]), {})
            if match[3]:
                inner = values.setdefault(match[2], {})
                if isinstance(inner, dict):
                    inner[match[3]] = value
            else:
                values[match[2]] = value
    return sorted(found.items())
