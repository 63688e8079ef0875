"""Items of evaluations as raters judge them: those the owner opened, the next one, the progress.

A rater is given the scored row and the names of its parts. The machine's
verdicts, its figures and the names of the file, item and strategy are not in it, so that no
page can show them (see docs/decisions/0013).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import chain
from typing import Any

from msgspec import Struct
from sqlalchemy import Integer, Select, case, func, select
from sqlalchemy.orm import Session

from webapp.db.tables.evaluations import Evaluation, EvaluationItem, ItemJudgment
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.services.evaluations import evaluations, item_judgments
from webapp.services.evaluations.evaluations import UnknownEvaluation
from webapp.services.evaluations.rows import MOST_PARTS, EvaluationKind
from webapp.services.study import studies


class Offer(Struct, frozen=True):
    """An evaluation as a rater knows it: its kind, its number among those, and how far they are."""

    evaluation_id: str
    kind: EvaluationKind
    number: int
    done: int
    of: int


class ItemToJudge(Struct, frozen=True):
    """One item to be judged, without a word of the machine's.

    ``parts`` name the parts that take ✓ or ✗, ``judged`` has the rater's verdicts on them.
    ``next_open`` is the next item that the rater has not finished, this one aside; ``None``
    where there is none.
    """

    position: int
    row: Mapping[str, Any]
    parts: tuple[str, ...]
    judged: Mapping[str, int]
    previous: int | None
    next: int | None
    next_open: int | None
    is_done: bool
    can_undo: bool


class ItemRaterStanding(Struct, frozen=True):
    """How many items of an evaluation a rater finished."""

    rater_id: int
    name: str
    is_owner: bool
    done: int


def open_to_raters(
    session: Session, study: Study, evaluation: Evaluation, now: datetime, *, is_open: bool
) -> None:
    """Let raters judge an evaluation, or no longer, logged; their verdicts stay."""
    if evaluation.for_raters == is_open:
        return
    old, new = ("yes", "no")[is_open], ("no", "yes")[is_open]
    studies.log(session, study, "open evaluation to raters", evaluation.id, old, new, now)
    evaluation.for_raters = is_open


def has_items(session: Session, study: Study) -> bool:
    """Whether raters have items of an evaluation to judge at all."""
    found = select(Evaluation.id).where(
        Evaluation.study_id == study.id, Evaluation.for_raters.is_(True)
    )
    return session.scalar(found.limit(1)) is not None


def find(session: Session, rater: Rater, evaluation_id: str) -> Evaluation:
    """Return an evaluation that is open to raters; raises ``UnknownEvaluation``."""
    found = evaluations.find(session, rater.study, evaluation_id)
    if not found.for_raters:
        raise UnknownEvaluation(evaluation_id)
    return found


def offers(session: Session, rater: Rater) -> tuple[Offer, ...]:
    """Return the evaluations that `rater` may judge, the oldest first."""
    found = session.scalars(
        select(Evaluation)
        .where(Evaluation.study_id == rater.study_id, Evaluation.for_raters.is_(True))
        .order_by(Evaluation.created_at, Evaluation.id)
    )
    return tuple(offer(session, rater, one) for one in found)


def offer(session: Session, rater: Rater, evaluation: Evaluation) -> Offer:
    """Return an evaluation as `rater` knows it."""
    return Offer(
        evaluation_id=evaluation.id,
        kind=EvaluationKind(evaluation.kind),
        number=number(session, evaluation),
        done=len(_done(session, rater, evaluation)),
        of=evaluation.n_items,
    )


def number(session: Session, evaluation: Evaluation) -> int:
    """Return the evaluation's number, from 1, among those of its kind in the study."""
    older = select(func.count()).where(
        Evaluation.study_id == evaluation.study_id,
        Evaluation.kind == evaluation.kind,
        (Evaluation.created_at < evaluation.created_at)
        | ((Evaluation.created_at == evaluation.created_at) & (Evaluation.id < evaluation.id)),
    )
    return 1 + (session.scalar(older) or 0)


def first_open(session: Session, rater: Rater, evaluation: Evaluation) -> int | None:
    """Return the first item that `rater` has not finished; ``None`` where there is none."""
    return _next_open(_done(session, rater, evaluation), evaluation.n_items, 0)


def item(session: Session, rater: Rater, evaluation: Evaluation, position: int) -> ItemToJudge:
    """Return one item as `rater` judges it; raises ``UnknownItem``."""
    found = evaluations.item(session, evaluation, rater, position)
    done = _done(session, rater, evaluation)
    return ItemToJudge(
        position=position,
        row=found.row,
        parts=tuple(part["key"] for part in found.parts[:MOST_PARTS]),
        judged=found.judged,
        previous=found.previous,
        next=found.next,
        next_open=_next_open(done, evaluation.n_items, position),
        is_done=position in done,
        can_undo=item_judgments.can_undo(session, rater, evaluation),
    )


def standings(session: Session, evaluation: Evaluation) -> tuple[ItemRaterStanding, ...]:
    """Return the progress of every rater who judged an item of the evaluation."""
    said = _finished(evaluation).subquery()
    done = select(said.c.rater_id, func.count()).group_by(said.c.rater_id)
    counts = {rater_id: n for rater_id, n in session.execute(done)}  # noqa: C416 - rows
    of_it = select(ItemJudgment.rater_id).join(
        EvaluationItem, ItemJudgment.item_key == EvaluationItem.id
    )
    began = of_it.where(
        EvaluationItem.evaluation_id == evaluation.id, ItemJudgment.value.is_not(None)
    )
    found = session.scalars(select(Rater).where(Rater.id.in_(began)).order_by(Rater.id))
    return tuple(
        ItemRaterStanding(one.id, one.name, one.is_owner, counts.get(one.id, 0)) for one in found
    )


def _finished(evaluation: Evaluation) -> Select[int, int]:
    """Return (rater, position) of every item that a rater finished: each part, and a grade.

    Only rows of judgments are counted, so its cost grows with the judgments, not the items.
    """
    parts = func.json_array_length(EvaluationItem.parts, type_=Integer)
    asked = case((parts > MOST_PARTS, MOST_PARTS), else_=parts) + 1
    return (
        select(ItemJudgment.rater_id, EvaluationItem.position)
        .join(EvaluationItem, ItemJudgment.item_key == EvaluationItem.id)
        .where(EvaluationItem.evaluation_id == evaluation.id, ItemJudgment.value.is_not(None))
        .group_by(ItemJudgment.rater_id, EvaluationItem.id)
        .having(func.count() >= asked)
    )


def _done(session: Session, rater: Rater, evaluation: Evaluation) -> set[int]:
    rows = session.execute(_finished(evaluation).where(ItemJudgment.rater_id == rater.id))
    return {row.position for row in rows}


def _next_open(done: set[int], n_items: int, after: int) -> int | None:
    """Return the first position that is not done behind `after`, then from the start.

    >>> _next_open({2, 3}, 4, 1), _next_open({2, 3, 4}, 4, 2), _next_open({1, 2}, 2, 0)
    (4, 1, None)
    """
    around = chain(range(after + 1, n_items + 1), range(1, after))
    return next((position for position in around if position not in done), None)
