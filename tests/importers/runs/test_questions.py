"""Question files: read whole, or refused with everything that is wrong."""

from __future__ import annotations

import json

import pytest

from webapp.i18n import speaking
from webapp.importers.runs.problems import UnreadableFile, UnusableQuestions, message
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

    assert read("q.json", b"\xef\xbb\xbf" + data(rows)).questions == (
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


@pytest.mark.parametrize(
    "bytes_", [b"Carikan rumah", b"PK\x03\x04,\xff", "id,q\n1,a".encode("utf-16")]
)
def test_a_file_that_is_neither_json_nor_csv_is_unreadable(bytes_: bytes) -> None:
    with pytest.raises(UnreadableFile):
        read("q.csv", bytes_)


def test_a_csv_is_read_with_either_column_for_the_number_and_any_separator() -> None:
    rows = "Query_ID;question;category;context_dependent\n2;Ada lagi?;location;TRUE\n1;Ruko?;;\n"
    assert read("q.csv", b"\xef\xbb\xbf" + rows.encode()).questions == (
        ReadQuestion(2, "Ada lagi?", "location", context_dependent=True),
        ReadQuestion(1, "Ruko?", "", context_dependent=None),
    )
    plain = b'id,question\n7,"Rumah, murah?"\n'
    assert read("q.csv", plain).questions == (ReadQuestion(7, "Rumah, murah?"),)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("nomor,pertanyaan\n1,A\n", "q.csv: its first line lacks the columns query_id, question."),
        ("id,question\nx,A\n", "q.csv, line 2: id is wrong; found: a text"),
        ("query_id,question\n1,A\n,B\n", "q.csv, line 3: id is missing"),
        ("id,question\n1,\n", "q.csv, line 2: question is missing"),
        ("id,question\n1,A\n1,B\n", "q.csv, line 3 repeats question number 1."),
        ("id,question\n1,A,B\n", "q.csv, line 2 has 3 cells instead of 2"),
        ("id,question\n", "q.csv holds no question"),
        ("id,question,context_dependent\n1,A,mungkin\n", "line 2: context_dependent is wrong"),
    ],
)
def test_a_wrong_csv_is_refused_with_its_line(rows: str, told: str) -> None:
    with pytest.raises(UnusableQuestions) as refusal, speaking("en"):
        read("q.csv", rows.encode())

    with speaking("en"):
        assert told in str(refusal.value)


def test_both_keys_are_read_for_the_number_and_a_wrong_one_is_called_as_in_the_file() -> None:
    rows = [{"query_id": 4, "question": "A"}, {"id": 9, "query_id": 5, "question": "B"}]
    assert [one.query_id for one in read("q.json", data(rows)).questions] == [4, 5]

    with pytest.raises(UnusableQuestions) as refusal:
        read("q.json", data([{"query_id": "4", "question": "A"}]))
    assert refusal.value.problem.details["place"] == "[0].query_id"


def test_keys_that_nothing_reads_are_named_once() -> None:
    rows = [{**GOOD, "warna": 1}, {**GOOD, "id": 2, "warna": 2, "atap": 3}]
    (remark,) = read("q.json", data(rows)).remarks

    with speaking("en"):
        assert message(remark) == (
            "q.json: nothing reads warna, atap. What is read: query_id, id, question, category, "
            "context_dependent."
        )
