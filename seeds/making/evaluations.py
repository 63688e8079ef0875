"""The demo's evaluations: one of each kind, with people's verdicts on some items."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy.orm import Session

from webapp.db.tables.evaluations import Evaluation
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.exporters.evaluations.score_documents import WaitingRows
from webapp.metrics.evaluations.similarity import LexicalEmbedder
from webapp.records import Click
from webapp.services.evaluations import evaluations, item_rating, scoring
from webapp.services.evaluations.evaluations import GRADE, EvaluationKind
from webapp.services.evaluations.scoring import NamedBytes, ScoringSettings
from webapp.services.study import studies

FILES = {
    EvaluationKind.ANSWERS: "answers.jsonl",
    EvaluationKind.CHUNKS: "chunks.jsonl",
    EvaluationKind.JSON: "json_answers.json",
}
JUDGED = 8
"""The first items of each evaluation that two raters judged."""


def add(session: Session, study: Study, folder: Path, now: datetime) -> None:
    """Score the files in `folder` on this machine alone, and judge the first items of each."""
    raters = studies.raters(session, study)[1:]
    for number, (kind, name) in enumerate(FILES.items()):
        at = now + timedelta(hours=number)
        embedder = LexicalEmbedder() if kind is EvaluationKind.ANSWERS else None
        with WaitingRows() as rows:
            file = NamedBytes(name, (folder / name).read_bytes())
            evaluation = scoring.score(ScoringSettings(kind, embedder), [file], rows)
            evaluations.store(session, study, evaluation, rows, at)
        item_rating.open_to_raters(session, study, evaluation, at, is_open=True)
        for rater in raters:
            _judge(session, rater, evaluation, at)


def _judge(session: Session, rater: Rater, evaluation: Evaluation, at: datetime) -> None:
    """Judge as the machine does, but for one part in seven, on which both raters differ from it.

    Each rater alone differs on one in eleven more. The grade is the share of good parts.
    """
    for position in range(1, min(JUDGED, evaluation.n_items) + 1):
        item = evaluations.find_item(session, evaluation, position)
        said = []
        for number, part in enumerate(item.parts):
            place = 3 * position + number
            differs = place % 7 == 0 or (place + 4 * rater.id) % 11 == 0
            good = bool(part["passed"]) != differs
            said.append(good)
            name = f"demo-{evaluation.kind}-{rater.id}-{position}-{number}"
            click = Click(name, at)
            item_rating.judge(session, rater, evaluation, position, part["key"], int(good), click)
        grade = round(5 * sum(said) / len(said)) if said else (position + rater.id) % 3 + 2
        click = Click(f"demo-{evaluation.kind}-{rater.id}-{position}", at)
        item_rating.judge(session, rater, evaluation, position, GRADE, grade, click)
