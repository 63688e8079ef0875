from __future__ import annotations

import hashlib
import io
import json
from typing import Any

import pytest
from msgspec.structs import replace

from relevansi.i18n import speaking
from relevansi.importers.evaluations import expected_json
from relevansi.importers.evaluations.expected_json import JsonAnswerSet
from relevansi.importers.runs import problems
from relevansi.importers.runs.problems import ImportRefused
from relevansi.metrics.evaluations import json_answers
from relevansi.metrics.evaluations.json_answers import Context, JsonQuestion
from tests.services.evaluations.scored_files import PROVENANCE

EXAMPLE: dict[str, Any] = {
    "target_audience": "keluarga",
    "main_topic": "rumah",
    "sub_topic": "cemara",
    "detailed_description": [],
    "original_evidence": "",
    "predicted_questions": [],
}
EXPECTED = {"answer_example": EXAMPLE, "source_map": []}
ITEM: dict[str, Any] = {
    "id": "q1",
    "question": "?",
    "expected": EXPECTED,
    "output": "{}",
    "context": [{"source_path": "a.md", "text": "alpha"}],
}
QUESTION = JsonQuestion("q1", "?", EXAMPLE, "{}", (Context("a.md", "alpha"),))


def read(document: object) -> JsonAnswerSet:
    return expected_json.read("a.json", json.dumps(document).encode())


def version(*questions: object) -> dict[str, str]:
    """The provenance of answers to these questions."""
    return {**PROVENANCE, "eval_set_version": json_answers.eval_set_version("q", questions)}


def join(questions: object, *lines: object, **values: object) -> JsonAnswerSet:
    data = "\n".join(json.dumps(line) for line in lines).encode()
    return expected_json.join(
        "q.json", json.dumps(questions).encode(), "o.jsonl", io.BytesIO(data), values
    )


def codes_of(answers: JsonAnswerSet) -> list[str]:
    with speaking("en"):
        return [problems.message(problem) for problem in answers.problems]


def test_one_file_holds_provenance_and_items() -> None:
    """Contexts have either name; one without a path and an output that is no text are told."""
    provenance = {**PROVENANCE, "registry_model_id": "models/7"}
    provenance.pop("adapter_id")
    item = {name: value for name, value in ITEM.items() if name != "context"}
    odd = ITEM | {"id": "q2", "output": 5, "context": [{"text": "x"}, *ITEM["context"]]}
    result = read({**provenance, "items": [item | {"contexts": ITEM["context"]}, odd]})

    assert result.questions == (QUESTION, replace(QUESTION, row_id="q2", output=None))
    assert result.provenance == provenance
    assert [problem.details["place"] for problem in result.problems] == [
        "items[1].output",
        "items[1].context[0].source_path",
    ]


def test_every_missing_field_of_the_provenance_is_named() -> None:
    provenance = {**PROVENANCE, "index_version": " ", "adapter_id": None}
    provenance.pop("model_id")
    with pytest.raises(ImportRefused) as refused, speaking("en"):
        read({**provenance, "items": [ITEM]})

    with speaking("en"):
        assert "missing: index_version, model_id, adapter_id / registry_model_id." in str(
            refused.value
        )


def test_a_bad_item_is_told_and_the_good_ones_kept() -> None:
    bad = [{**ITEM, "id": None}, {**ITEM, "expected": {}}, "text", ITEM, ITEM]
    result = read({**PROVENANCE, "items": bad})

    assert result.questions == (QUESTION,)
    assert [problem.code for problem in result.problems] == [
        "value_wrong",
        "value_wrong",
        "value_wrong",
        "item_id_repeated",
    ]
    assert "items[1].expected.answer_example is wrong" in codes_of(result)[1]


@pytest.mark.parametrize("wrong", [{"question": 5}, {"contexts": "a"}])
def test_an_item_that_is_said_to_be_left_out_is_left_out(wrong: dict[str, object]) -> None:
    result = read({**PROVENANCE, "items": [{**ITEM, "id": "q2", **wrong}, ITEM]})

    (problem,) = result.problems
    assert problem.details["outcome"] == "entry_left_out"
    assert [question.row_id for question in result.questions] == ["q1"]


@pytest.mark.parametrize("document", [[], {}, {"items": {}}, {"items": []}, {"items": [5]}])
def test_another_file_is_refused(document: object) -> None:
    with pytest.raises(ImportRefused):
        read(document)


def test_outputs_are_joined_by_id_in_the_order_of_the_questions() -> None:
    questions = [{**ITEM, "id": 2}, {**ITEM, "id": 1}, {**ITEM, "id": 3}]
    passages = [{"source_path": "b.md", "text": "beta"}]
    result = join(questions, {"id": "1", "output": "one", "context": passages},
                 {"id": 2, "output": "two"}, **version(*questions))  # fmt: skip

    assert [(q.row_id, q.output) for q in result.questions] == [
        ("2", "two"),
        ("1", "one"),
        ("3", None),
    ]
    assert [q.contexts[0].source_path for q in result.questions] == ["a.md", "b.md", "a.md"]
    assert "no output for this many questions: 1 (3)" in codes_of(result)[0]


def test_outputs_of_no_question_and_repeated_ones_are_told() -> None:
    lines = [{"id": "q1", "output": "{}"}, {"id": "q1", "output": ""}, {"id": 9}, "x"]
    result = join([ITEM], *lines, **version(ITEM))

    assert result.questions[0].output == "{}"
    assert [(problem.code, problem.line) for problem in result.problems] == [
        ("line_id_repeated", 2),
        ("line_id_unknown", 3),
        ("line_not_an_object", 4),
    ]


def test_the_provenance_may_stand_with_the_questions_the_outputs_or_apart() -> None:
    answer, provenance = {"id": "q1", "output": "{}"}, version(ITEM)

    assert join({**provenance, "items": [ITEM]}, answer).provenance == provenance
    assert join({"provenance": provenance, "items": [ITEM]}, answer).provenance == provenance
    assert join([ITEM], provenance, answer).provenance == provenance
    later = {**provenance, "model_id": "later"}
    assert join({**provenance, "questions": [ITEM]}, answer, **later).provenance == later
    with pytest.raises(ImportRefused):
        join([ITEM], answer)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("prompt_sha256", "9f"),
        ("prompt_sha256", "x" * 64),
        ("eval_set_version", "1"),
        ("eval_set_version", f"@{'0' * 40}"),
        ("eval_set_version", f"q@{'0' * 39}"),
    ],
)
def test_what_is_no_hash_is_refused_by_the_name_of_its_field(name: str, wrong: str) -> None:
    with pytest.raises(ImportRefused) as refused, speaking("en"):
        read({**PROVENANCE, name: wrong, "items": [ITEM]})

    with speaking("en"):
        assert f"{name} is {wrong}" in str(refused.value)


def test_outputs_of_another_set_of_questions_are_refused() -> None:
    """The version is the SHA-1 of the questions' canonical JSON, or of the file as it is."""
    answer = {"id": "q1", "output": "{}"}
    of_file = hashlib.sha1(json.dumps([ITEM]).encode()).hexdigest()

    assert join([ITEM], answer, **PROVENANCE | {"eval_set_version": f"q@{of_file}"}).questions
    with pytest.raises(ImportRefused) as refused, speaking("en"):
        join([ITEM], answer, **version({**ITEM, "id": "q2"}))
    with speaking("en"):
        assert "o.jsonl was made for another set of questions" in str(refused.value)
        assert f"q.json is {version(ITEM)['eval_set_version']}" in str(refused.value)


def test_keys_that_nothing_reads_are_told_once_with_their_number() -> None:
    example = {**EXAMPLE, "subtopic": "x"}
    odd = [
        {**ITEM, "id": n, "outputs": "{}", "expected": {"answer_example": example}} for n in (1, 2)
    ]
    words = codes_of(read({**PROVENANCE, "modelid": "x", "items": odd}))

    assert any("the key modelid (found 1 times)" in text for text in words)
    assert any("the key outputs (found 2 times)" in text for text in words)
    assert any("the key expected.answer_example.subtopic (found 2 times)" in t for t in words)


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
    with pytest.raises(ImportRefused):
        expected_json.read_subset("dev.json", json.dumps(document).encode())
