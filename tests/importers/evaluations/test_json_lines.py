from __future__ import annotations

import io

import pytest

from relevansi.i18n import speaking
from relevansi.importers.evaluations import json_lines
from relevansi.importers.evaluations.json_lines import JsonLine
from relevansi.importers.runs import json_documents, problems
from relevansi.records import Problem


def read_all(data: bytes) -> list[JsonLine | Problem]:
    return list(json_lines.read_lines("a.jsonl", io.BytesIO(data)))


def test_each_line_is_one_object_with_its_number() -> None:
    result = read_all(b'\xef\xbb\xbf{"a": 1}\n\n  \r\n{"b": "\\u0000x"}')

    assert result == [JsonLine("a.jsonl", 1, {"a": 1}), JsonLine("a.jsonl", 4, {"b": "x"})]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"a": 1', "a.jsonl, line 2 is not complete JSON (column 8) and is left out."),
        (b"[1]", "a.jsonl, line 2 is left out; found: a list; expected: an object"),
        (b"id,answer", "a.jsonl, line 2 is left out; found: a table (CSV)"),
        (b'{"a": NaN}', "a.jsonl: line 2, a is wrong"),
        (b'{"a": "\xff"}', "a.jsonl, line 2 is not UTF-8 text and is left out."),
        (b"[" * 10_000, "a.jsonl, line 2 is not complete JSON"),
    ],
)
def test_a_bad_line_is_told_and_the_next_one_read(line: bytes, code: str) -> None:
    first, bad, last = read_all(b'{"a": 1}\n' + line + b'\n{"a": 3}\n')

    assert isinstance(bad, Problem)
    with speaking("en"):
        assert problems.message(bad).startswith(code)
    assert (first, last) == (JsonLine("a.jsonl", 1, {"a": 1}), JsonLine("a.jsonl", 3, {"a": 3}))


class ReadInPieces(io.BytesIO):
    """A file that tells how long the longest piece is that was read of it."""

    longest = 0

    def readline(self, size: int | None = -1) -> bytes:
        piece = super().readline(size)
        self.longest = max(self.longest, len(piece))
        return piece

    def __next__(self) -> bytes:
        return self.readline()


def test_an_endless_line_is_passed_over_and_never_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_documents, "MAX_BYTES", 16)
    file = ReadInPieces(b'{"a": "' + b"x" * 100 + b'"}\n{"a": 2}\n')
    long, good = json_lines.read_lines("a.jsonl", file)

    assert file.longest == 17
    assert isinstance(long, Problem)
    assert (long.code, long.line) == ("line_too_long", 1)
    assert good == JsonLine("a.jsonl", 2, {"a": 2})
