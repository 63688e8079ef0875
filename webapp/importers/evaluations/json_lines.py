"""JSON Lines of any length, row by row: one object per line, bad lines reported by number.

Nothing but the row in hand is held, so a file may have a million of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from webapp.importers.runs.json_documents import load
from webapp.importers.runs.json_values import FromFile, kind_of, read_object
from webapp.importers.runs.problems import UnreadableFile, error
from webapp.records import Problem

MAX_LINE_BYTES = 16 * 2**20

_BLANKS = b"\xef\xbb\xbf \t\r\n"
_OF_A_LINE = {"value_missing": "line_value_missing", "value_wrong": "line_value_wrong"}
Model = TypeVar("Model", bound=FromFile)


class JsonLine(Struct, frozen=True):
    """One line of the file `name`, counted from 1, with the object it holds."""

    name: str
    number: int
    value: dict[str, object]


def read(name: str, file: BinaryIO) -> Iterator[JsonLine | Problem]:
    """Every line of `file` as the object it holds, or as what is wrong with it.

    Blank lines are passed over; a byte order mark at the start is too.
    """
    for number, data in enumerate(_raw_lines(file), 1):
        if data is None:
            limit = MAX_LINE_BYTES // 2**20
            yield error("line_too_long", name, {"limit": limit}, line=number)
        elif data.strip(_BLANKS):
            yield _line(name, number, data.rstrip(b"\r\n"))


def count(name: str, file: BinaryIO) -> int:
    r"""The number of lines that ``read`` would yield.

    >>> import io
    >>> count("a.jsonl", io.BytesIO(b"{}\n\n{bad"))
    2
    """
    return sum(1 for _ in read(name, file))


def read_row(kind: type[Model], line: JsonLine) -> tuple[Model | None, list[Problem]]:
    """The row that `line` holds, or none: any wrong value costs the line."""
    outcomes = dict.fromkeys(("", *kind.model_fields), "line_left_out")
    row, wrong = read_object(kind, line.value, file=line.name, place="", outcomes=outcomes)
    told = [replace(p, code=_OF_A_LINE[p.code], line=line.number, query_id=None) for p in wrong]
    return (None if told else row), told


def wrong_value(line: JsonLine, place: str, found: object, expected: str) -> Problem:
    """The problem that `place` in `line` holds something other than `expected`."""
    words = {"place": place, "found": kind_of(found), "expected": expected}
    return error(
        "line_value_wrong", line.name, words | {"outcome": "line_left_out"}, line=line.number
    )


def _raw_lines(file: BinaryIO) -> Iterator[bytes | None]:
    """Each line, ``None`` for one beyond the limit, of which nothing more is kept."""
    while data := file.readline(MAX_LINE_BYTES):
        if len(data) < MAX_LINE_BYTES or data.endswith(b"\n"):
            yield data
            continue
        while rest := file.readline(MAX_LINE_BYTES):
            if rest.endswith(b"\n"):
                break
        yield None


def _line(name: str, number: int, data: bytes) -> JsonLine | Problem:
    try:
        value, impossible = load(name, data, expected="answers_file")
    except UnreadableFile as refused:
        return _broken(name, number, refused.problem)
    if not isinstance(value, dict):
        looks = {"found": kind_of(value), "expected": "object"}
        return error("line_not_an_object", name, looks, line=number)
    if impossible:
        place = str(impossible[0].details["place"])
        return wrong_value(JsonLine(name, number, value), place, None, "number")
    return JsonLine(name, number, value)


def _broken(name: str, number: int, why: Problem) -> Problem:
    if why.code == "not_utf8":
        return error("line_not_utf8", name, line=number)
    if why.code == "not_json" and "found" in why.details:
        looks = {"found": why.details["found"], "expected": "object"}
        return error("line_not_an_object", name, looks, line=number)
    return error("line_broken", name, {"column": why.details.get("column", 1)}, line=number)
