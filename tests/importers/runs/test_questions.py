"""Question files: read whole, or refused with everything that is wrong."""

from __future__ import annotations

import json

import pytest

from relevansi.i18n import speaking
from relevansi.importers.runs.problems import UnreadableFile, UnusableQuestions, message
from relevansi.importers.runs.questions import ReadQuestion, read

GOOD = {"id": 1, "question": "Carikan rumah", "category": "location_simple"}


def data(value: object) -> bytes:
    return json.dumps(value).encode()


def test_questions_come_in_the_order_of_the_file() -> None:
    rows = [
        {**GOOD, "id": 3, "context_dependent": True},
        {"id": 9, "query_id": 1, "question": " Ada lagi? ", "category": "context_followup"},
        {"query_id": 2, "question": "Ruko", "warna": 1},
        {**GOOD, "id": 4, "category": "context_modify", "context_dependent": False, "atap": 3},
    ]

    questions, (remark,) = read("q.json", b"\xef\xbb\xbf" + data(rows))

    assert questions == (
        ReadQuestion(3, "Carikan rumah", "location_simple", context_dependent=True),
        ReadQuestion(1, "Ada lagi?", "context_followup", context_dependent=True),
        ReadQuestion(2, "Ruko", "", context_dependent=None),
        ReadQuestion(4, "Carikan rumah", "context_modify", context_dependent=False),
    )
    with speaking("en"):
        assert "nothing reads warna, atap." in message(remark)


@pytest.mark.parametrize(
    ("rows", "place", "kind"),
    [
        ([{**GOOD, "id": "1"}], "[0].id", "a text"),
        ([{"query_id": "4", "question": "A"}], "[0].query_id", "a text"),
        ([GOOD, {**GOOD, "id": -1}], "[1].id", "-1"),
        ([GOOD, {**GOOD, "id": True}], "[1].id", "true or false"),
        ([{**GOOD, "question": " "}], "[0].question", "an empty text"),
        ([{**GOOD, "question": "-"}], "[0].question", "an empty text"),
        ([{**GOOD, "question": None}], "[0].question", "nothing (null)"),
        ([{**GOOD, "context_dependent": "ya"}], "[0].context_dependent", "a text"),
        ([{**GOOD, "category": 4}], "[0].category", "4"),
        (["Carikan rumah"], "[0]", "a text"),
        ([GOOD, GOOD], "[1].id", "repeats question number 1"),
        ([{"id": 1}, {"question": "Ada?"}, GOOD], "[0].question", "q.json: [1].id is missing"),
        ({"questions": [GOOD]}, "looks like a gold file", "Expected: questions"),
        ([], "holds no question", "Run the test again"),
        (None, "looks like another kind of value", ""),
        ("nomor,pertanyaan\n1,A\n", "its first line lacks the columns query_id, question", ""),
        ("nomor,question\n1,A\n", "its first line lacks the columns query_id", ""),
        ("id,question\nx,A\n", "line 2, id", "found: a text"),
        ("query_id,question\n1,A\n,B\n", "line 3, id", "is missing"),
        ("id,question\n1,\n", "line 2, question", "is missing"),
        ("id,question\n1,A\n1,B\n", "line 3, id", "repeats question number 1."),
        ("id,question\n1,A,B\n", "line 2 has 3 cells instead of 2", ""),
        ("id,question\n", "holds no question", ""),
        ("id,question,context_dependent\n1,A,mungkin\n", "line 2, context_dependent", "is wrong"),
    ],
)
def test_a_wrong_question_refuses_the_file(rows: object, place: str, kind: str) -> None:
    with pytest.raises(UnusableQuestions) as refusal:
        read("q.json", rows.encode() if isinstance(rows, str) else data(rows))

    with speaking("en"):
        advice = refusal.value.advice()
    assert advice.removeprefix("q.json").lstrip(":, ").startswith(place)
    assert kind in advice


@pytest.mark.parametrize(
    "bytes_", [b"Carikan rumah", b"PK\x03\x04,\xff", "id,q\n1,a".encode("utf-16")]
)
def test_a_file_that_is_neither_json_nor_csv_is_unreadable(bytes_: bytes) -> None:
    with pytest.raises(UnreadableFile):
        read("q.csv", bytes_)


def test_a_csv_is_read_with_either_column_for_the_number_and_any_separator() -> None:
    rows = "Query_ID;question;category;context_dependent\n2;Ada lagi?;location;TRUE\n1;Ruko?;;\n"
    assert read("q.csv", b"\xef\xbb\xbf" + rows.encode())[0] == (
        ReadQuestion(2, "Ada lagi?", "location", context_dependent=True),
        ReadQuestion(1, "Ruko?", "", context_dependent=None),
    )
    plain = b'id,question\n7,"Rumah, murah?"\n'
    assert read("q.csv", plain)[0] == (ReadQuestion(7, "Rumah, murah?"),)
