"""Every reader refuses a file in which an object has two values of one key, by line and key."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from io import BytesIO

import pytest

from relevansi.importers.agreement import manual_input
from relevansi.importers.evaluations import cited_answers, expected_json
from relevansi.importers.gold import gold_questions
from relevansi.importers.results import formats
from relevansi.importers.runs import json_runs, questions, ratings
from relevansi.importers.runs.problems import ImportRefused
from relevansi.records import Problem
from tests.importers.runs.run_files import entry, v1, v2, v2_entry

KEY = re.compile(r'"(\w+)": ')
JSON = [name for name in formats.EXAMPLE_FILES if name.endswith((".json", ".jsonl"))]
QUESTION = {"id": 1, "question": "Rumah?", "category": "a"}
GOLD = {"questions": [QUESTION | {"expected_result": "has_data", "constraints": {}}]}
OFFLINE = {"format": ratings.FORMAT, "version": 1, "identity": "x", "changes": [], "queries": []}
FILES: dict[str, tuple[Callable[[str, bytes], object], object]] = {
    "run": (json_runs.read, v1(entry())),
    "run with properties": (json_runs.read, v2(v2_entry({"name": "Rumah A", "price": 1}))),
    "questions": (questions.read, [QUESTION]),
    "gold questions": (gold_questions.read, GOLD),
    "offline ratings": (ratings.read, OFFLINE),
    "decisions by hand": (
        manual_input.read,
        {"manual_evaluations": {"1": {"0": {"result": "pass"}}}},
    ),
    "JSON answers": (expected_json.read_questions, [{"id": 1, "expected": {"answer_example": {}}}]),
}


def with_repeated_keys(text: str) -> Iterator[tuple[str, str, int]]:
    """The text with each of its keys twice, of two values; the key, and the line of the second."""
    for key in KEY.finditer(text):
        before, after = text[: key.start()], text[key.start() :]
        line = before.count("\n") + 1
        yield f'{before}"{key[1]}": "another value", {after}', key[1], line


@pytest.mark.parametrize("name", JSON)
def test_results_with_a_repeated_key_are_refused(name: str) -> None:
    text = (formats.EXAMPLES / name).read_text("utf-8")

    for damaged, key, line in with_repeated_keys(text):
        with pytest.raises(ImportRefused) as refused:
            formats.read([(name, damaged.encode())])

        problem = refused.value.problem
        assert (problem.code, problem.file, problem.line) == ("json_key_repeated", name, line)
        assert key in str(problem.details["place"])


@pytest.mark.parametrize("kind", FILES)
def test_other_files_with_a_repeated_key_are_refused(kind: str) -> None:
    read, document = FILES[kind]

    for damaged, key, line in with_repeated_keys(json.dumps(document, indent=1)):
        with pytest.raises(ImportRefused) as refused:
            read("a.json", damaged.encode())

        assert (refused.value.problem.code, refused.value.problem.line) == (
            "json_key_repeated",
            line,
        )
        assert key in str(refused.value.problem.details["place"])


def test_a_line_to_be_scored_with_a_repeated_key_is_left_out() -> None:
    lines = b'{"id": 1, "answer": "a"}\n{"id": 2, "answer": "a", "answer": "b"}\n'

    read, left_out = cited_answers.read_answers("a.jsonl", BytesIO(lines))

    assert not isinstance(read, Problem)
    assert isinstance(left_out, Problem)
    assert (left_out.code, left_out.line) == ("line_key_repeated", 2)


@pytest.mark.parametrize(
    "cell", ["[{'text': 'a', 'text': 'b'}]", '[{""text"": ""a"", ""text"": ""b""}]']
)
def test_a_cell_with_a_repeated_key_refuses_its_table(cell: str) -> None:
    table = f"question,contexts\nred dress,\"['a', 'b']\"\nboots,\"{cell}\"\n"

    with pytest.raises(ImportRefused) as refused:
        formats.read([("a.csv", table.encode())])

    assert (refused.value.problem.code, refused.value.problem.line) == ("json_key_repeated", 3)


def test_a_document_with_two_ids_is_refused_if_either_is_listed() -> None:
    run = "q1 Q0 d7 1 12.5 bm25\n"
    rows = [f'{{"_id": "d{n}", "text": "text {n}"}}' for n in range(60)]
    rows.append('{"_id": "d7", "_id": "e7", "text": "Long red dress"}')

    with pytest.raises(ImportRefused) as refused:
        formats.read([("run.txt", run.encode()), ("corpus.jsonl", "\n".join(rows).encode())])

    assert (refused.value.problem.code, refused.value.problem.line) == ("json_key_repeated", 61)


def test_equal_values_of_one_key_are_one() -> None:
    text = '{"query": "red dress", "query": "red dress", "results": [{"text": "Red gown"}]}'

    [run] = formats.read([("a.json", text.encode())]).runs

    assert run.queries[0].question == "red dress"
