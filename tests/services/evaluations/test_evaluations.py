"""Evaluations kept: rows in pages, files equal to the command line's, and what people say."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tests.cli.relevansi import relevansi
from tests.conftest import NOW, copied
from tests.services.evaluations.scored_files import ANSWERS, CHUNKS, JSON_SET, document, lines
from webapp.db.tables.evaluations import Evaluation, EvaluationItem, ItemEvent, ItemJudgment
from webapp.db.tables.people import LogEntry, Rater
from webapp.db.tables.study import Study
from webapp.exporters.evaluations import score_documents
from webapp.exporters.evaluations.score_documents import COLUMNS, WaitingRows
from webapp.importers.runs.problems import ImportRefused
from webapp.metrics.comparisons.significance import Bootstrap
from webapp.records import Click
from webapp.services.evaluations import evaluations, item_rating, scoring
from webapp.services.evaluations.evaluations import (
    EvaluationKind,
    Show,
    UnknownEvaluation,
    UnknownItem,
)
from webapp.services.evaluations.scoring import (
    NamedBytes,
    NothingScored,
    ScoringSettings,
    TooManyRows,
)
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
    """Return the files, else those of the kind above, scored and stored."""
    return stored(session, study, ScoringSettings(kind), *(files or [FILES[kind]]))


def stored(
    session: Session, study: Study, settings: ScoringSettings, *files: NamedBytes
) -> Evaluation:
    with WaitingRows() as rows:
        scored = scoring.score(settings, files, rows)
        found, _ = evaluations.store(session, study, scored, rows, NOW)
    return evaluations.find(session, study, found)


def click(number: int) -> Click:
    return Click(f"e{number}", NOW + timedelta(seconds=number))


DEV = NamedBytes("dev.json", document(["j2"]))


@pytest.mark.parametrize("ending", ["json", "csv"])
@pytest.mark.parametrize(
    ("settings", "options"),
    [
        *((ScoringSettings(kind), ()) for kind in EvaluationKind),
        (ScoringSettings(EvaluationKind.ANSWERS, first=2), ("--n", "2")),
        (ScoringSettings(EvaluationKind.CHUNKS, first=1), ("--n", "1")),
        (ScoringSettings(EvaluationKind.JSON, subset=DEV), ("--subset", "dev.json")),
    ],
)
def test_a_download_is_what_the_command_line_writes_bit_for_bit(
    sqlite_session: tuple[Session, Study],
    tmp_path: Path,
    settings: ScoringSettings,
    options: tuple[str, ...],
    ending: str,
) -> None:
    session, study = sqlite_session
    kind = settings.kind
    file = FILES[kind]
    for one in (file, DEV):
        (tmp_path / one.name).write_bytes(one.data)
    options = tuple(str(tmp_path / word) if word == DEV.name else word for word in options)
    theirs = relevansi(
        tmp_path, "score", kind, str(tmp_path / file.name), "--format", ending, *options
    )
    ours = stored(session, study, settings, file)
    results = evaluations.results(session, ours)
    if ending == "json":
        pieces = score_documents.json_file(ours.head, results)
    else:
        pieces = score_documents.csv_file(COLUMNS[kind], results)

    assert b"".join(pieces).decode() == theirs.stdout


def test_items_are_stored_in_order_with_what_the_machine_says_of_their_parts(
    session: Session, study: Study
) -> None:
    found = kept(session, study, EvaluationKind.ANSWERS)
    page = evaluations.page(session, found, Show.ALL, 1)
    first = evaluations.find_item(session, found, 1)

    assert [item.item_id for item, _ in page.lines] == ["q1", "q2", "q3"]
    assert [item.result["overlap"] for item, _ in page.lines] == [0.5, 0.0, 1.0]
    assert [part["passed"] for part in first.parts] == [True, False, None]  # no claim: nothing
    assert [item.failed for item, _ in page.lines] == [True, True, False]


def test_a_page_holds_fifty_items_and_one_beyond_the_last_is_the_last(
    sqlite_session: tuple[Session, Study],
) -> None:
    session, study = sqlite_session
    rows = [CHUNKS[i % 2] | {"id": f"c{i}"} for i in range(120)]
    found = kept(session, study, EvaluationKind.CHUNKS, NamedBytes("many.jsonl", lines(*rows)))

    last = evaluations.page(session, found, Show.ALL, 99)
    failed = evaluations.page(session, found, Show.FAILED, 2)

    assert (last.number, last.n_pages, len(last.lines)) == (3, 3, 20)
    assert last.lines[0][0].position == 101
    assert (failed.counts[Show.FAILED], len(failed.lines)) == (
        60,
        10,
    )


def test_more_rows_than_are_kept_are_refused_and_nothing_is_stored(
    sqlite_session: tuple[Session, Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    session, study = sqlite_session
    monkeypatch.setattr(scoring, "MOST_ROWS", 1)

    with pytest.raises(TooManyRows):
        kept(session, study, EvaluationKind.CHUNKS)
    assert session.scalar(select(func.count()).select_from(Evaluation)) == 0


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
    assert isinstance(refused.value, NothingScored) or kind is EvaluationKind.JSON


def test_a_word_stands_until_it_is_changed_taken_back_or_undone(
    session: Session, study: Study, rater: Rater
) -> None:
    found = kept(session, study, EvaluationKind.ANSWERS)

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
    sqlite_session: tuple[Session, Study], part: str, value: int
) -> None:
    session, study = sqlite_session
    rater = studies.raters(session, study)[0]
    found = kept(session, study, EvaluationKind.ANSWERS)

    with pytest.raises(NotToJudge):
        item_rating.judge(session, rater, found, 1, part, value, click(1))
    with pytest.raises(UnknownItem):
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
    assert [(one.position, one.n_differ) for one in apart] == [(1, 1)]
    assert apart[0].gap == pytest.approx(0.2)  # |3.5 / 5 - 0.5|
    disagreeing = evaluations.page(session, found, Show.DISAGREEMENTS, 1)
    assert [item.position for item, _ in disagreeing.lines] == [1, 3]  # one of two raters differs


def test_fields_of_json_answers_are_told_apart(
    sqlite_session: tuple[Session, Study],
) -> None:
    session, study = sqlite_session
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


@pytest.fixture(name="sqlite_session")
def _sqlite_session(request: pytest.FixtureRequest) -> Iterator[tuple[Session, Study]]:
    """A session on an empty SQLite database, where the kind of database does not matter."""
    database = request.getfixturevalue("sqlite")
    copied(request.getfixturevalue("sqlite_template"), database)
    with database.writing() as session:
        yield session, studies.open_or_make(session, NOW)
    database.close()
