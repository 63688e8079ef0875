"""Records of tools in which people grade results: a grade is read with its rater, or asked for."""

from __future__ import annotations

import json

from relevansi.importers.results.formats import Group
from relevansi.importers.results.formats import read as read_files

PARTS = {"query": "red dress", "doc_id": "d7", "text": "Long red dress"}


def read(*values: object) -> Group:
    return read_files([("export.json", json.dumps(values).encode())])


def grades(group: Group) -> list[tuple[str, str, str]]:
    return [(grade.identity, grade.verdict, grade.rater) for grade in group.judged]


def label_studio(rater: object, value: dict[str, object], **annotation: object) -> object:
    result = {"from_name": "how", "to_name": "text", "type": "choices", "value": value}
    return {"id": 3, "completed_by": rater, "result": [result], **annotation}


def test_each_annotation_of_label_studio_is_a_grade_of_its_rater() -> None:
    annotations = [
        label_studio(1, {"choices": ["2"]}),
        label_studio({"email": "kim@example.org"}, {"rating": 1}),
        label_studio(4, {"choices": ["0"]}, was_cancelled=True),
    ]

    group = read({"id": 8, "data": PARTS, "annotations": annotations})

    assert grades(group) == [("doc:d7", "2", "1"), ("doc:d7", "1", "kim@example.org")]
    ((query,),) = (run.queries for run in group.runs)
    assert [(card.doc_id, card.text) for card in query.cards] == [("d7", "Long red dress")]


def test_grades_in_words_are_asked_for() -> None:
    group = read({"data": PARTS, "annotations": [label_studio(1, {"choices": ["Relevant"]})]})

    assert group.unfit_grades == ("relevant",)


def test_each_response_of_argilla_is_a_grade_of_its_rater() -> None:
    fields = {name: PARTS[name] for name in ("query", "text")}
    record = {"id": "x", "fields": fields, "metadata": {"doc_id": "d7"}}
    by_question = {"relevance": [{"value": 2, "user_id": "a"}, {"value": 1, "user_id": "b"}]}
    by_rater = [
        {"user_id": "a", "status": "submitted", "values": {"relevance": {"value": 2}}},
        {"user_id": "b", "status": "submitted", "values": {"relevance": {"value": 1}}},
        {"user_id": "c", "status": "draft", "values": {"relevance": {"value": 0}}},
    ]

    for responses in (by_question, by_rater):
        group = read({**record, "responses": responses})

        assert grades(group) == [("doc:d7", "2", "a"), ("doc:d7", "1", "b")]


def test_a_record_that_nobody_graded_is_a_result() -> None:
    group = read({"data": PARTS, "annotations": []})

    assert not group.judged
    assert [len(query.cards) for run in group.runs for query in run.queries] == [1]
