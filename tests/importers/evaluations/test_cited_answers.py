"""Rows of cited answers and of chunks."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from webapp.i18n import speaking
from webapp.importers.evaluations import cited_answers
from webapp.importers.runs import problems
from webapp.metrics.evaluations.answers import AnswerRow, LlmCall
from webapp.metrics.evaluations.chunks import ChunkRow
from webapp.records import Problem

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
                calls=(LlmCall(10, 2), LlmCall(5, 0)),
                latency_ms=12.5,
                action="RETRIEVE",
                claim_similarities=(0.7,),
                faithfulness_judge=1,
            ),
        )
    ]


def test_id_and_answer_are_enough() -> None:
    assert read({"id": 7, "answer": ""}) == [(1, AnswerRow("7", "", ""))]


def test_settings_stand_on_a_row_or_on_a_line_for_the_rows_below() -> None:
    shared = {"temperature": 0, "token_target": 1000}
    found = read({"id": 1, "answer": "a"}, shared, {"id": 2, "answer": "a", "temperature": 0.5})

    assert [(one[0], one[1].settings) for one in found if not isinstance(one, Problem)] == [
        (1, {}),
        (3, {"temperature": 0.5, "token_target": 1000}),
    ]


def test_one_call_may_stand_bare_and_none_is_no_tokens() -> None:
    bare, none = read({**ROW, "usage": {"prompt_tokens": 3}}, {**ROW, "usage": []})

    assert isinstance(bare, tuple)
    assert bare[1].calls == (LlmCall(3, 0),)
    assert isinstance(none, tuple)
    assert none[1].calls == ()


@pytest.mark.parametrize(
    ("change", "told"),
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
def test_a_wrong_value_costs_its_line(change: dict[str, Any], told: str) -> None:
    found = read({**ROW, **change}, ROW)

    assert isinstance(found[0], Problem)
    assert isinstance(found[-1], tuple)
    with speaking("en"):
        message = problems.message(found[0])
    assert message.startswith("a.jsonl, line 1: ")
    assert told in message
    assert "The line is left out." in message


def test_chunks_are_read_with_their_strategy() -> None:
    rows = [
        {"id": 1, "expected_answer": "a", "retrieved_chunks": ["b"], "strategy": " kecil "},
        {"id": 2, "question": "?", "expected_answer": "", "retrieved_chunks": []},
        {"id": 3, "expected_answer": "a", "retrieved_chunks": ["b", 5]},
    ]
    data = "\n".join(json.dumps(row) for row in rows).encode()
    found = list(cited_answers.read_chunks("c.jsonl", io.BytesIO(data)))

    assert found[:2] == [
        (1, ChunkRow("1", "", "a", ("b",), "kecil")),
        (2, ChunkRow("2", "?", "", (), None)),
    ]
    assert isinstance(found[2], Problem)
    with speaking("en"):
        assert "expected: a list of texts" in problems.message(found[2])
