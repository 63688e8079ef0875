from __future__ import annotations

import io
import json
from copy import deepcopy
from io import BytesIO
from typing import Any

import pytest

from relevansi.i18n import speaking
from relevansi.importers.evaluations import cited_answers, expected_json
from relevansi.importers.runs import problems
from relevansi.importers.runs.problems import ImportRefused
from relevansi.metrics.evaluations.answers import AnswerRow
from relevansi.metrics.evaluations.chunks import ChunkRow
from relevansi.records import Problem
from tests.importers.runs.cards import NOTHING
from tests.services.evaluations.scored_files import EXAMPLE, JSON_SET

ROW: dict[str, Any] = {
    "id": "q1",
    "question": "Ada rumah?",
    "answer": "Ada [CIT:d1].",
    "gold": None,
    "contexts": [{"id": "d1", "text": "Rumah."}, {"id": 2, "text": "Ruko."}],
    "usage": [{"prompt_tokens": 10, "completion_tokens": 2}, {"prompt_tokens": 5}],
    "latency_ms": 12.5,
    "claim_similarities": [0.7],
    "faithfulness_judge": 1,
    "action": "RETRIEVE",
    "more": {"is": "kept out"},
}


def read(*rows: object) -> list[tuple[int, AnswerRow] | Problem]:
    data = "\n".join(json.dumps(row) for row in rows).encode()
    return list(cited_answers.read_answers("a.jsonl", io.BytesIO(data)))


def test_a_row_is_read_with_all_it_says() -> None:
    assert read(ROW) == [
        (
            1,
            AnswerRow(
                row_id="q1",
                question="Ada rumah?",
                answer="Ada [CIT:d1].",
                gold=None,
                contexts={"d1": "Rumah.", "2": "Ruko."},
                calls=((10, 2), (5, 0)),
                latency_ms=12.5,
                action="RETRIEVE",
                claim_similarities=(0.7,),
                faithfulness_judge=1,
            ),
        )
    ]


def test_settings_stand_on_a_row_or_on_a_line_for_the_rows_below() -> None:
    shared = {"temperature": 0, "token_target": 1000}
    result = read({"id": 1, "answer": "a"}, shared, {"id": 2, "answer": "a", "temperature": 0.5})

    assert [(row[0], row[1].settings) for row in result if not isinstance(row, Problem)] == [
        (1, {}),
        (3, {"temperature": 0.5, "token_target": 1000}),
    ]


def test_what_a_row_leaves_out_or_says_bare() -> None:
    bare = {**ROW, "usage": {"prompt_tokens": 3}, "gold": "Tidak ada"}
    result = read({"id": 7, "answer": ""}, bare, {**ROW, "usage": [], "gold": "–"})

    assert result[0] == (1, AnswerRow("7", "", ""))
    rows = [row[1] for row in result[1:] if isinstance(row, tuple)]
    assert [(row.calls, row.gold) for row in rows] == [(((3, 0),), "Tidak ada"), ((), None)]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"id": None}, "id is wrong; found: nothing (null); expected: a text or a whole number"),
        ({"answer": None}, "answer is wrong; found: nothing (null)"),
        ({"contexts": {"d1": "x"}}, "contexts is wrong"),
        ({"contexts": [{"id": "d1"}]}, "contexts[0].text is missing"),
        (
            {"contexts": [{"id": 1, "text": "x"}, {"id": "1", "text": "y"}]},
            "contexts[1].id is wrong",
        ),
        ({"usage": [{"prompt_tokens": -1}]}, "usage[0].prompt_tokens is wrong; found: -1"),
        ({"usage": [{"prompt_tokens": "5"}]}, "usage[0].prompt_tokens is wrong"),
        ({"latency_ms": "fast"}, "latency_ms is wrong; found: a text; expected: a number from 0"),
        ({"claim_similarities": [1.2]}, "claim_similarities is wrong"),
        ({"claim_similarities": 0.5}, "expected: a list of numbers from -1 to 1"),
        ({"faithfulness_judge": 2}, "faithfulness_judge is wrong"),
    ],
)
def test_a_wrong_value_costs_its_line(change: dict[str, Any], field: str) -> None:
    result = read({**ROW, **change}, ROW)

    assert isinstance(result[0], Problem)
    assert isinstance(result[-1], tuple)
    with speaking("en"):
        message = problems.message(result[0])
    assert message.startswith("a.jsonl: line 1, ")
    assert field in message
    assert "The line is left out." in message


def test_chunks_are_read_with_their_strategy() -> None:
    """A dash among chunks has no words, as an expected answer and as a strategy too."""
    rows = [
        {"id": 1, "expected_answer": "a", "retrieved_chunks": ["b"], "strategy": " kecil "},
        {"id": 2, "question": "?", "expected_answer": "", "retrieved_chunks": []},
        {"id": 3, "expected_answer": "-", "retrieved_chunks": ["n/a", "3 - 4"], "strategy": "—"},
        {"id": 4, "expected_answer": "a", "retrieved_chunks": ["b", 5]},
    ]
    data = "\n".join(json.dumps(row) for row in rows).encode()
    *result, wrong = cited_answers.read_chunks("c.jsonl", io.BytesIO(data))

    assert result == [
        (1, ChunkRow("1", "", "a", ("b",), "kecil")),
        (2, ChunkRow("2", "?", "", (), None)),
        (3, ChunkRow("3", "", "", ("3 - 4",), None)),
    ]
    assert isinstance(wrong, Problem)
    assert (wrong.code, wrong.line) == ("line_value_wrong", 4)


@pytest.mark.parametrize("text", NOTHING)
def test_a_value_of_a_cited_answer_that_says_nothing_is_not_stated(text: str) -> None:
    names = ("usage", "latency_ms", "action", "claim_similarities", "contexts", "temperature")
    row = {"id": "1", "answer": "-", "question": text} | dict.fromkeys(names, text)

    (result,) = cited_answers.read_answers("a.jsonl", BytesIO(json.dumps(row).encode()))

    assert not isinstance(result, Problem)
    read = result[1]
    assert (read.calls, read.latency_ms, read.action) == (None, None, None)
    assert (read.claim_similarities, read.contexts, read.settings) == (None, {}, {})
    assert (read.answer, read.question) == ("-", text)  # as they were asked and answered


@pytest.mark.parametrize("text", ["-", " — ", "n/a", "null", "?"])
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
    with pytest.raises(ImportRefused):
        expected_json.read("j.json", json.dumps({**document, "model_id": text}).encode())

    result = expected_json.read("j.json", json.dumps(document).encode())

    question = result.questions[0]
    assert question.expected["detailed_description"] == ["tiga kamar"]
    assert not {"sub_topic", "original_evidence", "predicted_questions"} & question.expected.keys()
    assert question.contexts == ()
    fields = [p.details["field"] for p in result.problems if p.code == "expected_field_missing"]
    assert fields == ["sub_topic", "original_evidence", "predicted_questions"]
