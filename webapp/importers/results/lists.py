"""JSON with an object per question that has a list: of any system, and of well-known tools.

LangChain, LangSmith, MLflow, LlamaIndex, Ragas, Elasticsearch and OpenSearch, cited answers and
retrieved chunks differ in names and nesting only; spans of OpenInference are turned into such an
object. Judgments of the Search Relevance Workbench have grades in place of results.
"""

from __future__ import annotations

import ast
import json

from msgspec.structs import replace

from webapp.importers.results import rows
from webapp.importers.results.files import File
from webapp.importers.results.rows import Columns, FlatRow, Rows, as_text
from webapp.importers.runs.json_documents import kind_of
from webapp.kinds.document import Document

Value = dict[str, object]

# Paths within the object of one question, the first that holds something counts.
_PATHS = {
    "query": (
        *("query", "question", "user_input", "inputs.question", "inputs.query", "inputs.input"),
        *("input.question", "input.query", "input.value", "inputs", "input"),
        *("request.query", "request", "prompt", "example.inputs.question", "pertanyaan"),
    ),
    "items": (
        *("retrieved_contexts", "hits.hits", "response.hits.hits", "results", "hits", "documents"),
        *("contexts", "retrieved_context", "retrieved_chunks", "retrieved_documents", "passages"),
        *("chunks", "docs", "source_nodes", "nodes", "source_documents", "sources", "context"),
        *("outputs.documents", "outputs.context", "outputs.output", "outputs.results", "outputs"),
        *("output.documents", "output.context", "output", "response.source_nodes"),
        *("retrieved_context_ids", "retrieved_doc_ids"),
    ),
    "answer": (
        *("response", "answer", "outputs.answer", "outputs.output", "outputs.response"),
        *("output.answer", "generated_answer", "result", "prediction", "jawaban"),
    ),
    "query_id": ("query_id", "qid", "question_id", "topic", "id", "_id"),
    "system": ("system", "strategy", "method", "retriever", "engine", "run"),
    "category": ("category", "kategori"),
}
_IDS = ("retrieved_context_ids", "context_ids", "retrieved_doc_ids", "document_ids")
_NULL_LISTS = frozenset({"contexts", "retrieved_contexts", "retrieved_chunks", "results"})
_NOTES = ("reference", "ground_truth", "expected_answer", "gold", "note", "span_id", "trace_id")
_LONGEST_LITERAL = 2**20


def is_asked(value: Value) -> bool:
    """Whether an object is a question with its list."""
    if "page_content" in value or "node" in value:
        return True  # the items alone: `read` says that a question is missing
    found = _found(value, ("query", "query_id", "items"))
    has_null = bool(_NULL_LISTS & value.keys())
    listed = found.get("items", [] if has_null else None)
    if not isinstance(listed, list) or (listed and not isinstance(listed[0], dict | str)):
        return False
    is_named = "query" in found or isinstance(value.get("hits"), dict)
    return is_named or ("query_id" in found and has_null)


def read(file: File, columns: Columns) -> Rows:
    """Every item of every list; an object without a question or a list is left out."""
    for place, (line, value) in enumerate(rows.records(file, is_asked), 1):
        yield from _rows(file, line, value, place, columns)


def _rows(file: File, line: int, value: Value, place: int, columns: Columns) -> Rows:
    found = _found(value, tuple(_PATHS), columns)
    turns, query = _asked(found.get("query"))
    query_id = as_text(found.get("query_id")).strip()
    is_search = isinstance(value.get("hits"), dict) or isinstance(value.get("response"), dict)
    if is_search and not (query or query_id):
        query = file.stem  # a response names no query
    has_list = isinstance(found.get("items"), list) or bool(_NULL_LISTS & value.keys())
    lacks = "question" if not (query or query_id) else "" if has_list else "list"
    if lacks:
        file.error(f"results_without_{lacks}", line, keys=", ".join(list(value)[:20]))
        return
    listed = found.get("items") or []  # null: nothing was found
    assert isinstance(listed, list)
    extra = {name: value[name] for name in _NOTES if value.get(name)}
    indexes = {as_text(_at(one, "_index") or _at(one, "hit._index")) for one in listed} - {""}
    if len(indexes) == 1:  # ratings go back to it
        extra["_index"] = indexes.pop()
    if turns:
        extra["turns"] = turns
    answer = found.get("answer")
    common = FlatRow(
        line,
        query_id=query_id,
        query=query,
        # The responses of a search engine, a file each, are one run.
        system=as_text(found.get("system")).strip() or ("search" if is_search else ""),
        answer=as_text(answer) if isinstance(answer, str) else "",
        category=as_text(found.get("category")).strip(),
        place=place,
        extra=extra,
    )
    ids = next((value[name] for name in _IDS if isinstance(value.get(name), list)), [])
    assert isinstance(ids, list)
    if not listed:
        yield common
    stated = [rows.as_rank(one.get("rank")) if isinstance(one, dict) else None for one in listed]
    for number, one in enumerate(listed):
        item, score, grade = _item(one, columns)
        own = as_text(ids[number]) if number < len(ids) else ""
        if listed is ids:
            item = Document(doc_id=own) if own else None
        elif item is not None and own and not item.doc_id:
            item = replace(item, doc_id=own)
        if item is None:
            file.error("results_list_of_others", line, place=f"[{number}]", found=kind_of(one))
        else:
            rank = number + 1 if None in stated else stated[number]
            yield replace(common, item=item, rank=rank, score=score, grade=grade)


def _item(value: object, columns: Columns) -> tuple[Document | None, float | None, object]:
    """The document, score and grade that an entry of a list states."""
    if isinstance(value, str):
        return (Document(text=as_text(value)) if value.strip() else None), None, None
    if not isinstance(value, dict):
        return None, None, None
    values = rows.flattened(value)
    values.pop("type", None)  # "Document", in every item of LangChain
    grade = [values.pop(name, None) for name in ("rating", "relevance_grade")]
    roles = dict(rows.guessed(tuple(values), of_item=True))
    roles |= {role: name for role, name in columns.items() if name in values and role in roles}
    score = rows.as_number(values.get(roles.get("score", "")))
    return rows.item_of(values, roles), score, next((x for x in grade if x is not None), None)


def _asked(value: object) -> tuple[list[Value], str]:
    """The earlier turns of a conversation and the last question of a person."""
    if isinstance(value, list):
        turns = [one for one in value if isinstance(one, dict)]
        while turns:
            last = turns.pop()
            if as_text(last.get("type") or last.get("role")).lower() in ("human", "user", ""):
                return turns, as_text(last.get("content")).strip()
        return [], ""
    if isinstance(value, dict):  # a query in a search engine's language
        inner = (_asked(one)[1] for one in value.values() if isinstance(one, dict | str))
        return [], next(filter(None, inner), "")
    return [], as_text(value).strip()


def _at(value: object, path: str) -> object:
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _found(value: Value, roles: tuple[str, ...], columns: Columns | None = None) -> Value:
    """The value of each role that has one; ``items`` prefers a list."""
    found: Value = {}
    for role in roles:
        own = (columns or {}).get(role)
        for path in (own, *_PATHS[role]) if own else _PATHS[role]:
            at = _at(value, path)
            if role == "items":
                fits = isinstance(at, list)
            elif role in ("query_id", "system", "category"):
                fits = isinstance(at, str | int) and at != ""
            else:
                is_envelope = isinstance(at, dict) and path in ("inputs", "input", "request")
                fits = at not in (None, "", []) and not (role == "query" and is_envelope)
            if fits:
                found[role] = at
                break
    return found


def read_rank_eval(file: File, columns: Columns) -> Rows:
    """The responses of Elasticsearch's and OpenSearch's _rank_eval: hits, ratings, unrated."""
    for line, value in rows.records(file, lambda one: "details" in one):
        details = value.get("details")
        for query_id, one in details.items() if isinstance(details, dict) else ():
            if isinstance(one, dict):
                listed = {"query_id": query_id, "system": "search", "results": one.get("hits")}
                yield from _rows(file, line, listed, 0, columns)
                unrated = one.get("unrated_docs")
                for doc in unrated if isinstance(unrated, list) else ():
                    item, _, _ = _item(doc, columns)
                    if item is not None:
                        yield FlatRow(line, "grade", query_id=query_id, item=item)


def read_judgments(file: File, _columns: Columns) -> Rows:
    """Judgments of the Search Relevance Workbench: ``ratings`` by text of the query."""
    for line, value in rows.records(file, lambda one: "ratings" in one):
        query, ratings = as_text(value.get("query")).strip(), value.get("ratings")
        for rating in ratings if isinstance(ratings, list) else ():
            doc_id = as_text(rating.get("docId")) if isinstance(rating, dict) else ""
            if doc_id and query:
                yield FlatRow(line, "grade", query=query, item=doc_id, grade=rating.get("rating"))
            else:
                file.error("results_without_item", line)


def read_spans(file: File, columns: Columns) -> Rows:
    """Every document of every retriever span: JSON, JSON Lines, OTLP, or the table of Phoenix."""
    for place, (line, record) in enumerate(rows.records(file, _is_span), 1):
        span: Value = {}
        for name, value in record.items():
            _put(span, name, value)
        listed = _documents(_at(span, "retrieval.documents"))
        kinds = ("openinference.span.kind", "span_kind", "span.kind")
        kind = next((as_text(_at(span, path)) for path in kinds if _at(span, path)), "")
        if (kind.upper() or ("RETRIEVER" if listed else "")) == "RETRIEVER":
            told = {"input": span.get("input"), "system": span.get("name"), "results": listed}
            for name in ("span_id", "trace_id"):
                told[name] = _at(span, f"context.{name}") or span.get(name)
            stated = {name: one for name, one in told.items() if one is not None}
            yield from _rows(file, line, stated, place, columns)


def _is_span(value: Value) -> bool:
    marks = ("attributes", "context", "span_id", "spanId")
    return any(name.startswith(marks) for name in value)


_SPELT = {"spanId": "span_id", "traceId": "trace_id"}  # in OTLP


def _put(tree: Value, path: str, value: object) -> None:
    """Put a value of a span into nested objects, by its path without "attributes." before it."""
    if path == "attributes" and isinstance(value, list):  # of OTLP
        pairs = ((_at(one, "key"), _at(one, "value")) for one in value)
        value = {str(k): next(iter(v.values()), None) for k, v in pairs if isinstance(v, dict)}
    if isinstance(value, str) and path.endswith("metadata"):
        value = _parsed(value)
    if isinstance(value, dict) and not path.endswith("metadata"):
        for name, inner in value.items():
            _put(tree, f"{path}.{name}", inner)
        return
    *outer, last = _SPELT.get(path, path).removeprefix("attributes.").split(".")
    for name in outer:
        inner = tree.setdefault(name, {})
        if not isinstance(inner, dict):
            return
        tree = inner
    tree.setdefault(last, value)


def _documents(value: object) -> list[Value]:
    """The documents of a span in order: a list, one in a cell, or an object by their places."""
    value = _parsed(value) if isinstance(value, str) else value
    if isinstance(value, list):
        value = {str(place): one for place, one in enumerate(value)}
    listed: dict[int, Value] = {}
    for place, stated in value.items() if isinstance(value, dict) else ():
        if place.isdecimal() and len(place) < 7 and isinstance(stated, dict):
            document: Value = {}
            for name, inner in stated.items():
                _put(document, name.removeprefix("document."), inner)
            listed[int(place)] = document
    return [{**one, "rank": place + 1} for place, one in sorted(listed.items())]


def _parsed(text: str) -> object:
    """A value in a cell: as JSON, or as Python writes it, which is what pandas exports."""
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(text[:_LONGEST_LITERAL])
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
    return None
