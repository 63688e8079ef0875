"""JSON files as streams of values: one value, one a line, or one after the other; their lists."""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from json import JSONDecodeError
from typing import Any, NoReturn

from relevansi import json_text
from relevansi.importers.results.files import File
from relevansi.importers.results.rows import (
    BARE_ID,
    ITEM_ROLES,
    OF_RESULTS,
    Values,
    as_text,
    guessed,
    plain_name,
)
from relevansi.json_text import RepeatedKey

LOOKED_AT = 50
"""Values of a file, or entries of a list, at which is looked to see what all are."""
_LONGEST_LITERAL = 2**20
_BLANKS = re.compile(r"[ \t\r\n]+")
_OF_ID = re.compile(r"[\d/_:#@.-]")


def read(file: File) -> Iterator[tuple[int, object]]:
    """Every JSON value of a file with the line it begins in; of a list its entries, from 1.

    Numbers that are none (NaN, infinite) are null. Raises `UnreadableFile` for what is not JSON,
    and where an object has two values of one key.
    """
    lines = ((number, _plain(text)) for number, text in file.lines() if text.strip())
    number, text = next(lines, (1, ""))
    try:
        value = _decoded(text)
    except (ValueError, RecursionError):
        yield from _values_in(file)
        return
    second = next(lines, None)
    if second is None:
        yield from _entries(number, value)
        return
    yield number, value
    for number, text in chain((second,), lines):
        yield number, decoded_line(file, number, text)


def _plain(text: str) -> str:
    """Text without the signs that begin the records of a JSON text sequence, which JSON has not."""
    return text.replace("\x1e", " ")


def decoded_line(file: File, number: int, text: str) -> Any:
    """The JSON value in a line of a file; raises `UnreadableFile`."""
    try:
        return _decoded(text)
    except (ValueError, RecursionError) as wrong:
        _refuse(file, wrong, number)


def _decoded(text: str) -> Any:
    """The JSON value in a text, or in the text of JSON that it is."""
    value = json_text.decode(text)
    return (literal(value) or value) if isinstance(value, str) else value


_WRAPS = (
    *("data", "response", "result", "results", "output", "body", "payload"),
    *("records", "items", "rows"),
)


def unwrapped(value: object) -> object:
    """What an object has that has nothing else, and no text or number of a question itself."""
    while isinstance(value, dict) and len(value) == 1:
        ((name, inner),) = value.items()
        if name not in _WRAPS or not isinstance(inner, dict | list):
            break
        parts = inner.values() if isinstance(inner, dict) else inner
        if not all(isinstance(part, dict | list) for part in parts):
            break
        value = inner
    return value


def _entries(line: int, value: object) -> Iterator[tuple[int, object]]:
    value = unwrapped(value)
    if isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
        yield from enumerate(value, 1)
    else:
        yield line, value


def _values_in(file: File) -> Iterator[tuple[int, object]]:
    """The value, or the values one after the other, that the text of a file holds."""
    text = _plain(file.whole_text())
    with suppress(ValueError, RecursionError):
        value = json_text.decode(text)
        yield from _entries(1, value)
        return
    at = _after_blanks(text, 0)
    try:
        while at < len(text):
            value, end = json_text.decode_at(text, at)
            yield text.count("\n", 0, at) + 1, value
            at = _after_blanks(text, end)
    except (ValueError, RecursionError) as wrong:
        _refuse(file, wrong, 1)


def _after_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at


def _refuse(file: File, wrong: Exception, line: int) -> NoReturn:
    """Refuse a file for what is wrong with JSON that begins in a line."""
    match wrong:
        case RecursionError():
            file.refuse("nested_too_deep", line=line, limit=json_text.MAX_DEPTH)
        case RepeatedKey():
            file.refuse("json_key_repeated", line=line + wrong.line - 1, place=f"“{wrong.key}”")
        case JSONDecodeError() if wrong.doc.startswith("'", wrong.pos):
            file.refuse("results_printed", line=line + wrong.lineno - 1, text=wrong.doc[:60])
        case JSONDecodeError():
            file.refuse("json_broken", line=line + wrong.lineno - 1, column=wrong.colno)
        case _:
            file.refuse("json_broken", line=line, column=1)


def literal(text: str) -> object:
    """The list or object in a text, as JSON or as Python and numpy print it; else ``None``.

    Raises ``RepeatedKey``.

    >>> literal("['a' 'b']"), literal("[('a', 1)]"), literal("plain")
    (['a', 'b'], [['a', 1]], None)
    """
    start = text.lstrip()[:1]
    if start not in ("[", "{", "(") or len(text) > _LONGEST_LITERAL:
        return None
    try:
        return json_text.decode(text)
    except RepeatedKey:
        raise
    except (ValueError, RecursionError):
        # numpy prints no commas between texts, which Python would join into one.
        spaced = text.replace("' '", "', '").replace("'\n '", "', '").replace('" "', '", "')
    try:
        tree = ast.parse(spaced.lstrip(" \t"), mode="eval")
        # In JSON a tuple is a list, and there are no sets, which have no order.
        value: object = json_text.decode(json.dumps(ast.literal_eval(tree)))
    except (SyntaxError, RecursionError, MemoryError, TypeError, ValueError):
        return None
    _check_printed(tree)
    return value


def _check_printed(tree: ast.Expression) -> None:
    """Raise ``RepeatedKey`` where a dictionary as Python prints it has two values of one key."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            values: dict[str, str] = {}
            for key, value in zip(node.keys, node.values, strict=True):
                name, printed = ast.unparse(key) if key else "", ast.unparse(value)
                if values.setdefault(name, printed) != printed:
                    raise RepeatedKey(name, node.lineno)


def at(value: object, path: str) -> object:
    """What stands at a path of names with dots; of lists on the way, what their entries have there.

    A name ``*`` is any one, if only one of them leads on. A text on the way that holds JSON is
    read. ``None`` where nothing stands there.

    >>> at({"out": [{"text": "a"}, {"text": "b"}]}, "out.text")
    ['a', 'b']
    """
    if not path:
        return value
    if isinstance(value, str):
        value = literal(value)
    if isinstance(value, dict):
        if path in value:
            return value[path]
        name, _, inner_path = path.partition(".")
        if name == "*":
            leaves = (at(below, inner_path) for below in value.values())
            inner = [leaf for leaf in leaves if leaf is not None]
            return inner[0] if len(inner) == 1 else None
        return at(value.get(name), inner_path) if name in value else None
    if isinstance(value, list):
        return _joined(value[:10_000], path)
    return None


def _joined(entries: list[object], path: str) -> list[object] | None:
    """What stands at a path from each of these; nothing for an entry of lists that has none.

    What is no list among lists, or no object, is null, so that those behind it keep their places.
    """
    leaves = [at(entry, path) for entry in entries]
    if not any(isinstance(leaf, list) for leaf in leaves):
        return [leaf for leaf in leaves if leaf is not None] or None
    joined: list[object] = []
    for entry, leaf in zip(entries, leaves, strict=True):
        if leaf is not None or not isinstance(entry, dict | list):
            joined += leaf if isinstance(leaf, list) else [None]
    return joined


def text_at(value: object, paths: str) -> str:
    """The text at the first of these paths that has one."""
    for path in filter(None, paths.split("|")):
        inner = at(value, path)
        if inner is not None and (text := as_text(inner).strip()):
            return text
    return ""


_OF_SPLIT = (
    ("columns", "manifest.columns"),
    ("data", "rows", "values", "data_array", "result.data_array", "records", "results"),
)
"""Where tables have the names of their columns, and their rows: pandas, SQL engines, Databricks."""


def rows_of_columns(value: object) -> list[Values] | None:
    """The rows of a table that is stored by columns, ``None`` for another value.

    As pandas writes it (an object of columns or of rows, ``columns`` beside ``data``, or rows below
    ``data``), or as lists of one length, one of them of texts.

    >>> rows_of_columns({"query": {"0": "a"}, "text": {"0": "b"}})
    [{'query': 'a', 'text': 'b'}]
    """
    if not isinstance(value, dict):
        return None
    objects = [inner for inner in value.values() if isinstance(inner, dict)]
    rows = _of_split(value)
    if rows or len(objects) < len(value):
        return rows or _of_lists(value)
    return _of_objects(value, objects) if objects else None


def _of_objects(value: Values, objects: list[Values]) -> list[Values] | None:
    """The rows of an object of rows, by number, or of columns, whose values have the same keys."""
    if all(name.isdecimal() for name in value):
        return objects
    keys = list(objects[0])
    if len(value) < 2 or not keys or any(list(inner) != keys for inner in objects):
        return None
    return [dict(zip(value, [inner[key] for inner in objects], strict=True)) for key in keys]


def _of_split(value: Values) -> list[Values] | None:
    """The rows of ``data``, where these are lists in the order of ``columns``, or objects."""
    columns, data = ([*filter(None, (at(value, path) for path in paths))] for paths in _OF_SPLIT)
    if not data or not isinstance(data[0], list):
        return None
    if all(isinstance(row, dict) for row in data[0]):
        return data[0]
    if not columns or not isinstance(columns[0], list):
        return None
    names = [as_text(at(name, "name") or name) for name in columns[0]]
    if any(not isinstance(row, list) or len(row) != len(names) for row in data[0]):
        return None
    return [dict(zip(names, row, strict=True)) for row in data[0]]


def _of_lists(value: Values) -> list[Values] | None:
    """The rows of lists of one length, which is that of the first list of texts."""
    lists = {name: inner for name, inner in value.items() if isinstance(inner, list) and inner}
    texts = [inner for inner in lists.values() if all(isinstance(cell, str) for cell in inner)]
    if not texts:
        return None
    columns = {name: inner for name, inner in lists.items() if len(inner) == len(texts[0])}
    cells = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in cells] if len(columns) > 1 else None


def entries_of(listed: list[object], name: str, beside: Mapping[str, object]) -> list[object]:
    """The entries of a list with what equally long lists beside it state of them: ids, scores.

    An entry that has such lists itself is a result for each of their texts.
    """
    part = part_of(name) or "text"
    columns = _columns_beside(listed, part, beside)
    texts = [entry for entry in listed if isinstance(entry, str)]
    are_ids = ROLE_OF_PART.get(part) == "doc_id"
    if texts and not columns and not objects_in(listed):
        # Without a digit or a sign they are words, such as names.
        are_bare = all(map(BARE_ID.fullmatch, texts)) and any(map(_OF_ID.search, texts))
        part = "doc_id" if are_bare else part
    rows: list[object] = []
    for place, entry in enumerate(listed):
        cells = {column: values[place] for column, values in columns.items()}
        if isinstance(entry, dict):
            rows += _with_cells(entry, cells)
        elif isinstance(entry, list) and entry:
            rows.append(entry)
        elif columns or are_ids or (part == "doc_id" and isinstance(entry, str)):
            rows.append({part: entry, **cells})
        else:
            rows.append(entry)
    return rows


def _columns_beside(
    listed: list[object], part: str, beside: Mapping[str, object]
) -> dict[str, list[object]]:
    """The lists as long as one of this part, the first of each role, by the part that each has."""
    columns: dict[str, list[object]] = {}
    roles = {"", ROLE_OF_PART.get(part, part)}
    for name, cells in beside.items():
        role = ROLE_OF_PART.get(part_of(name), "")
        if role not in roles and isinstance(cells, list) and len(cells) == len(listed):
            roles.add(role)
            columns[part_of(name)] = cells
    return columns


def _with_cells(entry: Values, cells: Values) -> list[Any]:
    """An entry with the cells that it does not state itself, else the results in its own lists."""
    roles = guessed(tuple(entry), of_item=True)
    are_texts = isinstance(entry.get(roles.get("text", "")), list)
    has_id = isinstance(entry.get(roles.get("doc_id", "")), str | int)
    several = rows_of_lists(entry) if are_texts and not has_id else None
    return several or [{n: v for n, v in cells.items() if ROLE_OF_PART[n] not in roles} | entry]


def rows_of_lists(value: Values) -> list[object] | None:
    """The results that an object of equally long lists states: ``ids``, ``texts``, ``scores``."""
    lists = of_one_search(value)
    for role in ("text", "doc_id"):
        for name, inner in lists.items():
            if ROLE_OF_PART.get(part_of(name)) == role and not has_objects(inner):
                rows = entries_of(inner, name, lists)
                return rows if any(isinstance(row, dict) and len(row) > 1 for row in rows) else None
    return None


def of_one_search(value: Values) -> dict[str, list[Any]]:
    """The lists in an object, those of one search among several without the list around them."""
    lists = {name: inner for name, inner in value.items() if isinstance(inner, list)}
    inner_lists = {
        name: inner
        for name, outer in lists.items()
        if (inner := only_list(outer)) is not outer and part_of(name)
    }
    are_of_one = len(inner_lists) > 1 and len({*map(len, inner_lists.values())}) == 1
    return lists | inner_lists if are_of_one else lists


def only_list(value: Any) -> Any:
    """The only list in a list; any other value as it is."""
    is_one = isinstance(value, list) and len(value) == 1 and isinstance(value[0], list)
    return value[0] if is_one else value


def objects_in(value: object) -> list[Values]:
    """The objects in a list, or the one that a value is; ``[]`` for any other value."""
    entries = value if isinstance(value, list) else [value]
    return [entry for entry in entries if isinstance(entry, dict)]


def has_objects(listed: Sequence[object]) -> bool:
    return any(isinstance(entry, dict | list) for entry in listed)


@lru_cache(maxsize=1024)
def part_of(name: str) -> str:
    """What a list of this name holds of each result, as an item names it; "" for nothing known.

    >>> part_of("ids"), part_of("retrieved_context_ids"), part_of("answers")
    ('id', 'id', '')
    """
    plain = plain_name(name)
    while plain:
        parts = (plain, plain.removesuffix("s"), re.sub("ies$", "y", plain))
        part = next((part for part in parts if part in ROLE_OF_PART), "")
        if part or not OF_RESULTS.match(plain):
            return part
        plain = OF_RESULTS.sub("", plain)
    return ""


ROLE_OF_PART = {name: role for role, names in ITEM_ROLES.items() for name in names.split()} | {
    "metadata": "metadata",
    "distance": "distance",
}

_RANKED = dict.fromkeys(("result", "hasil", "hit", "top"), "results") | {
    "dokumen": "documents",
    "konteks": "contexts",
}
"""The list that columns with a number have, by their name without it."""


@lru_cache(maxsize=64)
def numbered_columns(names: tuple[str, ...]) -> dict[str, list[str]]:
    """The columns of each list that has a column for each rank from 0 or 1, by the list's name.

    >>> numbered_columns(("query", "Result 1", "Result 2"))
    {'results': ['Result 1', 'Result 2']}
    >>> numbered_columns(("query", "top_1_id", "top_2_id"))
    {'ids': ['top_1_id', 'top_2_id']}
    """
    by_number: dict[str, dict[int, str]] = defaultdict(dict)
    for name in names:
        numbered = re.fullmatch(r"(\D+?)[ _.-]?(\d{1,3})(?:[ _.-](\D+))?", name.strip())
        stem = plain_name(numbered[3] or numbered[1]) if numbered else ""
        key = _RANKED.get(stem) or (f"{stem}s" if part_of(stem) else "")
        if numbered and key:
            by_number[key].setdefault(int(numbered[2]), name)
    lists = {
        key: [columns[number] for number in sorted(columns)]
        for key, columns in by_number.items()
        if len(columns) > 1 and min(columns) < 2 and max(columns) - min(columns) < len(columns)
    }
    return {"results": lists["ranks"]} if [*lists] == ["ranks"] else lists
