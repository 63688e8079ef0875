"""The files that automatic evaluations came from, as they were recorded."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.evaluations import Evaluation
from webapp.i18n import mark
from webapp.services.runs.source_files import RecordedFile


def recorded(session: Session) -> Iterator[RecordedFile]:
    """Yield the files of every evaluation, the first evaluation first."""
    evaluations = session.execute(
        select(Evaluation.id, Evaluation.files).order_by(Evaluation.created_at, Evaluation.id)
    )
    for evaluation_id, files in evaluations:
        for file in files:
            made = mark("evaluation %(id)s")
            yield RecordedFile(made, evaluation_id, file["name"], file["sha256"])
