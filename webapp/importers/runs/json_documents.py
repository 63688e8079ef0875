"""JSON files as plain values that every database can keep."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

from webapp.importers.runs.problems import UnreadableFile, error
from webapp.records import Problem

MAX_BYTES = 64 * 2**20
MAX_DEPTH = 64
_LONGEST_INTEGER = 30
"""Digits; longer integers are mistakes, and slow to convert."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_SIGNATURES = (
    ((b"\xff\xfe", b"\xfe\xff"), "utf16"),
    ((b"PK\x03\x04", b"\xd0\xcf\x11\xe0"), "archive"),
    ((b"%PDF",), "pdf"),
    ((b"\x89PNG", b"\xff\xd8\xff", b"GIF8"), "image"),
)


def load(
    name: str,
    data: bytes,
    *,
    expected: str,
    max_bytes: int = MAX_BYTES,
) -> tuple[object, tuple[Problem, ...]]:
    """The JSON value in `data`, and a problem for its impossible numbers (now null).

    Texts come without NUL and lone surrogates, which databases refuse; else as they are.
    `expected` is the catalogue's word for the expected kind of file. Raises `UnreadableFile`
    for other encodings, broken JSON, and files beyond the limits.
    """
    if len(data) > max_bytes:
        sizes = {"megabytes": math.ceil(len(data) / 2**20), "limit": max_bytes // 2**20}
        raise UnreadableFile(error("file_too_large", name, sizes))
    value = _parsed(name, _decoded(name, data, expected), expected)
    if _is_deeper(value, MAX_DEPTH):
        raise UnreadableFile(error("nested_too_deep", name, {"limit": MAX_DEPTH}))
    places: list[str] = []
    value = _storable(value, "", places)
    return value, tuple(_no_number(name, place) for place in places)


def storable_text(text: str) -> str:
    """`text` without NUL and lone surrogates."""
    if text.isascii() and "\x00" not in text:
        return text  # most are, and a pattern costs ten times as much
    return _UNSTORABLE.sub("", text)


def _decoded(name: str, data: bytes, expected: str) -> str:
    if not data.strip(b"\xef\xbb\xbf \t\r\n"):
        raise UnreadableFile(error("file_empty", name, {"expected": expected}))
    for starts, kind in _SIGNATURES:
        if data.startswith(starts):
            code = "not_utf8" if kind == "utf16" else "not_json"
            raise UnreadableFile(error(code, name, {"found": kind, "expected": expected}))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        kind = "binary" if b"\x00" in data[:1000] else "old_encoding"
        raise UnreadableFile(error("not_utf8", name, {"found": kind})) from wrong


def _parsed(name: str, text: str, expected: str) -> object:
    try:
        return json.loads(text, parse_int=_integer)
    except RecursionError as wrong:
        raise UnreadableFile(error("nested_too_deep", name, {"limit": MAX_DEPTH})) from wrong
    except json.JSONDecodeError as wrong:
        kind = _other_than_json(text)
        if kind:
            looks = {"found": kind, "expected": expected}
            raise UnreadableFile(error("not_json", name, looks)) from wrong
        stop = error("json_broken", name, {"column": wrong.colno}, line=wrong.lineno)
        raise UnreadableFile(stop) from wrong


def _other_than_json(text: str) -> str | None:
    """The kind of a text that does not begin as JSON, or that goes on behind its end."""
    start = text.lstrip()
    first_line = start.partition("\n")[0]
    if start.startswith("<"):
        return "html"
    if not start.startswith(("{", "[")):
        return "csv" if re.search(r"[,;\t]", first_line) else "plain_text"
    return "json_lines" if _is_object(first_line) else None


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line, parse_int=_integer), dict)
    except (ValueError, RecursionError):
        return False


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else math.inf


def _is_deeper(value: object, limit: int) -> bool:
    """Whether lists and objects are nested more than `limit` deep."""
    level = [value]
    for _ in range(limit + 1):
        if not level:
            return False
        level = [inner for outer in level for inner in _inside(outer)]
    return bool(level)


def _inside(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _storable(value: object, place: str, not_numbers: list[str]) -> object:
    """`value` with texts cleaned and impossible numbers null; their places are noted."""
    match value:
        case str():
            return storable_text(value)
        case dict():
            return {
                storable_text(key): _storable(inner, _joined(place, key), not_numbers)
                for key, inner in value.items()
            }
        case list():
            return [_storable(v, f"{place}[{i}]", not_numbers) for i, v in enumerate(value)]
        case float() if not math.isfinite(value):
            not_numbers.append(place)
            return None
        case _:
            return value


def _joined(place: str, key: str) -> str:
    key = storable_text(key)
    return f"{place}.{key}" if place else key


def _no_number(name: str, place: str) -> Problem:
    return error("number_not_finite", name, {"place": place, "outcome": "value_ignored"})
