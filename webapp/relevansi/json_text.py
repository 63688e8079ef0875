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
_SEPARATOR = re.compile(r"[\s,:]*")


class RepeatedKey(ValueError):
    """An object has two values of one ``key``; ``line`` is that of the second, from 1."""

    def __init__(self, key: str, line: int) -> None:
        super().__init__(key, line)
        self.key, self.line = key, line

    def __str__(self) -> str:
        return f'"{self.key}" has two values (line {self.line})'


def finite_or_null(number: str) -> float | None:
    """The number in digits or a word; ``None`` for NaN, an infinite and a far too large one."""
    value = float(number)
    return value if math.isfinite(value) else None


def integer_or_infinite(digits: str) -> int | float:
    """The integer in digits, infinite where it has too many."""
    return int(digits) if len(digits) <= LONGEST_INTEGER else math.inf


IMPOSSIBLE_AS_NULL = json.JSONDecoder(
    parse_constant=finite_or_null,
    parse_float=finite_or_null,
    parse_int=lambda digits: int(digits) if len(digits) <= LONGEST_INTEGER else None,
)
"""Reads NaN, infinite and far too large numbers as null."""


def decode(text: str, decoder: json.JSONDecoder = IMPOSSIBLE_AS_NULL, *, depth: int = 0) -> Any:
    """The value in a text; `decoder` reads what a strict one does not: NaN, half a character.

    `depth` is how deep the value will lie in another. Raises ``ValueError`` for other texts,
    ``RepeatedKey`` among them, and ``RecursionError`` beyond ``MAX_DEPTH``.
    """
    # msgspec is several times as fast; only what it refuses goes through the slow decoder.
    try:
        value = msgspec.json.decode(text)
        n_keys = _count_keys(value, depth)
    except (msgspec.DecodeError, UnicodeEncodeError, OverflowError):
        value = decoder.decode(text)
        n_keys = _count_keys(value, depth)
    _check_keys(n_keys, text)
    return value


def decode_at(text: str, start: int) -> tuple[Any, int]:
    """The value at a place in a text, and where it ends; raises as ``decode`` does."""
    value, end = IMPOSSIBLE_AS_NULL.raw_decode(text, start)
    try:
        _check_keys(_count_keys(value), text[start:end])
    except RepeatedKey as repeated:
        line = text.count("\n", 0, start) + repeated.line
        raise RepeatedKey(repeated.key, line) from None
    return value, end


def entries(text: str, start: int) -> Iterator[tuple[str, int]]:
    """The key and the place of each value of the object or list at `start`; "" keys in a list."""
    is_object = text[start] == "{"
    at = _after_separator(text, start + 1)
    while text[at] not in "]}":
        key = ""
        if is_object:
            key, end = IMPOSSIBLE_AS_NULL.raw_decode(text, at)
            at = _after_separator(text, end)
        yield key, at
        _, end = IMPOSSIBLE_AS_NULL.raw_decode(text, at)
        at = _after_separator(text, end)


def _after_separator(text: str, at: int) -> int:
    separator = _SEPARATOR.match(text, at)
    assert separator is not None
    return separator.end()


def _count_keys(value: Any, depth: int = 0) -> int:
    """How many keys the objects of a value have; refuses what is nested too deep or too large."""
    if depth > MAX_DEPTH:
        raise RecursionError
    # Every value of every file passes here: the exact types that a decoder makes are compared,
    # which takes half the time of isinstance.
    count = 0
    if type(value) is dict:
        count = len(value)
        value = value.values()
    elif type(value) is not list:
        return 0
    for entry in value:
        kind = type(entry)
        if kind is dict or kind is list:
            count += _count_keys(entry, depth + 1)
        elif kind is int and not -_LARGEST < entry < _LARGEST:
            raise OverflowError
    return count


def _check_keys(n_keys: int, text: str) -> None:
    """Raise ``RepeatedKey`` where an object has two values of one key.

    A text with as many keys as its decoded value repeats none. Where it seems to have more, a
    string in it may only look like a key: then it is decoded again, pair by pair.
    """
    if n_keys == len(_KEY.findall(text)):
        return
    try:
        json.loads(text, object_pairs_hook=_unique)
    except RepeatedKey:
        # Its line is known only to a walk through the text, which is slow.
        start = re.search(r"[\[{]", text)
        assert start is not None
        raise next(_repeated(text, start.start())) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) == len(pairs):
        return values
    for key, value in pairs:
        if _differ(values[key], value):
            raise RepeatedKey(key, 1)
    return values


def _differ(first: Any, second: Any) -> bool:
    return type(first) is not type(second) or first != second  # 1 == True, and 1 == 1.0


def _repeated(text: str, start: int) -> Iterator[RepeatedKey]:
    """Each key with another value than before in the object or list at a place, and within."""
    values: dict[str, Any] = {}
    for key, at in entries(text, start):
        value, _ = IMPOSSIBLE_AS_NULL.raw_decode(text, at)
        if text[start] == "{" and _differ(values.setdefault(key, value), value):
            yield RepeatedKey(key, text.count("\n", 0, at) + 1)
        if text[at] in "{[":
            yield from _repeated(text, at)
