"""JSON Lines: each line as the object it holds, or as the problem with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from msgspec import Struct, field
from msgspec.structs import replace

from relevansi.importers.runs import json_documents
from relevansi.importers.runs.json_documents import Model, kind_of, load, read_object
from relevansi.importers.runs.problems import UnreadableFile, error
from relevansi.records import Problem

_BLANKS = b"\xef\xbb\xbf \t\r\n"
_LINE_CODES = {
    "file_too_large": "line_too_long",
    "value_missing": "line_value_missing",
    "value_wrong": "line_value_wrong",
    "not_json": "line_not_an_object",
    "not_utf8": "line_not_utf8",
    "json_key_repeated": "line_key_repeated",
}


class JsonLine(Struct):
    """One line of the file `name`, counted from 1, with the object it holds and its problems."""

    name: str
    number: int
    value: dict[str, object]
    problems: list[Problem] = field(default_factory=list)

    def row(self, kind: type[Model], raw: object = None, place: str = "") -> Model | None:
        """Return what the line holds, or `raw` at a place in it; a wrong value costs it."""
        value = self.value if raw is None else raw
        row, wrong = read_object(kind, value, file=self.name, place=place, outcomes="line_left_out")
        for problem in wrong:
            code = _LINE_CODES[problem.code]
            self.problems.append(replace(problem, code=code, line=self.number, query_id=None))
        return row

    def wrong(self, place: str, value: object, expected: str) -> None:
        """Add the problem that `place` holds something other than `expected`."""
        words = {"place": place, "found": kind_of(value), "expected": expected}
        words["outcome"] = "line_left_out"
        self.problems.append(error("line_value_wrong", self.name, words, line=self.number))


def read_lines(name: str, file: IO[bytes]) -> Iterator[JsonLine | Problem]:
    """Every line of `file` as the object it holds, or as what is wrong with it."""
    for number, data in enumerate(_bounded_lines(file), 1):
        if data.strip(_BLANKS):
            yield _line(name, number, data.rstrip(b"\r\n"))


def _bounded_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield every line of `file`, of one that is too long only so much that it is refused."""
    most = json_documents.MAX_BYTES + 1
    while piece := file.readline(most):
        yield piece
        while len(piece) == most and not piece.endswith(b"\n"):
            piece = file.readline(most)


def _line(name: str, number: int, data: bytes) -> JsonLine | Problem:
    try:
        value, impossible = load(name, data, expected="object")
    except UnreadableFile as refused:
        why = refused.problem
        details = {"column": 1, **why.details}
        return error(_LINE_CODES.get(why.code, "line_broken"), name, details, line=number)
    if not isinstance(value, dict):
        words = {"expected": "object", "found": kind_of(value)}
        return error("line_not_an_object", name, words, line=number)
    line = JsonLine(name, number, value)
    if impossible:
        line.wrong(str(impossible[0].details["place"]), None, "number")
        return line.problems[0]
    return line
