"""Which objects of a JSON value are questions, and where the list of each is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple
from urllib.parse import parse_qs

from relevansi.importers.results.json_items import item_in, parsed_block
from relevansi.importers.results.records import (
    LOOKED_AT,
    at,
    entries_of,
    has_objects,
    literal,
    objects_in,
    of_one_search,
    only_list,
    rows_of_lists,
    text_at,
)
from relevansi.importers.results.rows import (
    Values,
    as_text,
    guessed,
)
from relevansi.importers.results.shapes import (
    ENVELOPES,
    QUERY,
    USUAL,
    USUAL_ITEMS,
    Shape,
)

_OF_OBJECTS = re.compile(
    r"(?!outputs\.)(?:.*\.)?(?:output|response|references|referensi|evidence)|.*\.value"
)
"""Usual paths of lists that may be an answer, what it should be, or values of something else."""
GOLD = re.compile(
    "relevant|expected|gold|ground_?truth|reference_|positive|negative|qrel", re.IGNORECASE
)
"""What begins the name of a list that says what should be in the results."""
DEEPEST = 6
NO_ENVELOPES = re.compile("meta(?:data)?|config|params|parameters|settings|inputs?")
_MANY = 5  # objects side by side, which are of something else


def stands(value: object, path: str, depth: int = 0) -> bool:
    """Whether a path leads to something from any object in a JSON value."""
    if at(value, path) is not None:
        return True
    inner = (
        value if isinstance(value, list) else [*value.values()] if isinstance(value, dict) else ()
    )
    nested = (entry for entry in inner[:LOOKED_AT] if isinstance(entry, dict | list))
    return depth < DEEPEST and any(stands(entry, path, depth + 1) for entry in nested)


class Listing(NamedTuple):
    """A list of results and the path to it, or what stands `instead` of one."""

    entries: list[object] | None
    path: str = ""
    instead: object = None


def list_of(shape: Shape, value: Values) -> Listing:
    """The list of a question at the paths of a shape; only there where a person chose them."""
    return list_at(value, shape.items, is_exact=shape.is_mapped)


def list_at(value: Values, paths: str, *, is_exact: bool = False) -> Listing:
    """The list at the first of these paths that has one.

    The path may begin in any object beside the question, unless it `is_exact`. Nothing (null) is an
    empty list.
    """
    instead: object = None
    place = null = ""
    usual, others = ([], []) if is_exact else _envelopes(value)
    for start, path in _paths_in(value, ("", *usual, *others), paths):
        inner = _rows_at(value, path)
        is_usual = start not in others  # elsewhere nothing says that the list is one of results
        is_open = paths is USUAL_ITEMS or path.endswith(".value")
        if is_open and _OF_OBJECTS.fullmatch(path) and not _are_results(inner):
            continue
        if isinstance(inner, list) and (inner or is_usual):
            return Listing(_results_in(value, path, inner), path)
        is_nothing = inner in (None, {}) and is_usual
        if is_nothing and not null and path.startswith(place) and _has(value, path):
            null = path
        if inner is not None and instead is None and not null:
            instead, place = inner, f"{path}."
    return Listing([], null) if null else Listing(None, instead=instead)


def _rows_at(value: Values, path: str) -> object:
    """What stands at a path, as a list where it is the text of one or an object of results."""
    inner = at(value, path)
    if isinstance(inner, str):
        parsed = literal(inner)
        inner = parsed if isinstance(parsed, list) else inner
    if isinstance(inner, dict):
        inner = rows_of_lists(inner) or rows_of_ids(inner) or inner
    return inner


def _results_in(value: Values, path: str, listed: list[object]) -> list[object]:
    """The entries of the list at a path with what the lists beside it state of them."""
    outer, _, name = path.rpartition(".")
    holder = at(value, outer)
    beside = of_one_search(holder) if isinstance(holder, dict) else {}
    listed = _leaves(listed) if name == "children" else listed
    inner = only_list(listed)
    if inner is not listed:
        # A pair of a result and its score is no list in a list.
        are_pair = any(isinstance(entry, str | int | float) for entry in inner)
        is_of_one_search = not are_pair and (not inner or has_objects(inner))
        listed = inner if is_of_one_search else beside.get(name, listed)
    return entries_of(listed, name, beside)


def _paths_in(value: Values, starts: Sequence[str], paths: str) -> Iterator[tuple[str, str]]:
    """The paths with each of these starts whose next name an object has, and the start of each."""
    for start in starts:
        holder = value.get(start[:-1]) if start else value
        names = {name.partition(".")[0] for name in holder} if isinstance(holder, dict) else None
        for first, path in _split(paths):
            if names is None or first in names or first == "*":
                yield start, start + path


@lru_cache(maxsize=256)
def _split(paths: str) -> tuple[tuple[str, str], ...]:
    return tuple((path.partition(".")[0], path) for path in paths.split("|"))


def _envelopes(value: Values) -> tuple[list[str], list[str]]:
    """The beginnings of paths into the objects in which an answer may stand beside its question.

    First those of the usual names, then those of other ones.
    """
    usual = [*_usual_envelopes(tuple(value))]
    others = [
        f"{name}."
        for name, inner in value.items()
        if isinstance(inner, dict) and not (GOLD.match(name) or NO_ENVELOPES.fullmatch(name))
    ]
    if others:
        is_result = not guessed(tuple(value)).keys().isdisjoint(("doc_id", "rank", "score"))
        others = [] if is_result or len(others) > _MANY else [n for n in others if n not in usual]
    return usual, others


@lru_cache(maxsize=1024)
def _usual_envelopes(names: tuple[str, ...]) -> tuple[str, ...]:
    firsts = {name.partition(".")[0] for name in names}
    return tuple(f"{name}." for name in ENVELOPES.split("|") if name in firsts)


def _has(value: Values, path: str) -> bool:
    outer, _, name = path.rpartition(".")
    holder = at(value, outer)
    return path in value or (isinstance(holder, dict) and name in holder)


def rows_of_ids(value: Values) -> list[Values] | None:
    """The results that an object has by their ids, or by their ranks; ``None`` for another one."""
    if value and all(isinstance(score, float) for score in value.values()):
        scored: list[Values] = [{"doc_id": name, "score": score} for name, score in value.items()]
        return sorted(scored, key=lambda row: -row["score"])  # type: ignore[operator]
    entries: list[Values] = [
        inner if isinstance(inner, dict) else {"text": inner}
        for inner in value.values()
        if isinstance(inner, dict) or (isinstance(inner, str) and " " in inner.strip())
    ]
    if not entries or len(entries) < len(value) or not have_digits(value):
        return None
    roles = [guessed(tuple(entry), of_item=True).keys() for entry in entries]
    for entry, of_entry in zip(entries, roles, strict=True):
        if of_entry.isdisjoint(("rank", "score")) and not may_be_item(entry, USUAL):
            return None
    if all(map(str.isdecimal, value)):
        numbers = [*map(int, value)]
        are_places = sorted(numbers) in ([*range(len(value))], [*range(1, len(value) + 1)])
        if are_places or all("doc_id" in of_entry for of_entry in roles):
            return [{"rank": n, **entry} for n, entry in zip(numbers, entries, strict=True)]
    return [{"doc_id": name, **entry} for name, entry in zip(value, entries, strict=True)]


def have_digits(names: Iterable[str]) -> bool:
    return all(any(map(str.isdigit, name)) for name in names)


def _leaves(entries: list[object]) -> list[object]:
    """The results in a list of Vespa: beside them groups are left out, else it is in groups."""
    children = [at(entry, "children") for entry in entries]
    groups = [inner for inner in children if isinstance(inner, list)]
    results = [entry for entry in entries if not at(entry, "children")]
    return results or [leaf for group in groups for leaf in _leaves(group)]


def _are_results(value: object) -> bool:
    """Whether a list where answers may stand has objects that are no messages or blocks of one."""
    objects = objects_in(value) if isinstance(value, list) else []
    are_messages = any({"role", "finish_reason"} & entry.keys() for entry in objects)
    types = [entry.get("type", "Document") for entry in objects if not parsed_block(entry)]
    says_more = any(len(entry) > 1 for entry in objects)  # than the text of an answer
    return says_more and not are_messages and {*types} <= {"Document"}


def fits(shape: Shape, value: object) -> bool:
    """Whether an object is a question with its list, as the shape says."""
    if not isinstance(value, dict) or not is_wanted(shape, value):
        return False
    starts = ("", *chain(*_envelopes(value))) if shape.sign else ()
    signs = (start + path for start in starts for path in shape.sign.split("|"))
    if shape.sign and all(at(value, path) is None for path in signs):
        return False
    listed = list_of(shape, value).entries
    if listed is None:
        return False
    question = question_at(value, shape.query)[1]
    if QUERY in shape.query or shape.is_mapped:
        question = question or text_at(value, shape.query_id)
    is_empty = not listed or any(may_be_item(entry, shape) for entry in listed)
    return bool(question) and is_empty


def is_wanted(shape: Shape, value: Values) -> bool:
    path, *values = shape.only.split("|")
    return not path or as_text(at(value, path)) in values


def may_be_item(value: object, shape: Shape) -> bool:
    return isinstance(value, str | dict | list) and item_in(shape, value)[0] is not None


def question_at(value: object, paths: str) -> tuple[list[object], str]:
    """The earlier turns of a conversation and its last question, at the first path with one."""
    values = value if isinstance(value, dict) and QUERY in paths else {}
    words = values.get(guessed(tuple(values)).get("query", ""))
    words = words.strip() if isinstance(words, str) else ""
    for path in paths.split("|"):
        inner = at(value, path)
        if path == "params" and isinstance(inner, str):  # of an address, as Algolia has it
            inner = words or parse_qs(inner).get("query", "")
        is_envelope = isinstance(inner, dict) and path in ("inputs", "input", "request")
        turns, query = ([], "") if is_envelope else _turns(inner)
        if query:
            return turns, query
    return [], words


def _turns(value: object) -> tuple[list[object], str]:
    if isinstance(value, dict):  # a query in a search engine's language
        return [], words_of(value)
    if isinstance(value, list) and value and all(isinstance(turn, dict) for turn in value):
        turns = list(value)
        while turns:
            last = turns.pop()
            speaker = as_text(last.get("type") or last.get("role")).lower()
            if speaker in ("human", "user", ""):
                return turns, as_text(last.get("content")).strip()
        return [], ""
    if isinstance(value, list) and len({*map(as_text, value)}) > 1:
        return [], ""  # several questions
    return [], as_text(value).strip()


_FILTERS = {"filter", "must_not", "post_filter"}


def words_of(query: object, depth: int = 0) -> str:
    """The words that a query in a search engine's language looks for.

    >>> words_of({"match": {"body": {"query": "red dress", "operator": "and"}}})
    'red dress'
    """
    if isinstance(query, str):
        return query.strip()
    if isinstance(query, list):
        return next(filter(None, (words_of(part, depth + 1) for part in query[:100])), "")
    if not isinstance(query, dict) or depth > DEEPEST:
        return ""
    names = [
        name
        for name in ("query", "q", "value", "content", "text", "original", "query_text")
        if name in query
    ]
    inner = [query[name] for name in names] or [
        part
        for name, part in query.items()
        if name not in _FILTERS and (len(query) == 1 or isinstance(part, dict | list))
    ]
    return next(filter(None, (words_of(part, depth + 1) for part in inner)), "")
