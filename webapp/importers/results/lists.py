"""JSON with an object per question that has a list: of any system, and of well-known tools.

LangChain, LangSmith, MLflow, LlamaIndex, Ragas, Elasticsearch and OpenSearch, cited answers and
retrieved chunks differ in names and nesting only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from webapp.importers.results.rows import (
    File,
    FlatRow,
    Rows,
    as_number,
    as_rank,
    as_text,
    flattened,
    guessed,
    item_of,
    json_objects,
)
from webapp.importers.runs.json_documents import kind_of
from webapp.importers.runs.problems import error
from webapp.kinds.document import Document
from webapp.records import Problem

# Paths within the object of one question, the first that holds something counts.
_PATHS = {
    "query": (
        *("query", "question", "user_input", "inputs.question", "inputs.query", "inputs.input"),
        *("input.question", "input.query", "inputs", "input", "request.query", "request"),
        *("prompt", "example.inputs.question", "pertanyaan"),
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
_NOTES = ("reference", "ground_truth", "expected_answer", "gold", "note")
_CONTAINERS = (
    *("results", "data", "queries", "questions", "examples", "samples", "rows", "runs"),
    *("responses", "traces", "judgments", "details"),
)


def objects(document: object) -> list[dict[str, object]]:
    """The objects of single questions in a JSON value: itself, or those in a list of it."""
    if isinstance(document, dict) and "query" not in _found(document, ("query", "items")):
        for name in _CONTAINERS:
            inner = document.get(name)
            if isinstance(inner, list) and any(_is_asked(one) for one in inner):
                return objects(inner)
    values = document if isinstance(document, list) else [document]
    return [value for value in values if isinstance(value, dict)]


def is_list(value: object) -> bool:
    """Whether a JSON value is, or holds, objects of questions with lists."""
    return any(map(_is_asked, objects(value)[:3]))


def _is_asked(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    found = _found(value, ("query", "query_id", "items"))
    listed = found.get("items", [] if _NULL_LISTS & value.keys() else None)
    fits = isinstance(listed, list) and (not listed or isinstance(listed[0], dict | str))
    is_named = "query" in found or isinstance(value.get("hits"), dict)
    if "page_content" in value or "node" in value:
        return True  # the items alone: `read` says that a question is missing
    return fits and (is_named or ("query_id" in found and bool(_NULL_LISTS & value.keys())))


def read(file: File, chosen: Mapping[str, str] | None = None) -> Rows:
    """Every item of every list; an object without a question or a list is left out."""
    for place, found in enumerate(json_objects(file, objects), 1):
        if isinstance(found, Problem):
            yield found
        else:
            yield from _rows(file, *found, place, chosen or {})


def _rows(
    file: File, line: int, value: Mapping[str, object], place: int, chosen: Mapping[str, str]
) -> Rows:
    found = _found(value, tuple(_PATHS), chosen)
    turns, query = _asked(found.get("query"))
    query_id = as_text(found.get("query_id")).strip()
    is_search = isinstance(value.get("hits"), dict) or isinstance(value.get("response"), dict)
    if is_search and not (query or query_id):
        query = file.stem  # a response names no query
    has_list = isinstance(found.get("items"), list) or bool(_NULL_LISTS & value.keys())
    lacks = "question" if not (query or query_id) else "" if has_list else "list"
    if lacks:
        keys = {"keys": ", ".join(list(value)[:20])}
        yield error(f"results_without_{lacks}", file.name, keys, line=line)
        return
    answer = found.get("answer")
    notes = {name: value[name] for name in _NOTES if value.get(name)}
    # The responses of a search engine, a file each, are one run.
    system = as_text(found.get("system")).strip() or ("search" if is_search else "")
    common = FlatRow(
        line,
        query_id=query_id,
        query=query,
        system=system,
        answer=as_text(answer) if isinstance(answer, str) else "",
        category=as_text(found.get("category")).strip(),
        place=place,
        extra=notes | ({"turns": turns} if turns else {}),
    )
    ids = next((value[name] for name in _IDS if isinstance(value.get(name), list)), None)
    yield from _items(file, common, found.get("items"), ids, chosen)


def _items(
    file: File, common: FlatRow, listed: object, ids: object, chosen: Mapping[str, str]
) -> Rows:
    values = listed if isinstance(listed, list) else []  # null: nothing was found
    own_ids = ids if isinstance(ids, list) else []
    if not values:
        yield common
    indexes = {as_text(_hit(one).get("_index")) for one in values if isinstance(one, dict)} - {""}
    if len(indexes) == 1:  # ratings go back to it
        common = replace(common, extra={**common.extra, "_index": indexes.pop()})
    stated = [as_rank(one.get("rank")) if isinstance(one, dict) else None for one in values]
    for number, value in enumerate(values):
        item, score, grade = _item(value, chosen)
        own = as_text(own_ids[number]) if number < len(own_ids) else ""
        if listed is ids:
            item = Document(doc_id=own) if own else None
        elif item is not None and own and not item.doc_id:
            item = replace(item, doc_id=own)
        if item is None:
            where = {"place": f"[{number}]", "found": kind_of(value)}
            yield error("results_list_of_others", file.name, where, line=common.line)
        else:
            rank = number + 1 if None in stated else stated[number]
            yield replace(common, item=item, rank=rank, score=score, grade=grade)


def _item(value: object, chosen: Mapping[str, str]) -> tuple[Document | None, float | None, object]:
    if isinstance(value, str):
        return (Document(text=as_text(value)) if value.strip() else None), None, None
    if not isinstance(value, dict):
        return None, None, None
    values = flattened(_hit(value))
    values.pop("type", None)  # "Document", in every item of LangChain
    columns = dict(guessed(tuple(values), of_item=True))
    columns |= {role: name for role, name in chosen.items() if name in values and role in columns}
    item = item_of(values, columns)
    score = as_number(values.get(columns.get("score", "")))
    return item, score, value.get("rating", value.get("relevance_grade"))


def _hit(value: dict[str, object]) -> dict[str, object]:
    hit = value.get("hit")  # of _rank_eval
    return hit if isinstance(hit, dict) else value


def _asked(value: object) -> tuple[list[object], str]:
    """The earlier turns of a conversation and the last question of a person."""
    if isinstance(value, list):
        turns = [one for one in value if isinstance(one, dict)]
        people = [n for n, one in enumerate(turns) if _speaker(one) in ("human", "user", "")]
        if not people:
            return [], ""
        last = turns[people[-1]]
        return list(turns[: people[-1]]), as_text(last.get("content")).strip()
    if isinstance(value, dict):  # a query in a search engine's language
        return [], next(filter(None, map(_leaf, value.values())), "")
    return [], as_text(value).strip()


def _speaker(turn: Mapping[str, object]) -> str:
    return as_text(turn.get("type") or turn.get("role")).lower()


def _leaf(value: object) -> str:
    if isinstance(value, dict):
        return next(filter(None, map(_leaf, value.values())), "")
    return as_text(value).strip() if isinstance(value, str) else ""


def _found(
    value: Mapping[str, object], roles: tuple[str, ...], chosen: Mapping[str, str] | None = None
) -> dict[str, object]:
    """The value of each role that has one; ``items`` prefers a list."""
    found: dict[str, object] = {}
    for role in roles:
        own = (chosen or {}).get(role)
        for path in (own, *_PATHS[role]) if own else _PATHS[role]:
            at: object = value
            for name in path.split("."):
                at = at.get(name) if isinstance(at, dict) else None
            fits = isinstance(at, list) if role == "items" else at not in (None, "", [])
            if role == "query" and isinstance(at, dict) and path in ("inputs", "input", "request"):
                fits = False
            if role in ("query_id", "system", "category") and not isinstance(at, str | int):
                fits = False
            if fits:
                found[role] = at
                break
    return found


def read_rank_eval(file: File) -> Rows:
    """The responses of Elasticsearch's and OpenSearch's _rank_eval: hits, ratings, unrated."""
    for found in json_objects(file, _details):
        if isinstance(found, Problem):
            yield found
            continue
        line, value = found
        common = FlatRow(line, query_id=as_text(value["query_id"]), system="search", place=line)
        yield from _items(file, common, value.get("hits"), None, {})
        unrated = value.get("unrated_docs")
        for doc in unrated if isinstance(unrated, list) else ():
            item, _, _ = _item(doc, {})
            if item is not None:
                yield replace(common, role="grade", item=item)


def _details(value: object) -> Iterator[dict[str, object]]:
    details = value.get("details") if isinstance(value, dict) else None
    for query_id, one in details.items() if isinstance(details, dict) else ():
        if isinstance(one, dict):
            yield {**one, "query_id": query_id}


def read_judgments(file: File) -> Rows:
    """Judgments of the Search Relevance Workbench: ``judgmentRatings`` by text of the query."""
    for found in json_objects(file, _judged):
        if isinstance(found, Problem):
            yield found
            continue
        line, value = found
        query, ratings = as_text(value.get("query")).strip(), value.get("ratings")
        for rating in ratings if isinstance(ratings, list) else ():
            doc_id = as_text(rating.get("docId")) if isinstance(rating, dict) else ""
            if doc_id and query:
                yield FlatRow(line, "grade", query=query, item=doc_id, grade=rating.get("rating"))
            else:
                yield error("results_without_item", file.name, line=line)


def _judged(value: object) -> Iterator[dict[str, object]]:
    if isinstance(value, dict):
        ratings = value.get("judgmentRatings")
        if isinstance(ratings, list):
            yield from (one for one in ratings if isinstance(one, dict))
        else:
            for inner in value.values():
                yield from _judged(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _judged(inner)
