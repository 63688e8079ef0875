"""JSON in other forms as questions with lists: spans, conversations, rerankers, any spelling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain

from relevansi.importers.results import spans
from relevansi.importers.results.json_questions import GOLD, list_at
from relevansi.importers.results.json_systems import of_keys, systems_in
from relevansi.importers.results.records import (
    LOOKED_AT,
    at,
    literal,
    objects_in,
    only_list,
    rows_of_columns,
    text_at,
)
from relevansi.importers.results.rows import Values, as_text, guessed, plain_name
from relevansi.importers.results.shapes import NAMES, USUAL_ITEMS

_RERANKED = ("documents", "passages", "texts", "corpus", "docs", "chunks", "candidates")
"""Lists at whose entries the results of a reranker point."""
ORDERS = frozenset({"ranking", "reranking", "ranked", "ranked_indices", "ranked_ids"})
"""Lists of the numbers or ids of documents in the order of these."""
_DEEPEST = 2  # objects around a question
_USUAL = frozenset(USUAL_ITEMS.split("|"))
_PLACES = ("index", "corpus_id")
_CONVERSATIONS = (
    "messages",
    *(f"{name}.messages" for name in ("output", "outputs", "values", "chat")),
)
_OF_CONVERSATIONS = {*_CONVERSATIONS, *(path.partition(".")[0] for path in _CONVERSATIONS)}


def prepared(value: object, *, is_mapped: bool = False) -> object:
    """A value with its spans, conversations with tools and reranked documents as questions.

    Its keys are spelled as the paths of shapes are, unless a person chose the paths.
    """
    value = value if is_mapped else respelled(value)
    if entries := spans.spans_in(value):
        others = [entry for entry in entries if not isinstance(entry, dict)]
        return [*filter(None, map(spans.question, objects_in(entries))), *others]
    if isinstance(value, dict):
        value = _with_questions(value)
        are_columns = all(isinstance(part, dict) for part in value.values())
        columns = value if "query" in guessed(tuple(value)) and are_columns else {}
        value = rows_of_columns(columns) or value
    return _with_results(value)


def _with_results(value: object, depth: int = 0) -> object:
    """A value with its conversations and reranked documents as questions with results."""
    if isinstance(value, list):
        return [_with_results(entry, depth) for entry in value]
    if not isinstance(value, dict):
        return value
    if depth < _DEEPEST:
        value = {name: _with_results(inner, depth + 1) for name, inner in value.items()}
    has_question = "query" in guessed(tuple(value))
    value = _conversation(value)
    return _reranked(value) if has_question or not depth else value


def _with_questions(value: Values) -> Values:
    """An object with results by the ids of questions whose words stand beside these."""
    listed = next((value[name] for name in ("queries", "questions", "topics") if name in value), ())
    ids, texts = "query_id|qid|id|_id|number", "query|question|text|title"
    words = listed if isinstance(listed, dict) else {}
    if isinstance(listed, list):
        words = {text_at(entry, ids): text_at(entry, texts) for entry in listed}
    if not words or not all(isinstance(text, str) for text in words.values()):
        return value
    lists = {
        name: of_keys(inner)
        for name, inner in value.items()
        if isinstance(inner, dict) and inner.keys() <= words.keys() and inner is not words
    }
    return {
        name: [row | {"query": words[as_text(row["query_id"])]} for row in lists.get(name) or ()]
        or inner
        for name, inner in value.items()
        if name not in lists or not GOLD.match(name)
    }


def respelled(value: object) -> object:
    """A JSON value whose keys are spelled as the paths of shapes are.

    A key stays as it is where two of its object would be one, or where it is called like a system.

    >>> respelled({"Query": "a", "SearchResults": [{"Id": 1}], "Size": 2})
    {'query': 'a', 'search_results': [{'id': 1}], 'Size': 2}
    """
    if isinstance(value, list):
        return [respelled(entry) if isinstance(entry, dict | list) else entry for entry in value]
    if not isinstance(value, dict):
        return value
    names: Mapping[str, str] = {} if len(value) >= LOOKED_AT else _spellings(tuple(value))
    if names and len(value) > 1 and systems_in(value, "systems"):
        names = {}
    values: Values = {
        names.get(name, name): respelled(inner) if isinstance(inner, dict | list) else inner
        for name, inner in value.items()
    }
    return _with_named_cells(values)


def _with_named_cells(value: Values) -> Values:
    """An object whose rows are lists in the order of its columns with these rows as objects."""
    rows = rows_of_columns(value) if "columns" in value or "manifest" in value else None
    return {**value, "results": rows} if rows else value


@lru_cache(maxsize=1024)
def _spellings(names: tuple[str, ...]) -> dict[str, str]:
    """Those of these names that shapes spell otherwise, each with their spelling."""
    plain = {name: plain_name(name) for name in names}
    counts = Counter(plain.values())
    return {
        name: spelled
        for name, spelled in plain.items()
        if spelled != name and spelled in NAMES and counts[spelled] == 1
    }


def _conversation(value: Values) -> Values:
    """The last question of a conversation with what tools found; any other object as it is."""
    if _OF_CONVERSATIONS.isdisjoint(value):
        return value
    turns = next(filter(None, (at(value, path) for path in _CONVERSATIONS)), None)
    if not isinstance(turns, list):
        return value
    reply = value.get("response")
    turns = [*turns, reply] if at(reply, "role") else turns
    listed: list[object] = []
    answer = ""
    for place in range(len(turns) - 1, -1, -1):
        turn = turns[place]
        speaker = as_text(at(turn, "type") or at(turn, "role")).lower()
        content = at(turn, "content")
        blocks = content if isinstance(content, list) else []
        inner_blocks = (at(block, "content") for block in blocks)
        groups = (blocks, *(inner for inner in inner_blocks if isinstance(inner, list)))
        listed = [*chain.from_iterable(map(_results_among, groups)), *listed]
        words = as_text([b for b in blocks if "text" in as_text(at(b, "type"))] or content)
        if speaker in ("human", "user") and words.strip():
            question = [*turns[:place], {"role": "user", "content": words}]
            before: Values = {"input": question, "results": listed, "answer": answer}
            return {**value, **before} if listed else value
        if speaker == "tool":
            inner = at(turn, "artifact") or literal(as_text(content))
            inner = list_at(inner, USUAL_ITEMS).entries if isinstance(inner, dict) else inner
            listed = [*inner, *listed] if isinstance(inner, list) else listed
            continue
        sources = list_at(turn, "sources|citations").entries if isinstance(turn, dict) else None
        listed = [*(sources or ()), *listed]
        answer = answer or words
    return value


def _results_among(blocks: list[object]) -> list[object]:
    """The search results among the blocks of a message, with what is no block beside them."""
    types = [as_text(at(block, "type")) for block in blocks]
    if not any(name.endswith("search_result") for name in types):
        return []
    return [
        block
        for block, name in zip(blocks, types, strict=True)
        if name.endswith("search_result") or not (name or isinstance(block, str))
    ]


def _reranked(value: Values) -> Values:
    """A question with the documents at which its results only point, in the order of these.

    Without the documents where it is not known which results point at which: their order is that
    of no results.
    """
    objects = [value, *(inner for inner in value.values() if isinstance(inner, dict))]
    lists = [
        (name, only_list(inner))
        for outer in objects
        for name, inner in outer.items()
        if isinstance(inner, list) and inner
    ]
    texts = [inner for name, inner in lists if name in _RERANKED]
    pointers = [*_pointers_in(value)] if texts else []
    bare = [inner for inner in pointers if not any(at(entry, "text") for entry in inner)]
    pointers = bare or pointers
    texts = [inner for inner in texts if inner not in pointers]
    may_be_ordered = texts and not pointers and "results" not in value
    orders = [inner for name, inner in lists if name in ORDERS and may_be_ordered]
    pointers = pointers or [*filter(None, (_pointers_of(order, texts[0]) for order in orders))]
    if not (texts and pointers):
        return value
    read = [*texts, *pointers, *orders]

    def unread(holder: Values) -> Values:
        return {name: inner for name, inner in holder.items() if only_list(inner) not in read}

    others = unread({n: unread(v) if isinstance(v, dict) else v for n, v in value.items()})
    if len(pointers) == len(texts) == 1:
        return {**others, "results": [_document_at(entry, texts[0]) for entry in pointers[0]]}
    return others if any(map(_are_scored, pointers)) else value


def _pointers_of(order: list[object], documents: list[object]) -> list[object]:
    """The order of documents by their numbers from 0 or by their ids as pointers, else ``[]``."""
    names = [*map(str, order)]
    ids = [text_at(document, "id|doc_id|docno") for document in documents]
    for all_names in (ids, [*map(str, range(len(ids)))]):
        if sorted(names) == sorted(all_names):
            return [{"index": all_names.index(name)} for name in names]
    return []


def _pointers_in(value: object, name: str = "") -> Iterator[list[object]]:
    """The lists of places in a value, however deep, except in documents."""
    if isinstance(value, dict):
        for inner_name, inner in value.items():
            if inner_name != "choices":
                yield from _pointers_in(inner, inner_name)
    elif isinstance(value, list):
        are_places = any(_place_in(entry) is not None for entry in value)
        if are_places and (name in _USUAL or _are_scored(value)):
            yield value
        elif name not in _RERANKED:
            for entry in value:
                yield from _pointers_in(entry, name if isinstance(entry, list) else "")


def _are_scored(entries: list[object]) -> bool:
    """Whether any of these has a place with a score, and none a text."""
    places = [entry for entry in objects_in(entries) if _place_in(entry) is not None]
    are_scored = any("score" in guessed(tuple(place), of_item=True) for place in places)
    return are_scored and not any(place.get("text") for place in places)


def _document_at(entry: object, documents: list[object]) -> Values | None:
    """The document at which a result points, with its scores; ``None`` for none."""
    place = _place_in(entry)
    if not isinstance(entry, dict) or place is None or place >= len(documents):
        return None
    document = documents[place]
    scores = {name: inner for name, inner in entry.items() if isinstance(inner, float | int)}
    values = {**(document if isinstance(document, dict) else {"text": document}), **scores}
    return {name: inner for name, inner in values.items() if name not in _PLACES}


def _place_in(entry: object) -> int | None:
    if not isinstance(entry, dict):
        return None
    place = entry.get("corpus_id", entry.get("index"))
    return place if isinstance(place, int) and place >= 0 else None
