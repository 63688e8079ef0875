from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevansi import labels
from relevansi.cli.evaluations.scoring import constraint_parts
from relevansi.cli.frame.output import printed
from relevansi.exporters.evaluations import score_documents
from relevansi.exporters.evaluations.score_documents import WaitingRows
from relevansi.exporters.frame.tables import Document
from relevansi.i18n import speaking
from relevansi.metrics.gold.constraints import MissingRule
from relevansi.services.evaluations import scoring
from relevansi.services.evaluations.evaluations import EvaluationKind
from relevansi.services.evaluations.scoring import ScoringSettings
from tests.exporters.one_language import foreign, text_of
from tests.services.evaluations import scored_files
from tests.services.gold.gold_files import gold_bytes, v2_file


def _report(kind: EvaluationKind, data: bytes, **settings: Any) -> Document:
    with WaitingRows() as rows:
        file = scoring.NamedBytes("a.json", data)
        scores = scoring.score(ScoringSettings(kind, **settings), [file], rows)
    return score_documents.report(kind, "a.json", scores.head | {"left_out": 1}, scores.figures)


def _constraints(missing: MissingRule) -> str:
    gold, results = (scoring.NamedBytes("f.json", data) for data in (gold_bytes(), v2_file()))
    report, _ = scoring.constraint_scoring(gold, results, missing=missing)
    return printed(constraint_parts(report), width=100).decode()


SCORES = {
    "answers": partial(
        _report, EvaluationKind.ANSWERS, scored_files.lines(*scored_files.ANSWERS), first=2
    ),
    "chunks": partial(_report, EvaluationKind.CHUNKS, scored_files.lines(*scored_files.CHUNKS)),
    "json-v2": partial(
        _report,
        EvaluationKind.JSON,
        scored_files.document(scored_files.JSON_SET),
        subset=scoring.NamedBytes("dev.json", b'["j1"]'),
    ),
}

REPORTS: Mapping[str, Callable[[], bytes | str]] = {
    **{
        f"scores of {kind}": lambda read=read: score_documents.WRITERS["markdown"](read())  # type: ignore[misc]
        for kind, read in SCORES.items()
    },
    **{
        f"constraints, MISSING {missing}": partial(_constraints, missing) for missing in MissingRule
    },
}


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("language", ["id", "en"])
def test_a_report_is_in_one_language(name: str, language: str) -> None:
    with speaking(language):
        text = text_of(REPORTS[name]())

    assert foreign(text, language) == []
    assert [label for label in labels.CATEGORIES if label in text] == []


VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
ROWS = st.lists(st.dictionaries(st.text(), VALUES | st.lists(VALUES, max_size=3), max_size=4))


@given(given_rows=ROWS)
def test_rows_come_back_as_they_went_in_every_time(given_rows: list[dict[str, Any]]) -> None:
    with WaitingRows() as rows:
        for row in given_rows:
            rows.add(row)

        assert rows.n == len(given_rows)
        for _ in range(2):
            assert [list(row.items()) for row in rows] == [list(row.items()) for row in given_rows]
