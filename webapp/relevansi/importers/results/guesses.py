"""Guesses at JSON of a shape that nobody told of: its question, its list, what is which."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain, islice

from relevansi.importers.results.records import LOOKED_AT, at, objects_in
from relevansi.importers.results.rows import (
    Values,
    as_number,
    as_text,
    guessed,
    plain_name,
)

_DEEPEST = 6
_KINDS = {"NoneType": "null", "bool": "true/false", "int": "0", "float": "0", "str": "text"}


def described(value: object, depth: int = 0) -> str:
    """The names in an object with the kind of each value, as it would be written.

    >>> described({"query": "red", "results": [True]})
    'query: text, results: [true/false]'
    """
    if isinstance(value, dict):
        parts = [f"{name}: {_sketch(inner, depth)}" for name, inner in [*value.items()][:20]]
        return ", ".join(parts)[:500]
    return _sketch(value, depth)


def _sketch(value: object, depth: int) -> str:
    if isinstance(value, list):
        return f"[{_sketch(value[0], depth + 1)}]" if value and depth < 3 else "[]"
    if isinstance(value, dict):
        return f"{{{described(value, depth + 1)}}}" if depth < 3 else "{}"
    return _KINDS[type(value).__name__]


def paths_of(value: object, start: str = "", *, into_lists: bool = False) -> dict[str, str]:
    """Every path in an object to a scalar value or a list, with the beginning of what is there."""
    paths: dict[str, str] = {}
    for name, inner in value.items() if isinstance(value, dict) else ():
        path = f"{start}.{name}" if start else name
        if isinstance(inner, list):
            paths[path] = f"[{len(inner)}]"
            for entry in inner[:_FIRST] if into_lists else ():
                paths |= paths_of(entry, path, into_lists=True)
        elif isinstance(inner, dict) and path.count(".") < _DEEPEST:
            paths |= paths_of(inner, path, into_lists=into_lists)
        elif not isinstance(inner, dict) and inner is not None:
            paths[path] = as_text(inner)[:80]
    return dict(islice(paths.items(), 200))


_FIRST = 5  # entries of a list whose paths are looked for
_ASKS = re.compile("query|question|search|prompt|terms?(?:$|_)|keyword|input|utterance|(?:^|_)ask")
_WORDS = re.compile(r"[^\W\d_]{2,}\s.*[^\W\d_]{2,}|[^\W\d_\x00-\x7f]{4,}")
_NAMES_ID = re.compile("(?:id|key|code|slug|url|uri|link|href|path|file|name)$")


def guess(value: object) -> dict[str, str]:
    """Role to path in an object of a shape nobody told of, ``{}`` without a question and a list.

    Objects in a list are looked at together: a value that they share is no question, one that their
    results share no id.
    """
    objects = objects_in(value)[:LOOKED_AT]
    paths: dict[str, str] = {}
    for entry in objects[:_FIRST]:
        paths = paths_of(entry, into_lists=True) | paths
    lists: dict[str, list[Values]] = {}
    for path in paths:
        inner = [leaf for entry in objects if isinstance(leaf := at(entry, path), list)]
        listed = objects_in([*chain.from_iterable(inner)])
        if any(isinstance(at(item, name), str) for item in listed for name in paths_of(item)):
            lists[path] = listed
    if not lists:
        return {}
    roles = {path: _guess_of_items(listed) for path, listed in lists.items()}
    items = max(lists, key=lambda path: (len(roles[path]), len(lists[path])))
    of_questions = [entry for entry in objects if isinstance(at(entry, items), list)]
    texts: dict[str, list[str]] = {}
    for path in paths:
        values = [at(entry, path) for entry in of_questions]
        are_single = not any(isinstance(value, list) and value[1:] for value in values)
        if are_single and path not in lists and not path.startswith(f"{items}."):
            texts[path] = [*map(as_text, values)]
    query = _guess_of_question(texts)
    nested = next(filter(None, (guess(lists[path]) for path in sorted(lists, key=len))), {})
    if nested and (_asks(nested["query"]) or not _asks(query)):
        return nested
    columns = {"query": query, "items": items, **roles[items]}
    return columns if query and "," not in "".join(columns.values()) else {}


def _asks(path: str) -> int:
    """How much a path is called as questions are: its last name, a name on the way, not at all."""
    name = plain_name(path.rpartition(".")[2])
    if _NAMES_ID.search(name) or name.endswith(("mode", "type")):
        return 0
    return 2 if _ASKS.search(name) else int(bool(_ASKS.search(plain_name(path))))


def _guess_of_question(texts: Mapping[str, list[str]]) -> str:
    """The path whose values look most like questions, "" for none; `texts` has those of each."""

    def likeness(path: str) -> tuple[int, bool, bool]:
        are_words = len({*texts[path]}) > 1 and all(map(str.isalpha, texts[path]))
        return _asks(path), any(map(_WORDS.search, texts[path])), are_words

    paths = [
        path
        for path, values in texts.items()
        if any(as_number(value) is None for value in filter(None, values))
        and (len(values) < 2 or len({*values}) > 1)
    ]
    best = max(paths, key=likeness, default="")
    return best if best and any(likeness(best)) else ""


def _guess_of_items(entries: list[Values]) -> dict[str, str]:
    """The paths of the id and the text of the objects in a list."""
    texts: dict[str, list[str]] = {}
    for path in chain.from_iterable(map(paths_of, entries[:_FIRST])):
        if any(isinstance(at(entry, path), str | int) for entry in entries):
            texts[path] = [as_text(at(entry, path)) for entry in entries]
    names = {path: plain_name(path.rpartition(".")[2]) for path in texts}
    lengths = {path: sum(map(len, values)) for path, values in texts.items()}
    usual = guessed(tuple(dict.fromkeys(names.values())), of_item=True)
    of_text = [path for path in texts if names[path] == usual.get("text")] or [*texts]
    text = max(of_text, key=lambda path: lengths[path], default="")
    ids = [path for path in texts if names[path] == usual.get("doc_id")]
    for path, values in texts.items():
        is_other = names[path] in {usual.get("rank"), usual.get("score"), usual.get("title")}
        is_word = not any(" " in value or not value for value in values)
        is_number = all(value.isdecimal() for value in values)
        is_constant = len({*values}) < min(len(values), 2)
        if is_word and not is_constant and path != text and not is_other:
            ids += [path] if _NAMES_ID.search(names[path]) or not is_number else []
    ids.sort(
        key=lambda path: (names[path] != usual.get("doc_id"), not _NAMES_ID.search(names[path]))
    )
    return {"doc_id": ids[0], "text": text} if ids else {"text": text} if text else {}
