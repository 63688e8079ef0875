"""JSON Lines: good rows kept, bad ones told by line, nothing held."""

from __future__ import annotations

import io

import pytest

from webapp.i18n import speaking
from webapp.importers.evaluations import cited_answers
from webapp.importers.evaluations.cited_answers import JsonLine
from webapp.importers.runs import problems
from webapp.records import Problem


def read(data: bytes) -> list[JsonLine | Problem]:
    return list(cited_answers.read_lines("a.jsonl", io.BytesIO(data)))


def test_each_line_is_one_object_with_its_number() -> None:
    found = read(b'\xef\xbb\xbf{"a": 1}\n\n  \r\n{"b": "\\u0000x"}')

    assert found == [JsonLine("a.jsonl", 1, {"a": 1}), JsonLine("a.jsonl", 4, {"b": "x"})]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b'{"a": 1', "a.jsonl, line 2 is not complete JSON (column 8) and is left out."),
        (b"[1]", "a.jsonl, line 2 is left out; found: a list; expected: an object"),
        (b"id,answer", "a.jsonl, line 2 is left out; found: a table (CSV)"),
        (b'{"a": NaN}', "a.jsonl, line 2: a is wrong"),
        (b'{"a": "\xff"}', "a.jsonl, line 2 is not UTF-8 text and is left out."),
        (b"[" * 10_000, "a.jsonl, line 2 is not complete JSON"),
    ],
)
def test_a_bad_line_is_told_and_the_next_one_read(line: bytes, told: str) -> None:
    first, bad, last = read(b'{"a": 1}\n' + line + b'\n{"a": 3}\n')

    assert isinstance(bad, Problem)
    with speaking("en"):
        assert problems.message(bad).startswith(told)
    assert (first, last) == (JsonLine("a.jsonl", 1, {"a": 1}), JsonLine("a.jsonl", 3, {"a": 3}))


def test_an_endless_line_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cited_answers, "MAX_LINE_BYTES", 16)
    long, good = read(b'{"a": "' + b"x" * 100 + b'"}\n{"a": 2}\n')

    assert isinstance(long, Problem)
    assert (long.code, long.line) == ("line_too_long", 1)
    assert good == JsonLine("a.jsonl", 2, {"a": 2})


def test_a_line_is_read_only_when_it_is_asked_for() -> None:
    class Counting(io.BytesIO):
        n = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            self.n += 1
            return super().readline(-1 if size is None else size)

    file = Counting(b'{"a": 1}\n' * 1000)
    rows = cited_answers.read_lines("a.jsonl", file)
    for position in range(1, 500):
        next(rows)
        assert file.n == position
