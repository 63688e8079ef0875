"""JSON from outside, decoded in one place: a key that an object has twice is never read as one.

Which of two values is meant nobody can know, and readers of JSON do not agree. Equal ones pass.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import msgspec

MAX_DEPTH = 64
"""Lists and objects within one another."""
LONGEST_INTEGER = 30
"""Digits; longer integers are mistakes, and slow to convert."""

_LARGEST = 10**LONGEST_INTEGER
_KEY = re.compile(r'"\s*:')
_BETWEEN = re.compile(r"[\s,:]*")


class RepeatedKey(ValueError):
    """An object has two values of one ``key``; ``line`` is that of the second, from 1."""

    def __init__(self, key: str, line: int) -> None:
        super().__init__(key, line)
        self.key, self.line = key, line

    def __str__(self) -> str:
        return f'"{self.key}" has two values (line {self.line})'


def null_of(number: str) -> float | None:
    """The number in digits or a word, ``None`` where it is none: NaN, infinite, far too large."""
    value = float(number)
    return value if math.isfinite(value) else None


def integer_of(digits: str) -> int | float:
    """The integer in digits, infinite where it has too many."""
    return int(digits) if len(digits) <= LONGEST_INTEGER else math.inf


NULLS = json.JSONDecoder(
    parse_constant=null_of,
    parse_float=null_of,
    parse_int=lambda digits: int(digits) if len(digits) <= LONGEST_INTEGER else None,
)
"""Reads numbers that are none as null."""


def decoded(text: str, decoder: json.JSONDecoder = NULLS, *, depth: int = 0) -> Any:
    """The value in a text; `decoder` reads what a strict one does not: NaN, half a character.

    `depth` is that at which the value will be kept in another. Raises ``ValueError`` for other
    texts, ``RepeatedKey`` among them, and ``RecursionError`` beyond ``MAX_DEPTH``.
    """
    try:
        value = msgspec.json.decode(text)
        n_keys = _count_keys(value, depth)
    except (msgspec.DecodeError, UnicodeEncodeError, OverflowError):
        value = decoder.decode(text)
        n_keys = _count_keys(value, depth)
    _check_keys(n_keys, text)
    return value


def decoded_at(text: str, start: int) -> tuple[Any, int]:
    """The value at a place in a text, and where it ends; raises as ``decoded`` does."""
    value, end = NULLS.raw_decode(text, start)
    try:
        _check_keys(_count_keys(value), text[start:end])
    except RepeatedKey as repeated:
        line = text.count("\n", 0, start) + repeated.line
        raise RepeatedKey(repeated.key, line) from None
    return value, end


def entries(text: str, start: int) -> Iterator[tuple[str, int]]:
    """The name of each value of the object or list at a place ("" in a list), and its own place."""
    is_object = text[start] == "{"
    at = _between(text, start + 1)
    while text[at] not in "]}":
        name = ""
        if is_object:
            name, at = NULLS.raw_decode(text, at)
            at = _between(text, at)
        yield name, at
        at = _between(text, NULLS.raw_decode(text, at)[1])


def _between(text: str, at: int) -> int:
    blanks = _BETWEEN.match(text, at)
    assert blanks is not None
    return blanks.end()


def _count_keys(value: Any, depth: int = 0) -> int:
    if depth > MAX_DEPTH:
        raise RecursionError
    count, inner = 0, value
    if type(value) is dict:
        count, inner = len(value), value.values()
    elif type(value) is not list:
        return 0
    for entry in inner:
        kind = type(entry)
        if kind is dict or kind is list:
            count += _count_keys(entry, depth + 1)
        elif kind is int and not -_LARGEST < entry < _LARGEST:
            raise OverflowError
    return count


def _check_keys(n_keys: int, text: str) -> None:
    """Raise ``RepeatedKey`` where an object has two values of one key.

    As many keys as places of keys in the text mean that none is there twice. There may be more of
    these, since a text within may have one.
    """
    if n_keys == len(_KEY.findall(text)):
        return
    try:
        json.loads(text, object_pairs_hook=_unique)
    except RepeatedKey:
        start = re.search(r"[\[{]", text)
        assert start is not None
        raise next(_repeated(text, start.start())) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    for key, value in pairs if len(values) < len(pairs) else ():
        if _differ(values[key], value):
            raise RepeatedKey(key, 1)
    return values


def _differ(first: Any, second: Any) -> bool:
    return type(first) is not type(second) or first != second


def _repeated(text: str, start: int) -> Iterator[RepeatedKey]:
    """Each key with another value than before in the object or list at a place, and within."""
    values: dict[str, Any] = {}
    for name, at in entries(text, start):
        value, _ = NULLS.raw_decode(text, at)
        if text[start] == "{" and _differ(values.setdefault(name, value), value):
            yield RepeatedKey(name, text.count("\n", 0, at) + 1)
        if text[at] in "{[":
            yield from _repeated(text, at)
