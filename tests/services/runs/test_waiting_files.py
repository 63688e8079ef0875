"""Files that wait are counted without being read, and stored together."""

from __future__ import annotations

import pytest

from tests.conftest import NOW
from webapp.db.tables.runs import Upload
from webapp.services.runs import waiting_files

RUN = b'{"results": [{"query_id": 1}, {"query_id": 2}]}'
RATINGS = b'{"format": "relevansi offline ratings", "changes": [' + b'{"query_id": 1},' * 29 + b"]}"
CSV = b"query_id,results_count\n1,2\n2,2\n3,2\n"


@pytest.mark.parametrize(
    ("name", "data", "questions"),
    [
        ("run.json", RUN, 2),
        ("ratings.json", RATINGS, 2),  # 29 changes of ten a question
        ("rated.csv", CSV, 4),  # its lines
        ("empty.json", b"", 0),
    ],
)
def test_how_long_a_file_takes_is_judged_by_its_questions(
    name: str, data: bytes, questions: int
) -> None:
    file = Upload(id="1", study_id=1, name=name, data=data, created_at=NOW)

    assert waiting_files.questions(file) == questions
    assert not waiting_files.is_long([file] * 74)  # at most 4 each, below 300
    assert waiting_files.is_long([file] * 150) == (questions > 1)
