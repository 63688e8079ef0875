from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.evaluations.scored_files import ANSWERS, CHUNKS, JSON_SET, document, lines
from webapp.db.tables.evaluations import Evaluation, EvaluationItem, ItemEvent, ItemJudgment
from webapp.db.tables.people import LogEntry, Rater
from webapp.db.tables.study import Study
from webapp.exporters.evaluations.score_documents import WaitingRows
from webapp.importers.runs.problems import ImportRefused
from webapp.metrics.comparisons.significance import Bootstrap
from webapp.records import Click
from webapp.services.evaluations import evaluations, item_rating, scoring
from webapp.services.evaluations.evaluations import EvaluationKind, Show, UnknownEvaluation
from webapp.services.evaluations.scoring import NamedBytes, ScoringSettings
from webapp.services.judging.events import EventIdTaken, NotToJudge
from webapp.services.people import raters
from webapp.services.study import studies

FILES = {
    EvaluationKind.ANSWERS: NamedBytes("answers.jsonl", lines(*ANSWERS)),
    EvaluationKind.CHUNKS: NamedBytes("chunks.jsonl", lines(*CHUNKS)),
    EvaluationKind.JSON: NamedBytes("answers.json", document(JSON_SET)),
}
FEW = Bootstrap(resamples=50)


def kept(session: Session, study: Study, kind: EvaluationKind, *files: NamedBytes) -> Evaluation:
    with WaitingRows() as rows:
        scored = scoring.score(ScoringSettings(kind), files or [FILES[kind]], rows)
        found, _ = evaluations.store(session, study, scored, rows, NOW)
    return evaluations.find(session, study, found)


def click(number: int) -> Click:
    return Click(f"e{number}", NOW + timedelta(seconds=number))


def test_a_page_holds_fifty_items_and_one_beyond_the_last_is_the_last(
    session: Session, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [CHUNKS[i % 2] | {"id": f"c{i}"} for i in range(120)]
    found = kept(session, study, EvaluationKind.CHUNKS, NamedBytes("many.jsonl", lines(*rows)))

    last = evaluations.page(session, found, Show.ALL, 99)
    failed = evaluations.page(session, found, Show.FAILED, 2)

    assert (last.number, last.n_pages, len(last.lines)) == (3, 3, 20)
    assert last.lines[0][0].position == 101
    assert (failed.counts[Show.FAILED], len(failed.lines)) == (60, 10)
    monkeypatch.setattr(scoring, "MOST_ROWS", 119)
    with pytest.raises(ImportRefused):
        kept(session, study, EvaluationKind.CHUNKS, NamedBytes("many.jsonl", lines(*rows)))


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


def test_a_word_stands_until_it_is_changed_taken_back_or_undone(
    session: Session, study: Study, rater: Rater
) -> None:
    found = kept(session, study, EvaluationKind.ANSWERS)
    items = [item for item, _ in evaluations.page(session, found, Show.ALL, 1).lines]
    assert [item.failed for item in items] == [True, True, False]
    assert [part["passed"] for part in items[0].parts] == [True, False, None]  # no claim: nothing

    def said() -> dict[str, int]:
        return evaluations.judged(session, rater, evaluations.find_item(session, found, 1))

    item_rating.judge(session, rater, found, 1, "0", 1, click(1))
    item_rating.judge(session, rater, found, 1, "0", 1, click(1))  # sent twice: once
    with pytest.raises(EventIdTaken):
        item_rating.judge(session, rater, found, 1, "1", 1, click(1))
    item_rating.judge(session, rater, found, 1, "0", 0, click(2))
    item_rating.judge(session, rater, found, 1, "grade", 4, click(3))
    assert said() == {"0": 0, "grade": 4}
    assert item_rating.undo(session, rater, found, click(4)) == 1
    assert item_rating.undo(session, rater, found, click(4)) == 1  # sent twice: once
    assert said() == {"0": 0}
    item_rating.undo(session, rater, found, click(5))
    assert said() == {"0": 1}
    item_rating.judge(session, rater, found, 1, "0", None, click(6))
    assert said() == {}
    item_rating.undo(session, rater, found, click(7))
    item_rating.undo(session, rater, found, click(8))
    assert item_rating.undo(session, rater, found, click(9)) is None
    assert said() == {}
    assert session.scalar(select(func.count()).select_from(ItemEvent)) == 8


@pytest.mark.parametrize(("part", "value"), [("9", 1), ("grade", 6), ("0", 2), ("main_topic", 1)])
def test_what_is_not_there_cannot_be_judged(
    session: Session, study: Study, part: str, value: int
) -> None:
    rater = studies.raters(session, study)[0]
    found = kept(session, study, EvaluationKind.ANSWERS)

    with pytest.raises(NotToJudge):
        item_rating.judge(session, rater, found, 1, part, value, click(1))
    with pytest.raises(UnknownEvaluation):
        item_rating.judge(session, rater, found, 99, "0", 1, click(1))
    with pytest.raises(UnknownEvaluation):
        evaluations.find(session, study, "gone")


def test_the_machine_is_put_beside_the_majority_and_the_median_of_people(
    session: Session, study: Study, rater: Rater
) -> None:
    """Machine on q1: ✓ ✗; q2: ✗; q3: ✓. Two raters; on q3 they are split."""
    found = kept(session, study, EvaluationKind.ANSWERS)
    other = studies.add_rater(session, study, "Ani", NOW)
    say = [
        (rater, 1, "0", 1),
        (rater, 1, "1", 1),  # the machine says ✗
        (rater, 2, "0", 0),
        (rater, 3, "0", 1),
        (other, 3, "0", 0),
        (rater, 1, "2", 1),  # an I-don't-know: the machine says nothing
        (rater, 1, "grade", 3),
        (other, 1, "grade", 4),
        (rater, 2, "grade", 0),
        (rater, 3, "grade", 5),
    ]
    for number, (who, position, part, value) in enumerate(say):
        item_rating.judge(session, who, found, position, part, value, click(number))

    report, apart = item_rating.machine_agreement(session, found, bootstrap=FEW)

    assert (report["raters"], report["items"], report["graded"]) == (2, 3, 3)
    counts = ("both", "machine_only", "people_only", "neither")
    assert [report["verdicts"][name] for name in counts] == [1, 0, 1, 1]
    # overlap 0.5, 0, 1 against grades 3.5, 0, 5: the same order
    assert report["grades"]["overlap"]["spearman"]["value"] == pytest.approx(1)
    assert report["grades"]["f1"]["n"] == 1  # only q1 has a gold answer
    assert [(one.item.position, one.n_differ) for one in apart] == [(1, 1)]
    assert apart[0].gap == pytest.approx(0.2)  # |3.5 / 5 - 0.5|
    disagreeing = evaluations.page(session, found, Show.DISAGREEMENTS, 1)
    assert [item.position for item, _ in disagreeing.lines] == [1, 3]  # one of two raters differs


def test_fields_of_json_answers_are_told_apart(session: Session, study: Study) -> None:
    rater = studies.raters(session, study)[0]
    found = kept(session, study, EvaluationKind.JSON)
    item_rating.judge(session, rater, found, 1, "main_topic", 1, click(1))
    item_rating.judge(session, rater, found, 2, "main_topic", 0, click(2))
    item_rating.judge(session, rater, found, 1, "grounding", 1, click(3))

    report, _ = item_rating.machine_agreement(session, found, bootstrap=FEW)
    topic, grounding = report["verdicts_by_field"].values()

    assert list(report["verdicts_by_field"]) == ["main_topic", "grounding"]
    assert (topic["people_only"], topic["neither"], grounding["both"]) == (1, 1, 1)


def test_deleting_takes_items_and_judgments_and_leaves_the_log_of_clicks(
    session: Session, study: Study, rater: Rater
) -> None:
    found, other = (
        kept(session, study, EvaluationKind.ANSWERS),
        kept(session, study, EvaluationKind.CHUNKS),
    )
    item_rating.judge(session, rater, found, 1, "0", 1, click(1))
    item_rating.judge(session, rater, other, 1, "0", 1, click(2))
    n_judgments = evaluations.n_judgments(session, found)
    gone = found.id

    evaluations.remove(session, study, found, NOW)
    session.flush()
    session.expire_all()

    assert n_judgments == 1
    assert session.scalar(select(func.count()).select_from(EvaluationItem)) == 2
    assert session.scalar(select(func.count()).select_from(ItemJudgment)) == 1
    assert session.scalars(select(ItemEvent.item_key).where(ItemEvent.evaluation_id == gone)).all()
    assert session.scalar(select(LogEntry.old).where(LogEntry.subject == gone)) == "answers.jsonl"


def test_a_deleted_rater_takes_their_words_on_items_along(session: Session, study: Study) -> None:
    found = kept(session, study, EvaluationKind.ANSWERS)
    other = studies.add_rater(session, study, "Ani", NOW)
    item_rating.judge(session, other, found, 1, "0", 1, click(1))
    item_rating.undo(session, other, found, click(2))
    session.flush()

    raters.delete_rater(session, other, NOW)

    assert session.scalar(select(func.count()).select_from(ItemEvent)) == 0
    assert session.scalar(select(func.count()).select_from(ItemJudgment)) == 0
