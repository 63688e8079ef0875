"""Sets of JSON answers: in one file, or questions and outputs joined by id."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from webapp.i18n import speaking
from webapp.importers import expected_json, problems
from webapp.importers.expected_json import (
    JsonAnswerSet,
    ProvenanceMissing,
    UnusableJsonAnswers,
)
from webapp.metrics.json_answer_summary import PROVENANCE
from webapp.metrics.json_answers import Context, JsonQuestion

STATED = dict.fromkeys(PROVENANCE, "x")
EXPECTED = {"answer_example": {"main_topic": "rumah"}, "source_map": []}
ITEM: dict[str, Any] = {
    "id": "q1",
    "question": "?",
    "expected": EXPECTED,
    "output": "{}",
    "context": [{"source_path": "a.md", "text": "alpha"}],
}
QUESTION = JsonQuestion("q1", "?", {"main_topic": "rumah"}, "{}", (Context("a.md", "alpha"),))


def read(document: object) -> JsonAnswerSet:
    return expected_json.read("a.json", json.dumps(document).encode())


def join(questions: object, *lines: object, **stated: object) -> JsonAnswerSet:
    data = "\n".join(json.dumps(line) for line in lines).encode()
    return expected_json.join(
        "q.json", json.dumps(questions).encode(), "o.jsonl", io.BytesIO(data), stated
    )


def told(found: JsonAnswerSet) -> list[str]:
    with speaking("en"):
        return [problems.message(problem) for problem in found.problems]


def test_one_file_holds_provenance_and_items() -> None:
    assert read({**STATED, "items": [ITEM]}) == JsonAnswerSet((QUESTION,), STATED)


def test_every_missing_field_of_the_provenance_is_named() -> None:
    stated = {**STATED, "index_version": " ", "adapter_id": None}
    stated.pop("model_id")
    with pytest.raises(ProvenanceMissing) as refused, speaking("en"):
        read({**stated, "items": [ITEM]})

    with speaking("en"):
        assert "missing: index_version, model_id, adapter_id." in str(refused.value)


def test_a_bad_item_is_told_and_the_good_ones_kept() -> None:
    bad = [{**ITEM, "id": None}, {**ITEM, "expected": {}}, "text", ITEM, ITEM]
    found = read({**STATED, "items": bad})

    assert found.questions == (QUESTION,)
    assert [problem.code for problem in found.problems] == [
        "value_wrong",
        "value_wrong",
        "value_wrong",
        "item_id_repeated",
    ]
    assert "items[1].expected.answer_example is wrong" in told(found)[1]


@pytest.mark.parametrize("output", [{"main_topic": "rumah"}, 5, []])
def test_an_output_that_is_no_text_fails_and_is_told(output: object) -> None:
    found = read({**STATED, "items": [{**ITEM, "output": output}]})

    assert found.questions[0].output is None
    assert "The answer fails as not JSON." in told(found)[0]


def test_a_context_without_a_path_is_told_and_ignored() -> None:
    found = read({**STATED, "items": [{**ITEM, "context": [{"text": "x"}, *ITEM["context"]]}]})

    assert found.questions == (QUESTION,)
    assert "items[0].context[0].source_path is missing" in told(found)[0]


@pytest.mark.parametrize("document", [[], {}, {"items": {}}, {"items": []}, {"items": [5]}])
def test_another_file_is_refused(document: object) -> None:
    with pytest.raises(UnusableJsonAnswers):
        read(document)


def test_outputs_are_joined_by_id_in_the_order_of_the_questions() -> None:
    questions = [{**ITEM, "id": 2}, {**ITEM, "id": 1}, {**ITEM, "id": 3}]
    given = [{"source_path": "b.md", "text": "beta"}]
    found = join(questions, {"id": "1", "output": "one", "context": given},
                 {"id": 2, "output": "two"}, **STATED)  # fmt: skip

    assert [(q.row_id, q.output) for q in found.questions] == [
        ("2", "two"),
        ("1", "one"),
        ("3", None),
    ]
    assert [q.contexts[0].source_path for q in found.questions] == ["a.md", "b.md", "a.md"]
    assert "no output for this many questions: 1 (3)" in told(found)[0]


def test_outputs_of_no_question_and_repeated_ones_are_told() -> None:
    found = join(
        [ITEM], {"id": "q1", "output": "{}"}, {"id": "q1", "output": ""}, {"id": 9}, "x", **STATED
    )

    assert found.questions[0].output == "{}"
    assert [(problem.code, problem.line) for problem in found.problems] == [
        ("line_id_repeated", 2),
        ("line_id_unknown", 3),
        ("line_not_an_object", 4),
    ]


def test_the_provenance_may_stand_with_the_questions_the_outputs_or_apart() -> None:
    answer = {"id": "q1", "output": "{}"}

    assert join({**STATED, "items": [ITEM]}, answer).provenance == STATED
    assert join([ITEM], STATED, answer).provenance == STATED
    later = {**STATED, "model_id": "later"}
    assert join({**STATED, "questions": [ITEM]}, answer, **later).provenance == later
    with pytest.raises(ProvenanceMissing):
        join([ITEM], answer)


@pytest.mark.parametrize(
    "document",
    [
        ["a", 1, "a"],
        [{"id": "a"}, {"id": 1}],
        {"ids": ["a", 1]},
        {"items": [{"id": "a"}, {"id": 1}]},
    ],
)
def test_a_subset_is_a_list_of_ids(document: object) -> None:
    assert expected_json.read_subset("dev.json", json.dumps(document).encode()) == ("a", "1")


@pytest.mark.parametrize("document", [[], {}, [None], [{"no": "id"}], "a", [True]])
def test_another_subset_is_refused(document: object) -> None:
    with pytest.raises(UnusableJsonAnswers):
        expected_json.read_subset("dev.json", json.dumps(document).encode())


def test_ids_of_a_subset_that_are_not_there_are_told() -> None:
    ids = [str(n) for n in range(20)]
    (found,) = expected_json.check_subset("dev.json", ids, ["0"])

    assert found.details["ids"] == "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ..."
    assert expected_json.check_subset("dev.json", ["0"], ["0"]) == ()
