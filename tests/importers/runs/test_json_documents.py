"""A file that is not JSON of ours is refused with what it looks like; the rest is made storable."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.importers.runs.run_files import (
    entry,
    message_in_english,
    query,
    read,
    told,
    v1,
)
from webapp.i18n import LANGUAGES, speaking
from webapp.importers.runs import json_documents, json_runs
from webapp.importers.runs.json_documents import (
    FromFile,
    SaidWords,
    kind_of,
    query_id_of,
    read_object,
)
from webapp.importers.runs.problems import (
    ImportRefused,
    NoReadableQuery,
    UnknownRunFormat,
    UnreadableFile,
)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 5000])
def test_an_impossible_number_is_reported_with_its_place(number: str) -> None:
    data = json.dumps(v1(entry(latency_ms="HERE"))).replace('"HERE"', number).encode()
    run = json_runs.read("test_results.json", data)

    assert "results[0].latency_ms is no usable number" in told(run)
    assert run.queries[0].extra == {"latency_ms": None}


def test_what_databases_refuse_is_taken_out_of_texts() -> None:
    dirty = entry(question="Ca\x00ri\ud800", response="a\x00b\udfff\u202ec", results_count=0)
    read_one = query(v1({**dirty, "x\x00": ["y\ud800"]}))

    assert (read_one.question, read_one.response) == ("Cari", "ab\u202ec")
    assert read_one.extra == {"x": ["y"]}


def test_a_run_file_from_windows_is_read_as_it_is_elsewhere() -> None:
    """With a byte order mark, line ends of two characters, and backslashes in its name."""
    text = json.dumps(v1(entry(), search_method="vector_only"), indent=2)
    marked = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
    plain = json_runs.read("/data/hybrid/test_results.json", text.encode())
    windows = json_runs.read("C:\\data\\hybrid\\test_results.json", marked)

    assert windows.queries == plain.queries
    assert [one.code for one in windows.problems] == [one.code for one in plain.problems]
    assert "method_differs" in {one.code for one in windows.problems}


GOOD = json.dumps(v1(entry())).encode()


@pytest.mark.parametrize(
    ("data", "kind", "says"),
    [
        (b"", UnreadableFile, "is empty"),
        (b"\xef\xbb\xbf \n", UnreadableFile, "is empty"),
        (GOOD[:-20], UnreadableFile, "line 1, column"),
        (GOOD + b"x", UnreadableFile, "line 1, column"),
        (GOOD.decode().encode("utf-16"), UnreadableFile, "text in UTF-16"),
        (b'{"results": ["\xff"]}', UnreadableFile, "text in another encoding"),
        (b"\x01\x00\x81\x02", UnreadableFile, "binary data"),
        (b"PK\x03\x04....", UnreadableFile, "a zip archive or an Excel file"),
        (b"%PDF-1.7", UnreadableFile, "a PDF"),
        (b"\x89PNG\r\n", UnreadableFile, "a picture"),
        (b"<!doctype html><html>", UnreadableFile, "a web page"),
        (b"query_id,question\n1,a\n", UnreadableFile, "a table (CSV)"),
        (b"Halo dunia", UnreadableFile, "plain text"),
        (b'{"id": 1}\n{"id": 2}\n', UnreadableFile, "JSON Lines"),
        (b"[" * 100_000, UnreadableFile, "64 levels"),
        (b"[" * 70 + b"]" * 70, UnreadableFile, "64 levels"),
        (b"[]", UnknownRunFormat, "looks like a list"),
        (b"null", UnknownRunFormat, "another kind of value"),
        (b"3", UnknownRunFormat, "another kind of value"),
        (b"{}", UnknownRunFormat, "an object that holds no answers"),
        (b'{"results": {}}', UnknownRunFormat, "an object that holds no answers"),
        (b'{"results": [1, {"a": 2}]}', UnknownRunFormat, "an object that holds no answers"),
        (b'[{"id": 1, "question": "a"}]', UnknownRunFormat, "a list of questions without answers"),
        (b'{"questions": []}', UnknownRunFormat, "a gold file"),
        (json.dumps(v1()).encode(), NoReadableQuery, "its list is empty"),
        (json.dumps(v1(entry(question=""))).encode(), NoReadableQuery, "Not one of the questions"),
    ],
)
def test_a_wrong_file_is_refused_with_what_it_looks_like(
    data: bytes, kind: type[ImportRefused], says: str
) -> None:
    with pytest.raises(kind) as refusal:
        json_runs.read("run.json", data)

    with speaking("en"):
        assert says in str(refusal.value)
    for language in LANGUAGES:
        with speaking(language):
            assert "run.json" in str(refusal.value)


def test_a_byte_order_mark_does_not_matter() -> None:
    assert len(json_runs.read("run.json", b"\xef\xbb\xbf" + GOOD).queries) == 1


def test_a_file_above_the_limit_is_not_read() -> None:
    with pytest.raises(UnreadableFile) as refusal:
        json_documents.load("run.json", b" " * 2**21, expected="run_file", max_bytes=2**20)

    assert refusal.value.problem.details == {"megabytes": 2, "limit": 1}


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"results_count": -1}, "results_count"),
        ({"results_count": "two"}, "results_count"),
        ({"results_count": 2.5}, "results_count"),
        ({"results_count": 2**54}, "results_count"),
        ({"category": 5}, "category"),
        ({"context_dependent": "no"}, "context_dependent"),
        ({"properties": {}}, "properties"),
    ],
)
def test_a_wrong_side_value_is_ignored_and_the_cards_are_kept(
    changes: dict[str, Any], place: str
) -> None:
    run = read(v1(entry(**changes)))

    assert len(run.queries[0].cards) == 2
    assert message_in_english(run, 0).startswith(f"test_results.json: results[0].{place} is wrong")


class Entry(FromFile):
    """An object with a required and an optional field."""

    name: SaidWords
    count: int | None = None


def read_entry(raw: object) -> tuple[Entry | None, list[tuple[str | int, ...]]]:
    """Return the value read from `raw`, and each problem's code, place, expected and outcome."""
    outcomes = {"": "entry_left_out"}
    found, problems = read_object(Entry, raw, file="f.json", place="results[0]", outcomes=outcomes)
    words = ("place", "expected", "outcome")
    return found, [(p.code, *(p.details[word] for word in words)) for p in problems]


def test_an_optional_value_that_is_wrong_costs_itself_alone() -> None:
    found, problems = read_entry({"name": "a", "count": "many", "more": 1})

    assert found is not None
    assert (found.name, found.count, found.model_extra) == ("a", None, {"more": 1})
    assert problems == [("value_wrong", "results[0].count", "number_in_range", "value_ignored")]


@pytest.mark.parametrize(
    ("raw", "code", "place", "expected"),
    [
        ({}, "value_missing", "results[0].name", "text"),
        ({"name": 5}, "value_wrong", "results[0].name", "text"),
        ({"name": "-"}, "value_wrong", "results[0].name", "text"),
        ([], "value_wrong", "results[0]", "object"),
    ],
)
def test_without_a_required_value_there_is_no_entry(
    raw: object, code: str, place: str, expected: str
) -> None:
    assert read_entry(raw) == (None, [(code, place, expected, "entry_left_out")])


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (True, "true_or_false"),
        (2.5, "2.5"),
        ("a", "text"),
        (" ", "empty_text"),
        ([], "list"),
        ({}, "object"),
    ],
)
def test_a_value_is_called_by_its_kind(value: object, kind: str) -> None:
    assert kind_of(value) == kind


@pytest.mark.parametrize(
    ("raw", "number"),
    [
        ({"query_id": 3, "id": 4}, 3),
        ({"id": 4}, 4),
        ({"query_id": True}, None),
        ({"query_id": -1}, None),
        ({"query_id": 2**70}, None),
        ({"query_id": "3"}, None),
        ([], None),
    ],
)
def test_the_number_of_a_question_is_a_whole_one_that_can_be_stored(
    raw: object, number: int | None
) -> None:
    assert query_id_of(raw) == number
