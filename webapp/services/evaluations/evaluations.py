"""Evaluations that are kept: stored, listed, paged through, taken away as files, deleted."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct, to_builtins
from msgspec.structs import asdict
from sqlalchemy import ColumnElement, delete, exists, func, insert, select, update
from sqlalchemy.orm import Session

from webapp.db.tables.evaluations import Evaluation, EvaluationItem, ItemEvent, ItemJudgment
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.exporters.evaluations import score_documents as documents
from webapp.failures import Missing
from webapp.i18n import mark
from webapp.metrics.evaluations import answers, chunks, json_answers
from webapp.metrics.evaluations.answers import (
    AnswerRow,
    AnswerScore,
    LlmCall,
    SentenceVerdict,
    Support,
    sentences,
)
from webapp.metrics.evaluations.chunks import ChunkRow, ChunkScore
from webapp.metrics.evaluations.json_answers import WEIGHTS, Context, JsonQuestion, JsonScore
from webapp.services.study import studies

if TYPE_CHECKING:
    from webapp.exporters.evaluations.score_documents import WaitingRows
    from webapp.services.evaluations.files import Scored


Score: TypeAlias = AnswerScore | ChunkScore | JsonScore

GRADE = "grade"
"""The part that is the whole item: graded 0 to 5."""

MOST_PARTS = 200
"""Sentences or chunks of one item that people are shown; the page says how many more there are."""

LEAST_PASSED = 0.5
"""A field that earned at least this share counts as passed by the machine."""


class EvaluationKind(StrEnum):
    """Which automatic evaluation."""

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

COLUMNS = {
    EvaluationKind.ANSWERS: documents.ANSWER_ITEM,
    EvaluationKind.CHUNKS: documents.CHUNK_ITEM,
    EvaluationKind.JSON: documents.JSON_ITEM,
}
"""The columns of the table of items."""


class ScoredRow(Struct, frozen=True):
    """One scored row, ready to be kept.

    Each of ``parts`` has a ``key`` and the machine's verdict, ``passed`` (null: none).
    """

    item_id: str
    row: Mapping[str, Any]
    result: Mapping[str, Any]
    parts: tuple[Mapping[str, Any], ...]
    failed: bool


def of_answer(score: AnswerScore) -> ScoredRow:
    """A cited answer; it failed where a claim is not supported or a contract is broken."""
    parts = tuple(
        {
            "key": str(number),
            "passed": _supported(verdict.support),
            "support": str(verdict.support),
            "cosine": verdict.cosine,
        }
        for number, verdict in enumerate(score.verdicts)
    )
    failed = score.idk_with_citation > 0 or any(part["passed"] is False for part in parts)
    kept = to_builtins(score.row)
    return ScoredRow(score.row.row_id, kept, documents.answer_item(score), parts, failed)


def of_chunks(score: ChunkScore) -> ScoredRow:
    """A row of chunks; a chunk passes with a word in common, the row fails with none."""
    parts = tuple(
        {"key": str(number), "passed": bool(words)}
        for number, words in enumerate(score.chunk_words)
    )
    kept = to_builtins(score.row)
    return ScoredRow(score.row.row_id, kept, documents.chunk_item(score), parts, not score.common)


def of_json(score: JsonScore) -> ScoredRow:
    """A JSON answer; a field passes with half of its points, a wrong form fails the answer."""
    parts = tuple(
        {"key": name, "passed": part >= LEAST_PASSED, "score": float(part)}
        for name, part in score.parts.items()
    )
    kept = to_builtins(score.question)
    item = documents.json_item(score)
    return ScoredRow(score.question.row_id, kept, item, parts, not score.schema_ok)


def score_again(
    kind: EvaluationKind, row: Mapping[str, Any], parts: tuple[Mapping[str, Any], ...]
) -> tuple[Score, tuple[SentenceVerdict, ...]]:
    """The score of a kept row with all that explains it, and an answer's sentences.

    No embedder is asked again: the sentences' cosines are kept in the parts.
    """
    if kind is EvaluationKind.ANSWERS:
        answer = _answer(row)
        verdicts = tuple(
            SentenceVerdict(sentence, Support(part["support"]), part["cosine"])
            for sentence, part in zip(sentences(answer.answer), parts, strict=True)
        )
        return answers.score(answer), verdicts
    if kind is EvaluationKind.CHUNKS:
        chunk_row = ChunkRow(**{**row, "retrieved_chunks": tuple(row["retrieved_chunks"])})
        return chunks.score(chunk_row), ()
    contexts = tuple(Context(**one) for one in row["contexts"])
    return json_answers.score(JsonQuestion(**{**row, "contexts": contexts})), ()


def headline(kind: EvaluationKind, result: Mapping[str, Any]) -> tuple[str, float] | None:
    """Return the headline figure of an item, its name and value from 0 to 1, if it has one."""
    name = next((name for name in HEADLINES[kind] if result[name] is not None), None)
    if name is None:
        return None
    return name, result[name] / 100 if kind is EvaluationKind.JSON else result[name]


def _supported(support: Support) -> bool | None:
    if support in (Support.DO_NOT_KNOW, Support.DO_NOT_KNOW_CITED, Support.NOT_MEASURED):
        return None
    return support is Support.SUPPORTED


def _answer(row: Mapping[str, Any]) -> AnswerRow:
    calls = row["calls"]
    given = row["claim_similarities"]
    return AnswerRow(
        **{
            **row,
            "calls": None if calls is None else tuple(LlmCall(**call) for call in calls),
            "claim_similarities": None if given is None else tuple(given),
        }
    )


ID_BYTES = 4
PAGE_SIZE = 50
_BATCH = 500


class UnknownEvaluation(Missing):
    """The study has no such evaluation."""

    message = mark("This study has no such evaluation or item")
    remedy = mark("Go to the page of the evaluations: all that were scored are listed there.")


class UnknownItem(Missing):
    """The evaluation has no item at this position."""

    message = mark("This study has no such evaluation or item")
    remedy = mark("Go to the page of the evaluations: all that were scored are listed there.")


class Show(StrEnum):
    """Which items of an evaluation are listed."""

    ALL = "all"
    FAILED = "failed"
    DISAGREEMENTS = "disagreements"
    JUDGED = "judged"


class Overview(Struct, frozen=True):
    """One evaluation as the list shows it; ``n_judged`` counts items with a judgment."""

    evaluation: Evaluation
    n_judged: int


class ItemLine(Struct, frozen=True):
    """One item as the list shows it.

    ``grades`` are those people gave, ``n_passed`` and ``n_refused`` count their ✓ and ✗ on its
    parts, ``n_differ`` counts those that the machine judged otherwise.
    """

    position: int
    item_id: str
    question: str
    result: Mapping[str, Any]
    failed: bool
    grades: tuple[int, ...] = ()
    n_passed: int = 0
    n_refused: int = 0
    n_differ: int = 0


class Page(Struct, frozen=True):
    """One page of items; ``number`` counts from 1, ``total`` the items that fit."""

    show: Show
    number: int
    n_pages: int
    total: int
    lines: tuple[ItemLine, ...]
    counts: Mapping[Show, int]


class ItemInFull(Struct, frozen=True):
    """One item in full, with one rater's verdicts on its parts, and its neighbours."""

    position: int
    item_id: str
    row: Mapping[str, Any]
    result: Mapping[str, Any]
    parts: tuple[Mapping[str, Any], ...]
    failed: bool
    judged: Mapping[str, int]
    previous: int | None
    next: int | None


class EvaluationDeletionCost(Struct, frozen=True):
    """The rows deleted with an evaluation, and the clicks that stay in the log."""

    items: int
    judgments: int
    events: int


class StoredEvaluation(Struct, frozen=True):
    """The id of an evaluation, and whether an equal one was stored before."""

    id: str
    again: bool


def store(
    session: Session, study: Study, scored: Scored, rows: WaitingRows, now: datetime
) -> StoredEvaluation:
    """Store an evaluation with its rows, unless an equal one is here."""
    # The same file twice at once: the second waits and finds the first.
    session.execute(select(Study.id).where(Study.id == study.id).with_for_update())
    known = session.scalar(
        select(Evaluation.id).where(
            Evaluation.study_id == study.id, Evaluation.sha256 == scored.sha256
        )
    )
    if known is not None:
        return StoredEvaluation(known, again=True)
    kept = Evaluation(
        id=secrets.token_hex(ID_BYTES),
        study_id=study.id,
        kind=str(scored.settings.kind),
        name=" + ".join(file["name"] for file in scored.files),
        files=list(scored.files),
        sha256=scored.sha256,
        settings=scored.stated(),
        provenance=dict(scored.provenance),
        head=dict(scored.head),
        figures=list(scored.figures),
        problems=[asdict(problem) for problem in scored.problems],
        n_problems=scored.n_problems,
        n_items=scored.n_items,
        created_at=now,
    )
    session.add(kept)
    session.flush()
    numbered = enumerate(rows, start=1)
    while batch := [
        {"evaluation_id": kept.id, "position": position, **row}
        for position, row in islice(numbered, _BATCH)
    ]:
        session.execute(insert(EvaluationItem), batch)
    return StoredEvaluation(kept.id, again=False)


def find(session: Session, study: Study, evaluation_id: str) -> Evaluation:
    """Return an evaluation of the study; raises ``UnknownEvaluation``."""
    found = session.get(Evaluation, evaluation_id)
    if found is None or found.study_id != study.id:
        raise UnknownEvaluation(evaluation_id)
    return found


def overviews(session: Session, study: Study) -> tuple[Overview, ...]:
    """Return the study's evaluations, the newest first."""
    judged = (
        select(EvaluationItem.evaluation_id, func.count(EvaluationItem.id.distinct()))
        .join(ItemJudgment, ItemJudgment.item_key == EvaluationItem.id)
        .where(ItemJudgment.value.is_not(None))
        .group_by(EvaluationItem.evaluation_id)
    )
    counts = {name: count for name, count in session.execute(judged)}  # noqa: C416 - rows
    found = session.scalars(
        select(Evaluation)
        .where(Evaluation.study_id == study.id)
        .order_by(Evaluation.created_at.desc(), Evaluation.id)
    )
    return tuple(Overview(one, counts.get(one.id, 0)) for one in found)


def page(session: Session, evaluation: Evaluation, show: Show, number: int) -> Page:
    """Return one page of the evaluation's items; a number beyond the last is the last."""
    counts = {
        one: session.scalar(
            select(func.count()).select_from(EvaluationItem).where(*_fits(evaluation, one))
        )
        or 0
        for one in Show
    }
    n_pages = max(1, -(-counts[show] // PAGE_SIZE))
    number = min(max(1, number), n_pages)
    found = session.scalars(
        select(EvaluationItem)
        .where(*_fits(evaluation, show))
        .order_by(EvaluationItem.position)
        .limit(PAGE_SIZE)
        .offset((number - 1) * PAGE_SIZE)
    ).all()
    return Page(show, number, n_pages, counts[show], lines(session, found), counts)


def lines(session: Session, items: Sequence[EvaluationItem]) -> tuple[ItemLine, ...]:
    """Return the items as the list shows them, with people's verdicts."""
    said: dict[int, list[ItemJudgment]] = {}
    keys = [item.id for item in items]
    for judgment in session.scalars(
        select(ItemJudgment)
        .where(ItemJudgment.item_key.in_(keys), ItemJudgment.value.is_not(None))
        .order_by(ItemJudgment.rater_id, ItemJudgment.part)
    ):
        said.setdefault(judgment.item_key, []).append(judgment)
    return tuple(_line(item, said.get(item.id, [])) for item in items)


def item(session: Session, evaluation: Evaluation, rater: Rater, position: int) -> ItemInFull:
    """Return one item as `rater` judges it; raises ``UnknownItem``."""
    found = find_item(session, evaluation, position)
    judged = session.scalars(
        select(ItemJudgment).where(
            ItemJudgment.item_key == found.id,
            ItemJudgment.rater_id == rater.id,
            ItemJudgment.value.is_not(None),
        )
    )
    return ItemInFull(
        position=position,
        item_id=found.item_id,
        row=found.row,
        result=found.result,
        parts=tuple(found.parts),
        failed=found.failed,
        judged={one.part: one.value for one in judged if one.value is not None},
        previous=position - 1 if position > 1 else None,
        next=position + 1 if position < evaluation.n_items else None,
    )


def find_item(session: Session, evaluation: Evaluation, position: int) -> EvaluationItem:
    """Return the item at a position; raises ``UnknownItem``."""
    found = session.scalar(
        select(EvaluationItem).where(
            EvaluationItem.evaluation_id == evaluation.id, EvaluationItem.position == position
        )
    )
    if found is None:
        raise UnknownItem(position)
    return found


def results(session: Session, evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    """Yield every item as the command line writes it, a batch in memory at a time."""
    found = (
        select(EvaluationItem.result)
        .where(EvaluationItem.evaluation_id == evaluation.id)
        .order_by(EvaluationItem.position)
    )
    yield from session.scalars(found.execution_options(yield_per=_BATCH))


def deletion_cost(session: Session, evaluation: Evaluation) -> EvaluationDeletionCost:
    """Return how many rows are deleted with the evaluation."""
    of_it = ItemJudgment.item_key.in_(_keys(evaluation))
    judgments = select(func.count()).where(of_it, ItemJudgment.value.is_not(None))
    events = select(func.count()).where(ItemEvent.evaluation_id == evaluation.id)
    return EvaluationDeletionCost(
        items=evaluation.n_items,
        judgments=session.scalar(judgments) or 0,
        events=session.scalar(events) or 0,
    )


def remove(session: Session, study: Study, evaluation: Evaluation, now: datetime) -> None:
    """Delete an evaluation with its items and judgments, logged; the clicks' log stays."""
    studies.log(session, study, "delete evaluation", evaluation.id, evaluation.name, None, now)
    keys = _keys(evaluation)
    session.execute(delete(ItemJudgment).where(ItemJudgment.item_key.in_(keys)))
    session.execute(update(ItemEvent).where(ItemEvent.item_key.in_(keys)).values(item_key=None))
    session.execute(delete(EvaluationItem).where(EvaluationItem.evaluation_id == evaluation.id))
    session.execute(delete(Evaluation).where(Evaluation.id == evaluation.id))


def kind(evaluation: Evaluation) -> EvaluationKind:
    """Return which automatic evaluation it is."""
    return EvaluationKind(evaluation.kind)


def _keys(evaluation: Evaluation) -> Any:
    return select(EvaluationItem.id).where(EvaluationItem.evaluation_id == evaluation.id)


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


def _line(found: EvaluationItem, said: Sequence[ItemJudgment]) -> ItemLine:
    verdicts = [one for one in said if one.part != GRADE]
    return ItemLine(
        position=found.position,
        item_id=found.item_id,
        question=str(found.row.get("question", "")),
        result=found.result,
        failed=found.failed,
        grades=tuple(one.value for one in said if one.part == GRADE and one.value is not None),
        n_passed=sum(one.value == 1 for one in verdicts),
        n_refused=sum(one.value == 0 for one in verdicts),
        n_differ=sum(one.agrees is False for one in verdicts),
    )
