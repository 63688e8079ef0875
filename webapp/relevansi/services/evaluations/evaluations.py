"""Stored evaluations: stored once, listed, paged through, downloaded, deleted."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import Any

from msgspec import Struct
from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from relevansi.db.tables.evaluations import Evaluation, EvaluationItem
from relevansi.db.tables.study import Study
from relevansi.exporters.evaluations.score_documents import WaitingRows
from relevansi.failures import Missing
from relevansi.i18n import mark
from relevansi.metrics.evaluations.chunks import CHUNK_FIGURES
from relevansi.metrics.evaluations.json_answers import WEIGHTS
from relevansi.services.study import studies


class EvaluationKind(StrEnum):
    ANSWERS = "answers"
    CHUNKS = "chunks"
    JSON = "json-v2"


ITEM_FIGURES = {
    EvaluationKind.ANSWERS: ("overlap", "faithfulness", "em", "f1"),
    EvaluationKind.CHUNKS: CHUNK_FIGURES,
    EvaluationKind.JSON: ("score", *WEIGHTS),
}
"""The figures of an item; the list of items shows the first."""


ID_BYTES = 4
PAGE_SIZE = 50
_BATCH = 500


class UnknownEvaluation(Missing):
    message = mark("This study has no such evaluation or item")
    remedy = mark("Go to the page of the evaluations: all that were scored are listed there.")


class Show(StrEnum):
    ALL = "all"
    FAILED = "failed"


class Page(Struct, frozen=True):
    """One page of items; ``number`` counts from 1."""

    show: Show
    number: int
    n_pages: int
    items: Sequence[EvaluationItem]
    counts: Mapping[Show, int]


def store(
    session: Session, study: Study, scored: Evaluation, rows: WaitingRows, now: datetime
) -> tuple[str, bool]:
    """Store an evaluation with its rows, unless an equal one is stored.

    Returns the id of the stored one, and whether it was there before.
    """
    # Locked, so that of one file sent twice at once the second finds the first.
    session.execute(select(Study.id).where(Study.id == study.id).with_for_update())
    of_study, equal = Evaluation.study_id == study.id, Evaluation.sha256 == scored.sha256
    equal_id = session.scalar(select(Evaluation.id).where(of_study, equal))
    if equal_id is not None:
        return equal_id, True
    scored.id, scored.study_id, scored.created_at = secrets.token_hex(ID_BYTES), study.id, now
    session.add(scored)
    session.flush()
    items = ({"evaluation_id": scored.id, "position": n, **row} for n, row in enumerate(rows, 1))
    while batch := list(islice(items, _BATCH)):
        session.execute(insert(EvaluationItem), batch)
    return scored.id, False


def find(session: Session, study: Study, evaluation_id: str) -> Evaluation:
    """Return an evaluation of the study; raises ``UnknownEvaluation``."""
    evaluation = session.get(Evaluation, evaluation_id)
    if evaluation is None or evaluation.study_id != study.id:
        raise UnknownEvaluation(evaluation_id)
    return evaluation


def all_of(session: Session, study: Study) -> Sequence[Evaluation]:
    """Return the study's evaluations, the newest first."""
    of_study = select(Evaluation).where(Evaluation.study_id == study.id)
    return session.scalars(of_study.order_by(Evaluation.created_at.desc(), Evaluation.id)).all()


def page(session: Session, evaluation: Evaluation, show: Show, number: int) -> Page:
    """Return one page of the evaluation's items; a number beyond the last is the last."""
    of_evaluation = EvaluationItem.evaluation_id == evaluation.id
    failed = of_evaluation & EvaluationItem.failed.is_(True)
    conditions = {Show.ALL: of_evaluation, Show.FAILED: failed}
    counts = {
        part: session.scalar(select(func.count()).where(condition)) or 0
        for part, condition in conditions.items()
    }
    n_pages = max(1, -(-counts[show] // PAGE_SIZE))
    number = min(max(1, number), n_pages)
    rows = select(EvaluationItem).where(conditions[show]).order_by(EvaluationItem.position)
    items = session.scalars(rows.limit(PAGE_SIZE).offset((number - 1) * PAGE_SIZE)).all()
    return Page(show, number, n_pages, items, counts)


def find_item(session: Session, evaluation: Evaluation, position: int) -> EvaluationItem:
    """Return the item at a position; raises ``UnknownEvaluation``."""
    of_it = EvaluationItem.evaluation_id == evaluation.id
    at_position = select(EvaluationItem).where(of_it, EvaluationItem.position == position)
    item = session.scalar(at_position)
    if item is None:
        raise UnknownEvaluation(position)
    return item


def results(session: Session, evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    """Yield every item as the command line writes it, with one batch in memory at a time."""
    of_evaluation = EvaluationItem.evaluation_id == evaluation.id
    in_order = select(EvaluationItem.result).where(of_evaluation).order_by(EvaluationItem.position)
    yield from session.scalars(in_order.execution_options(yield_per=_BATCH))


def remove(session: Session, study: Study, evaluation: Evaluation, now: datetime) -> None:
    """Delete an evaluation with its items, logged."""
    studies.log(session, study, "delete evaluation", evaluation.id, evaluation.name, None, now)
    session.execute(delete(EvaluationItem).where(EvaluationItem.evaluation_id == evaluation.id))
    session.execute(delete(Evaluation).where(Evaluation.id == evaluation.id))
