"""Evaluations that are kept: stored, listed, paged through, taken away as files, deleted."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import ColumnElement, delete, exists, func, insert, select, update
from sqlalchemy.orm import Session

from webapp.db.tables.evaluations import Evaluation, EvaluationItem, ItemEvent, ItemJudgment
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.failures import Missing
from webapp.i18n import mark
from webapp.services.evaluations.rows import GRADE, EvaluationKind
from webapp.services.study import studies

if TYPE_CHECKING:
    # Readers of every format and pydantic, which raters' pages have no use for.
    from webapp.exporters.evaluations.waiting_rows import WaitingRows
    from webapp.services.evaluations.files import Scored

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
