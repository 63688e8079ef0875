"""Scores are in one language: no sentence of the other one's catalogue is in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.exporters.one_language import foreign, text_of
from tests.services.evaluations import scored_files
from tests.services.gold.gold_files import gold_bytes, v2_file
from webapp import labels
from webapp.cli.evaluations.scoring import constraints_table, report_table
from webapp.exporters.evaluations import score_documents, score_reports
from webapp.exporters.evaluations.score_documents import WaitingRows
from webapp.exporters.frame.tables import Document
from webapp.i18n import speaking
from webapp.importers.evaluations import expected_json
from webapp.metrics.evaluations.answers import AnswerScale
from webapp.metrics.evaluations.json_answers import Gate
from webapp.metrics.gold.constraints import MissingRule
from webapp.records import Problem
from webapp.services.evaluations import scoring


def _untouched(_score: object) -> None:
    """Leave a score to the summary alone."""


def _untold(problem: Problem) -> None:
    raise AssertionError(problem)


def _answers() -> Document:
    scale, file = AnswerScale(None, 0.6), BytesIO(scored_files.lines(*scored_files.ANSWERS))
    found = scoring.score_answers("a.jsonl", file, scale, _untouched, _untold, first=2)
    return score_reports.report("answers", "a.jsonl", found.head | {"left_out": 1}, found.figures)


def _chunks() -> Document:
    file = BytesIO(scored_files.lines(*scored_files.CHUNKS))
    found = scoring.score_chunks("c.jsonl", file, _untouched, _untold)
    return score_reports.report("chunks", "c.jsonl", found.head, found.figures)


def _json() -> Document:
    answered = expected_json.read("j.json", scored_files.document(scored_files.JSON_SET))
    found = scoring.json_scoring(answered, gate=Gate(), subset=("j1",), stop_at_gate=False)
    head = score_documents.json_head(answered.provenance, found.summary, found.subset)
    return score_reports.report(
        "json-v2", "j.json", head, score_documents.json_figures(found.summary)
    )


def _constraints(missing: MissingRule) -> str:
    gold, results = (scoring.NamedBytes("f.json", data) for data in (gold_bytes(), v2_file()))
    found = scoring.constraint_scoring(gold, results, None, threshold=None, missing=missing)
    return constraints_table(found.report).decode()


SCORES = {"answers": _answers, "chunks": _chunks, "json-v2": _json}

PRINTED: Mapping[str, Callable[[Document], bytes | str]] = {
    **score_reports.WRITERS,
    "table": report_table,
}

REPORTS: Mapping[str, Callable[[], bytes | str]] = {
    **{
        f"scores of {kind} as {name}": lambda read=read, write=write: write(read())  # type: ignore[misc]
        for kind, read in SCORES.items()
        for name, write in PRINTED.items()
    },
    **{
        f"constraints, MISSING {missing}": partial(_constraints, missing) for missing in MissingRule
    },
}


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("language", ["id", "en"])
def test_a_report_is_in_one_language(name: str, language: str) -> None:
    with speaking(language):
        assert foreign(text_of(REPORTS[name]()), language) == []


def test_terminal_tables_name_categories_in_words() -> None:
    with speaking("id"):
        text = _constraints(MissingRule.COUNTED)

    assert "Lokasi" in text
    assert [label for label in labels.CATEGORIES if label in text] == []


VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
ROWS = st.lists(st.dictionaries(st.text(), VALUES | st.lists(VALUES, max_size=3), max_size=4))


@given(given_rows=ROWS)
def test_rows_come_back_as_they_went_in_every_time(given_rows: list[dict[str, Any]]) -> None:
    with WaitingRows() as rows:
        for row in given_rows:
            rows.add(row)

        assert rows.n == len(given_rows)
        assert list(rows) == given_rows
        assert list(rows) == given_rows


def test_the_order_of_the_keys_is_kept() -> None:
    with WaitingRows() as rows:
        rows.add({"z": 1, "a": 2})

        assert [list(row) for row in rows] == [["z", "a"]]


def test_nothing_is_left_once_they_are_done_with() -> None:
    with WaitingRows() as rows:
        rows.add({})

    with pytest.raises(ValueError, match="closed file"):
        list(rows)
