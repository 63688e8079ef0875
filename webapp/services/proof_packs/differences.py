"""The differences of two versions of a file: documents key by key, tables cell by cell."""

from __future__ import annotations

import csv
import difflib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from math import isclose

from msgspec import Struct, field

from webapp.importers.runs.csv_ratings import original_text

Value = str | int | float | bool | None
Place = tuple[str, ...]
Found = tuple[Place, Value, Value]
"""A place with the value stated there, and the value it should have."""

MOST = 20_000
"""Differences that are kept; the rest is counted."""

MOST_TEXT_LINES = 40
"""Lines that are kept of the comparison of a file line by line."""

LONGEST_FILE = 2_000
"""A file of more lines is not compared line by line: the time grows with their square."""

_LONGEST = 120
_TOLERANCE = 1e-9
"""Figures nearer than this are equal: another machine may add up in another order."""


class DifferenceKind(StrEnum):
    """The kinds of difference: in a file as such, or in its content."""

    HASH = "hash"
    MISSING = "missing"
    UNLISTED = "unlisted"
    UNREADABLE = "unreadable"
    VERDICT = "verdict"
    FIGURE = "figure"
    CELL = "cell"


class PackDifference(Struct, frozen=True):
    """One value that two parts of a proof pack give differently.

    ``stated`` is the value in ``file`` at ``place``, ``computed`` the value from ``source``.
    """

    kind: DifferenceKind
    file: str
    place: Place = ()
    stated: Value = None
    computed: Value = None
    source: str = ""


class Differences(Struct):
    """Differences as they are found, up to ``MOST``."""

    found: list[PackDifference] = field(default_factory=list)
    left_out: int = 0
    texts: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many were found, kept or not."""
        return len(self.found) + self.left_out

    def add(self, difference: PackDifference) -> None:
        """Keep `difference`, or count it where there are too many."""
        if len(self.found) < MOST:
            self.found.append(difference)
        else:
            self.left_out += 1

    def add_all(self, kind: DifferenceKind, file: str, source: str, found: Iterator[Found]) -> None:
        """Keep the differences found in `file` against the values from `source`."""
        for place, stated, computed in found:
            self.add(PackDifference(kind, file, place, stated, computed, source))


def text_lines(stated: bytes, computed: bytes, file: str, source: str) -> tuple[str, ...]:
    r"""Return a unified diff from the stated text to the computed one; empty for long files.

    >>> text_lines(b"a\nb\n", b"a\nc\n", "rated.csv", "verdicts.csv")
    ('--- rated.csv', '+++ verdicts.csv', '@@ -1,2 +1,2 @@', ' a', '-b', '+c')
    """
    one, other = (data.decode("utf-8", "replace").splitlines() for data in (stated, computed))
    if max(len(one), len(other)) > LONGEST_FILE:
        return ()
    diff = difflib.unified_diff(one, other, file, source, n=1, lineterm="")
    lines = [str(scalar(line)) for line in islice(diff, MOST_TEXT_LINES + 1)]
    return tuple(lines[:MOST_TEXT_LINES]) + ("…",) * (len(lines) > MOST_TEXT_LINES)


def documents(stated: object, computed: object, place: Place = ()) -> Iterator[Found]:
    """Yield where two JSON values differ, by the keys that lead there.

    Entries of lists of questions and of results are named by their numbers. A key that is not
    stated means nothing, none, no or 0, since an earlier version may not have had it.

    >>> list(documents({"a": [1, 2]}, {"a": [1, 3], "b": None, "c": 1}))
    [(('a', '2'), 2, 3), (('c',), '-', 1)]
    """
    if isinstance(stated, dict) and isinstance(computed, dict):
        for key in dict.fromkeys((*computed, *stated)):
            if key in stated and key in computed:
                yield from documents(stated[key], computed[key], (*place, str(key)))
            elif key in stated or computed[key]:
                yield ((*place, str(key)), _shown(stated, key), _shown(computed, key))
    elif isinstance(stated, list) and isinstance(computed, list):
        if len(stated) != len(computed):
            yield (*place, "length"), len(stated), len(computed)
        for number, (one, other) in enumerate(zip(stated, computed, strict=False), start=1):
            yield from documents(one, other, (*place, _number(other, number)))
    elif not _equal(stated, computed):
        yield place, scalar(stated), scalar(computed)


def tables(stated: bytes, computed: bytes, keys: slice) -> Iterator[Found]:
    """Yield where two CSV files differ, by the cells that are a line's `keys` and the column."""
    one, other = _cells(stated), _cells(computed)
    header = other[0]
    if one[:1] != other[:1]:
        yield ("header",), scalar(one[:1]), scalar(other[:1])
        return
    if len(one) != len(other):
        yield ("lines",), len(one), len(other)
    for left, right in zip(one[1:], other[1:], strict=False):
        where = tuple(
            f"{name} {cell}" for name, cell in zip(header[keys], right[keys], strict=False)
        )
        if len(left) != len(right):
            yield (*where, "cells"), len(left), len(right)
        for column, a, b in zip(header, left, right, strict=False):
            if a != b:
                yield (*where, column), scalar(a), scalar(b)


def trec_files(stated: bytes, computed: bytes, values: slice) -> Iterator[Found]:
    """Yield where two TREC files differ, by question and document; `values` are the rest."""
    one, other = _trec(stated, values), _trec(computed, values)
    for key in dict.fromkeys((*other, *one)):
        if one.get(key) != other.get(key):
            yield (f"query_id {key[0]}", *key[1:]), one.get(key), other.get(key)
    if list(one) != list(other) or stated.count(b"\n") != computed.count(b"\n"):
        yield ("order of lines",), stated.count(b"\n"), computed.count(b"\n")


def numbers(document: object) -> int:
    """Return how many numbers a JSON value contains.

    >>> numbers({"a": [1, None, 2.5], "b": True})
    2
    """
    if isinstance(document, dict):
        return sum(map(numbers, document.values()))
    if isinstance(document, list):
        return sum(map(numbers, document))
    return int(isinstance(document, (int, float)) and not isinstance(document, bool))


def scalar(value: object) -> Value:
    """`value` as a report shows it, cut short where it is long."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    text = value if isinstance(value, str) else _written(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _written(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "…"


def _shown(document: Mapping[str, object], key: str) -> Value:
    """Return the value of `document` under `key`, ``-`` if it has no such key."""
    return scalar(document[key]) if key in document else "-"


def _number(entry: object, number: int) -> str:
    """Return the name of an entry of a list: its question or rank, else its place."""
    for name in ("query_id", "rank"):
        if isinstance(entry, dict) and name in entry:
            return f"{name} {entry[name]}"
    return str(number)


def _equal(stated: object, computed: object) -> bool:
    if isinstance(stated, bool) or isinstance(computed, bool):
        return stated is computed
    if isinstance(stated, (int, float)) and isinstance(computed, (int, float)):
        return stated == computed or _near(stated, computed)
    return stated == computed


def _near(stated: float, computed: float) -> bool:
    try:
        return isclose(stated, computed, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    except OverflowError:  # a whole number that no figure is
        return False


def _cells(data: bytes) -> Sequence[list[str]]:
    """The cells of a CSV file line by line; raises ``ValueError`` if it is not a CSV file."""
    try:
        text = data.decode("utf-8")
        lines = csv.reader(io.StringIO(text, newline=""), strict=True)
        return [[original_text(cell) for cell in line] for line in lines]
    except csv.Error as broken:
        raise ValueError(str(broken)) from broken


def _trec(data: bytes, values: slice) -> Mapping[Place, str]:
    """Return each line's values by question and document; raises ``ValueError`` for other text."""
    found: dict[Place, str] = {}
    for line in data.decode("utf-8").splitlines():
        words = line.split()
        if len(words) < 4:
            raise ValueError(line[:_LONGEST])
        found[words[0], words[2]] = " ".join(words[values])
    return found
