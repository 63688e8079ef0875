"""Evaluations that are kept: stored, listed, paged through, taken away as files, deleted."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import Any

from msgspec import Struct, convert
from sqlalchemy import ColumnElement, Row, Select, delete, exists, func, insert, select, update
from sqlalchemy.orm import Session

from webapp.db.tables.evaluations import Evaluation, EvaluationItem, ItemEvent, ItemJudgment
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.exporters.evaluations.score_documents import WaitingRows
from webapp.failures import Missing
from webapp.i18n import mark
from webapp.metrics.evaluations import chunks, json_answers
from webapp.metrics.evaluations.answers import SentenceVerdict, Support, sentences
from webapp.metrics.evaluations.chunks import ChunkRow, ChunkScore
from webapp.metrics.evaluations.json_answers import WEIGHTS, JsonQuestion, JsonScore
from webapp.services.study import studies

GRADE = "grade"
"""The part that is the whole item: graded 0 to 5."""

MOST_PARTS = 200
"""Sentences or chunks of one item that people are shown; the page says how many more there are."""


class EvaluationKind(StrEnum):
    ANSWERS = "answers"
    CHUNKS = "chunks"
    JSON = "json-v2"


HEADLINES = {
    EvaluationKind.ANSWERS: ("overlap", "f1"),
    EvaluationKind.CHUNKS: ("f1",),
    EvaluationKind.JSON: ("score",),
}
"""The headline figure of an item, else the next one; 0 to 1, a score to 100."""

FIGURES = {
    EvaluationKind.ANSWERS: ("overlap", "faithfulness", "em", "f1"),
    EvaluationKind.CHUNKS: chunks.FIGURES,
    EvaluationKind.JSON: ("score", *WEIGHTS),
}
"""The figures of an item that may predict a grade."""


def score_again(
    kind: EvaluationKind, row: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]
) -> Sequence[SentenceVerdict] | ChunkScore | JsonScore:
    """The score of a kept row with all that explains it: of an answer its sentences.

    No embedder is asked again: the sentences' cosines are kept in the parts.
    """
    if kind is EvaluationKind.ANSWERS:
        return [
            SentenceVerdict(sentence, Support(part["support"]), part["cosine"])
            for sentence, part in zip(sentences(row["answer"]), parts, strict=True)
        ]
    if kind is EvaluationKind.CHUNKS:
        return chunks.score(convert(row, ChunkRow))
    return json_answers.score(convert(row, JsonQuestion))


def headline(kind: EvaluationKind, result: Mapping[str, Any]) -> tuple[str, float] | None:
    """Return the headline figure of an item, its name and value from 0 to 1, if it has one."""
    name = next((name for name in HEADLINES[kind] if result[name] is not None), None)
    if name is None:
        return None
    return name, result[name] / 100 if kind is EvaluationKind.JSON else result[name]


ID_BYTES = 4
PAGE_SIZE = 50
_BATCH = 500


class UnknownEvaluation(Missing):
    message = mark("This study has no such evaluation or item")
    remedy = mark("Go to the page of the evaluations: all that were scored are listed there.")


class Show(StrEnum):
    ALL = "all"
    FAILED = "failed"
    DISAGREEMENTS = "disagreements"
    JUDGED = "judged"


class Page(Struct, frozen=True):
    """One page of items, each with people's verdicts; ``number`` counts from 1."""

    show: Show
    number: int
    n_pages: int
    lines: tuple[tuple[EvaluationItem, list[ItemJudgment]], ...]
    counts: Mapping[Show, int]


def store(
    session: Session, study: Study, scored: Evaluation, rows: WaitingRows, now: datetime
) -> tuple[str, bool]:
    """Store an evaluation with its rows, unless an equal one is here; its id, and whether."""
    # The same file twice at once: the second waits and finds the first.
    session.execute(select(Study.id).where(Study.id == study.id).with_for_update())
    of_study, equal = Evaluation.study_id == study.id, Evaluation.sha256 == scored.sha256
    known = session.scalar(select(Evaluation.id).where(of_study, equal))
    if known is not None:
        return known, True
    scored.id, scored.study_id, scored.created_at = secrets.token_hex(ID_BYTES), study.id, now
    session.add(scored)
    session.flush()
    numbered = enumerate(rows, start=1)
    while batch := [
        {"evaluation_id": scored.id, "position": position, **row}
        for position, row in islice(numbered, _BATCH)
    ]:
        session.execute(insert(EvaluationItem), batch)
    return scored.id, False


def find(session: Session, study: Study, evaluation_id: str) -> Evaluation:
    """Return an evaluation of the study; raises ``UnknownEvaluation``."""
    found = session.get(Evaluation, evaluation_id)
    if found is None or found.study_id != study.id:
        raise UnknownEvaluation(evaluation_id)
    return found


def overviews(session: Session, study: Study) -> Sequence[Row[Evaluation, int]]:
    """Return the study's evaluations, the newest first, each with its number of judged items."""
    judged = verdicts_on(Evaluation.id, func.count(EvaluationItem.id.distinct())).scalar_subquery()
    found = select(Evaluation, judged).where(Evaluation.study_id == study.id)
    return session.execute(found.order_by(Evaluation.created_at.desc(), Evaluation.id)).all()


def verdicts_on(evaluation_id: Any, *wanted: Any) -> Select[*tuple[Any, ...]]:
    """Return what selects `wanted` of each verdict in force on an evaluation, and of its item."""
    return (
        select(*wanted)
        .join_from(EvaluationItem, ItemJudgment, ItemJudgment.item_key == EvaluationItem.id)
        .where(EvaluationItem.evaluation_id == evaluation_id, ItemJudgment.value.is_not(None))
    )


def page(session: Session, evaluation: Evaluation, show: Show, number: int) -> Page:
    """Return one page of the evaluation's items; a number beyond the last is the last."""
    count = select(func.count()).select_from(EvaluationItem)
    counts = {one: session.scalar(count.where(*_fits(evaluation, one))) or 0 for one in Show}
    n_pages = max(1, -(-counts[show] // PAGE_SIZE))
    number = min(max(1, number), n_pages)
    found = session.scalars(
        select(EvaluationItem)
        .where(*_fits(evaluation, show))
        .order_by(EvaluationItem.position)
        .limit(PAGE_SIZE)
        .offset((number - 1) * PAGE_SIZE)
    ).all()
    verdicts: dict[int, list[ItemJudgment]] = {item.id: [] for item in found}
    for judgment in session.scalars(
        select(ItemJudgment)
        .where(ItemJudgment.item_key.in_(verdicts), ItemJudgment.value.is_not(None))
        .order_by(ItemJudgment.rater_id, ItemJudgment.part)
    ):
        verdicts[judgment.item_key].append(judgment)
    return Page(show, number, n_pages, tuple((item, verdicts[item.id]) for item in found), counts)


def judged(session: Session, rater: Rater, item: EvaluationItem) -> dict[str, int]:
    own = ItemJudgment.item_key == item.id, ItemJudgment.rater_id == rater.id
    found = session.scalars(select(ItemJudgment).where(*own))
    return {one.part: one.value for one in found if one.value is not None}


def find_item(session: Session, evaluation: Evaluation, position: int) -> EvaluationItem:
    """Return the item at a position; raises ``UnknownEvaluation``."""
    of_it = EvaluationItem.evaluation_id == evaluation.id
    wanted = select(EvaluationItem).where(of_it, EvaluationItem.position == position)
    found = session.scalar(wanted)
    if found is None:
        raise UnknownEvaluation(position)
    return found


def results(session: Session, evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    """Yield every item as the command line writes it, a batch in memory at a time."""
    found = (
        select(EvaluationItem.result)
        .where(EvaluationItem.evaluation_id == evaluation.id)
        .order_by(EvaluationItem.position)
    )
    yield from session.scalars(found.execution_options(yield_per=_BATCH))


def n_judgments(session: Session, evaluation: Evaluation) -> int:
    return session.scalar(verdicts_on(evaluation.id, func.count())) or 0


def remove(session: Session, study: Study, evaluation: Evaluation, now: datetime) -> None:
    """Delete an evaluation with its items and judgments, logged; the clicks' log stays."""
    studies.log(session, study, "delete evaluation", evaluation.id, evaluation.name, None, now)
    keys = select(EvaluationItem.id).where(EvaluationItem.evaluation_id == evaluation.id)
    session.execute(delete(ItemJudgment).where(ItemJudgment.item_key.in_(keys)))
    session.execute(update(ItemEvent).where(ItemEvent.item_key.in_(keys)).values(item_key=None))
    session.execute(delete(EvaluationItem).where(EvaluationItem.evaluation_id == evaluation.id))
    session.execute(delete(Evaluation).where(Evaluation.id == evaluation.id))


def _fits(evaluation: Evaluation, show: Show) -> list[ColumnElement[bool]]:
    fits: list[ColumnElement[bool]] = [EvaluationItem.evaluation_id == evaluation.id]
    judged = [ItemJudgment.item_key == EvaluationItem.id, ItemJudgment.value.is_not(None)]
    if show is Show.FAILED:
        fits.append(EvaluationItem.failed.is_(True))
    elif show is Show.JUDGED:
        fits.append(exists().where(*judged))
    elif show is Show.DISAGREEMENTS:
        fits.append(exists().where(*judged, ItemJudgment.agrees.is_(False)))
    return fits
