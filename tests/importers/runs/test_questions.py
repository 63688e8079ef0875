"""Question files: read whole, or refused with everything that is wrong."""

from __future__ import annotations

import json

import pytest

from webapp.i18n import speaking
from webapp.importers.runs.problems import UnreadableFile, UnusableQuestions
from webapp.importers.runs.questions import ReadQuestion, read

GOOD = {"id": 1, "question": "Carikan rumah", "category": "location_simple"}


def data(value: object) -> bytes:
    return json.dumps(value).encode()


def test_questions_come_in_the_order_of_the_file() -> None:
    rows = [
        {**GOOD, "id": 3, "context_dependent": True},
        {**GOOD, "id": 1, "question": " Ada lagi? ", "category": "context_followup"},
        {"id": 2, "question": "Ruko"},
        {**GOOD, "id": 4, "category": "context_modify", "context_dependent": False},
    ]

    assert read("q.json", b"\xef\xbb\xbf" + data(rows)) == (
        ReadQuestion(3, "Carikan rumah", "location_simple", context_dependent=True),
        ReadQuestion(1, "Ada lagi?", "context_followup", context_dependent=True),
        ReadQuestion(2, "Ruko", "", context_dependent=None),
        ReadQuestion(4, "Carikan rumah", "context_modify", context_dependent=False),
    )


@pytest.mark.parametrize(
    ("rows", "place", "found"),
    [
        ([{**GOOD, "id": "1"}], "[0].id", "a text"),
        ([GOOD, {**GOOD, "id": -1}], "[1].id", "-1"),
        ([GOOD, {**GOOD, "id": True}], "[1].id", "true or false"),
        ([{**GOOD, "question": " "}], "[0].question", "an empty text"),
        ([{**GOOD, "question": None}], "[0].question", "nothing (null)"),
        ([{**GOOD, "context_dependent": "ya"}], "[0].context_dependent", "a text"),
        ([{**GOOD, "category": 4}], "[0].category", "4"),
        (["Carikan rumah"], "[0]", "a text"),
        ([{"id": 1}], "[0].question", "missing"),
        ([GOOD, GOOD], "[1].id", "repeats question number 1"),
    ],
)
def test_a_wrong_question_refuses_the_file(rows: object, place: str, found: str) -> None:
    with pytest.raises(UnusableQuestions) as refusal, speaking("en"):
        read("q.json", data(rows))

    with speaking("en"):
        told = str(refusal.value)
    assert told.startswith(f"q.json: {place} ")
    assert found in told


@pytest.mark.parametrize("value", [{}, {"questions": [GOOD]}, [], "x", 3, None])
def test_anything_but_a_list_of_questions_is_refused(value: object) -> None:
    with pytest.raises(UnusableQuestions):
        read("q.json", data(value))


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(UnusableQuestions) as refusal:
        read("q.json", data([{"id": 1}, {"question": "Ada?"}, GOOD]))

    assert [problem.details["place"] for problem in refusal.value.problems] == [
        "[0].question",
        "[1].id",
    ]


def test_a_file_that_is_no_json_is_unreadable() -> None:
    with pytest.raises(UnreadableFile):
        read("q.csv", b"id,question\n1,Carikan rumah\n")
