"""A dash, "n/a" or "kosong" says nothing in a file to be scored."""

from __future__ import annotations

import json
from copy import deepcopy
from io import BytesIO

import pytest

from tests.importers.runs.blank_signs import NOTHING
from tests.services.evaluations.scored_files import EXAMPLE, JSON_SET
from webapp.importers.evaluations import cited_answers, expected_json
from webapp.importers.evaluations.expected_json import UnusableProvenance
from webapp.records import Problem

SIGNS = ["-", "–", " — ", "n/a", "N/A", "null", "?"]
"""Texts that mean that nothing was said, in place of a whole answer too."""


@pytest.mark.parametrize("text", NOTHING)
def test_a_value_of_a_cited_answer_that_says_nothing_is_not_stated(text: str) -> None:
    names = ("usage", "latency_ms", "action", "claim_similarities", "contexts", "temperature")
    row = {"id": "1", "answer": "-", "question": text} | dict.fromkeys(names, text)

    (found,) = cited_answers.read_answers("a.jsonl", BytesIO(json.dumps(row).encode()))

    assert not isinstance(found, Problem)
    read = found[1]
    assert (read.calls, read.latency_ms, read.action) == (None, None, None)
    assert (read.claim_similarities, read.contexts, read.settings) == (None, {}, {})
    assert (read.answer, read.question) == ("-", text)  # as they were asked and answered


@pytest.mark.parametrize(
    ("text", "gold"), [*((sign, None) for sign in SIGNS), ("Tidak ada", "Tidak ada"), ("", "")]
)
def test_a_dash_is_no_gold_answer_and_tidak_ada_is_one(text: str, gold: str | None) -> None:
    row = json.dumps({"id": "1", "answer": "Ada.", "gold": text}).encode()

    (found,) = cited_answers.read_answers("a.jsonl", BytesIO(row))

    assert not isinstance(found, Problem)
    assert found[1].gold == gold


@pytest.mark.parametrize("text", SIGNS)
def test_a_dash_among_chunks_has_no_words(text: str) -> None:
    row = {"id": "1", "expected_answer": text, "retrieved_chunks": [text, "tiga - empat kamar"]}

    (found,) = cited_answers.read_chunks(
        "c.jsonl", BytesIO(json.dumps(row | {"strategy": text}).encode())
    )

    assert not isinstance(found, Problem)
    assert (found[1].expected_answer, found[1].strategy) == ("", None)
    assert found[1].retrieved_chunks == ("tiga - empat kamar",)


@pytest.mark.parametrize("text", SIGNS)
def test_a_dash_in_an_expected_json_answer_expects_nothing_and_is_told(text: str) -> None:
    document = deepcopy(JSON_SET)
    example = EXAMPLE | {
        "sub_topic": text,
        "original_evidence": text,
        "detailed_description": ["tiga kamar", text],
        "predicted_questions": text,
    }
    document["items"][0]["expected"]["answer_example"] = example
    document["items"][0]["context"] = text

    found = expected_json.read("j.json", json.dumps(document).encode())

    question = found.questions[0]
    assert question.expected["detailed_description"] == ["tiga kamar"]
    assert not {"sub_topic", "original_evidence", "predicted_questions"} & question.expected.keys()
    assert question.contexts == ()
    told = [p.details["field"] for p in found.problems if p.code == "expected_field_missing"]
    assert told == ["sub_topic", "original_evidence", "predicted_questions"]


@pytest.mark.parametrize("text", SIGNS)
def test_a_provenance_field_that_is_a_dash_is_missing(text: str) -> None:
    document = json.dumps({**JSON_SET, "model_id": text}).encode()

    with pytest.raises(UnusableProvenance) as refused:
        expected_json.read("j.json", document)

    (problem,) = refused.value.problems
    assert (problem.code, problem.details["names"]) == ("provenance_missing", "model_id")
