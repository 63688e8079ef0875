from __future__ import annotations

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.db.tables.evaluations import Evaluation, EvaluationItem
from relevansi.db.tables.people import LogEntry
from relevansi.db.tables.study import Study
from relevansi.exporters.evaluations.score_documents import WaitingRows
from relevansi.importers.runs.problems import ImportRefused
from relevansi.services.evaluations import evaluations, scoring
from relevansi.services.evaluations.evaluations import EvaluationKind, Show, UnknownEvaluation
from relevansi.services.evaluations.scoring import NamedBytes, ScoringSettings
from tests.conftest import NOW
from tests.services.evaluations.scored_files import ANSWERS, CHUNKS, JSON_SET, document, lines

FILES = {
    EvaluationKind.ANSWERS: NamedBytes("answers.jsonl", lines(*ANSWERS)),
    EvaluationKind.CHUNKS: NamedBytes("chunks.jsonl", lines(*CHUNKS)),
    EvaluationKind.JSON: NamedBytes("answers.json", document(JSON_SET)),
}


def stored(session: Session, study: Study, kind: EvaluationKind, *files: NamedBytes) -> Evaluation:
    with WaitingRows() as rows:
        scored = scoring.score(ScoringSettings(kind), files or [FILES[kind]], rows)
        result, _ = evaluations.store(session, study, scored, rows, NOW)
    return evaluations.find(session, study, result)


def test_a_page_holds_fifty_items_and_one_beyond_the_last_is_the_last(
    session: Session, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [CHUNKS[i % 2] | {"id": f"c{i}"} for i in range(120)]
    result = stored(session, study, EvaluationKind.CHUNKS, NamedBytes("many.jsonl", lines(*rows)))

    last = evaluations.page(session, result, Show.ALL, 99)
    failed = evaluations.page(session, result, Show.FAILED, 2)

    assert (last.number, last.n_pages, len(last.items)) == (3, 3, 20)
    assert last.items[0].position == 101
    assert (failed.counts[Show.FAILED], len(failed.items)) == (60, 10)
    monkeypatch.setattr(scoring, "MAX_ROWS", 119)
    with pytest.raises(ImportRefused):
        stored(session, study, EvaluationKind.CHUNKS, NamedBytes("many.jsonl", lines(*rows)))


@pytest.mark.parametrize(
    ("kind", "data", "code"),
    [
        (EvaluationKind.ANSWERS, b"PK\x03\x04", "not_json"),
        (EvaluationKind.ANSWERS, b"a,b\n1,2\n", "not_json"),
        (EvaluationKind.CHUNKS, b'[{"question": "?"}]', "unknown_format"),
        (EvaluationKind.CHUNKS, b'{\n"questions": []\n}', "unknown_format"),
        (EvaluationKind.CHUNKS, lines(*ANSWERS), "no_row_scored"),
        (EvaluationKind.JSON, lines(*ANSWERS), "not_json"),
        (EvaluationKind.JSON, document({"items": JSON_SET["items"]}), "provenance_missing"),
    ],
)
def test_another_file_is_refused_saying_what_it_looks_like(
    kind: EvaluationKind, data: bytes, code: str
) -> None:
    with WaitingRows() as rows, pytest.raises(ImportRefused) as refused:
        scoring.score(ScoringSettings(kind), [NamedBytes("x", data)], rows)

    assert refused.value.problem.code == code


def test_an_item_or_evaluation_that_is_not_there_is_unknown(session: Session, study: Study) -> None:
    result = stored(session, study, EvaluationKind.ANSWERS)

    with pytest.raises(UnknownEvaluation):
        evaluations.find_item(session, result, 99)
    with pytest.raises(UnknownEvaluation):
        evaluations.find(session, study, "gone")


def test_items_fail_by_their_parts_and_a_sentence_without_a_claim_is_no_failure(
    session: Session, study: Study
) -> None:
    result = stored(session, study, EvaluationKind.ANSWERS)

    items = evaluations.page(session, result, Show.ALL, 1).items

    assert [item.failed for item in items] == [True, True, False]
    assert [part["passed"] for part in items[0].parts] == [True, False, None]


def test_deleting_takes_the_items_and_is_logged(session: Session, study: Study) -> None:
    result = stored(session, study, EvaluationKind.ANSWERS)
    stored(session, study, EvaluationKind.CHUNKS)
    gone = result.id

    evaluations.remove(session, study, result, NOW)

    assert session.scalar(select(func.count()).select_from(EvaluationItem)) == 2
    assert session.scalar(select(LogEntry.old).where(LogEntry.subject == gone)) == "answers.jsonl"
