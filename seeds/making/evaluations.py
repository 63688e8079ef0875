"""The demo's evaluations: one of each kind."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy.orm import Session

from relevansi.db.tables.study import Study
from relevansi.exporters.evaluations.score_documents import WaitingRows
from relevansi.metrics.evaluations.similarity import LexicalEmbedder
from relevansi.services.evaluations import evaluations, scoring
from relevansi.services.evaluations.evaluations import EvaluationKind
from relevansi.services.evaluations.scoring import NamedBytes, ScoringSettings

FILES = {
    EvaluationKind.ANSWERS: "answers.jsonl",
    EvaluationKind.CHUNKS: "chunks.jsonl",
    EvaluationKind.JSON: "json_answers.json",
}


def add(session: Session, study: Study, folder: Path, now: datetime) -> None:
    """Score the files in `folder` on this machine alone."""
    for number, (kind, name) in enumerate(FILES.items()):
        at = now + timedelta(hours=number)
        embedder = LexicalEmbedder() if kind is EvaluationKind.ANSWERS else None
        with WaitingRows() as rows:
            file = NamedBytes(name, (folder / name).read_bytes())
            evaluation = scoring.score(ScoringSettings(kind, embedder), [file], rows)
            evaluations.store(session, study, evaluation, rows, at)
