"""Items of evaluations as raters judge them: those the owner opened, the next one, the progress.

A rater is given the scored row and the names of its parts. The machine's
verdicts, its figures and the names of the file, item and strategy are not in it, so that no
page can show them (see docs/decisions/0013).

One row per (rater, item, part) holds the current verdict; beside it every click is an event that
is never altered, and undo writes a new event. Beside the machine the majority of several raters'
verdicts on a part counts, a tie for nothing, and the median of their grades.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain
from statistics import median
from typing import Any

from msgspec import Struct
from sqlalchemy import Integer, Select, case, func, or_, select
from sqlalchemy.orm import Session

from webapp.db.tables.evaluations import Evaluation, EvaluationItem, ItemEvent, ItemJudgment
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.exporters.evaluations.score_documents import binary_json, correlation_json
from webapp.metrics.agreement.agreement import BinaryAgreement, binary_agreement
from webapp.metrics.comparisons.significance import Bootstrap
from webapp.metrics.evaluations.rank_correlation import RankCorrelation, rank_correlation
from webapp.records import Click
from webapp.services.evaluations import evaluations
from webapp.services.evaluations.evaluations import (
    FIGURES,
    GRADE,
    MOST_PARTS,
    EvaluationKind,
    UnknownEvaluation,
    headline,
)
from webapp.services.judging import events
from webapp.services.judging.events import EventIdTaken, NotToJudge, standing
from webapp.services.study import studies

HIGHEST_GRADE = 5


def judge(
    session: Session,
    rater: Rater,
    evaluation: Evaluation,
    position: int,
    part: str,
    value: int | None,
    click: Click,
) -> None:
    """Record `rater`'s verdict on one part, ``None`` to clear it, or on the whole: "grade".

    The same event twice changes nothing. Raises ``UnknownItem``, ``NotToJudge`` for a part
    or value that cannot be, and ``EventIdTaken``.
    """
    events.lock(session, rater)
    item = evaluations.find_item(session, evaluation, position)
    if part != GRADE and part not in {one["key"] for one in item.parts}:
        raise NotToJudge
    if value is not None and not 0 <= value <= (HIGHEST_GRADE if part == GRADE else 1):
        raise NotToJudge
    _record(session, rater, item, part, value, click)


def undo(session: Session, rater: Rater, evaluation: Evaluation, click: Click) -> int | None:
    """Take back the rater's latest change in the evaluation; return its item's position.

    ``None`` where there is nothing left to undo. The same undo twice changes nothing.
    """
    events.lock(session, rater)
    of_it = (ItemEvent.rater_id == rater.id, ItemEvent.evaluation_id == evaluation.id)
    again = session.scalar(
        select(ItemEvent.position).where(*of_it, ItemEvent.event_id == click.event_id)
    )
    if again is not None:
        return again
    undone = select(ItemEvent.undoes_id).where(*of_it, ItemEvent.undoes_id.is_not(None))
    last = session.scalar(
        select(ItemEvent)
        .where(
            *of_it,
            ItemEvent.cause != "undo",
            ItemEvent.old.is_distinct_from(ItemEvent.new),
            ItemEvent.id.not_in(undone),
        )
        .order_by(ItemEvent.id.desc())
        .limit(1)
    )
    if last is None:
        return None
    item = session.get_one(EvaluationItem, last.item_key)
    _record(session, rater, item, last.part, last.old, click, undoes=last)
    return last.position


def may_undo(session: Session, rater: Rater, evaluation: Evaluation) -> bool:
    """Whether the rater ever judged anything in the evaluation."""
    found = select(ItemEvent.id).where(
        ItemEvent.rater_id == rater.id, ItemEvent.evaluation_id == evaluation.id
    )
    return session.scalar(found.limit(1)) is not None


def _record(
    session: Session,
    rater: Rater,
    item: EvaluationItem,
    part: str,
    value: int | None,
    click: Click,
    undoes: ItemEvent | None = None,
) -> None:
    known = session.scalars(
        select(ItemEvent).where(
            ItemEvent.rater_id == rater.id,
            or_(
                (ItemEvent.item_key == item.id) & (ItemEvent.part == part),
                ItemEvent.event_id == click.event_id,
            ),
        )
    ).all()
    if _is_repeated(known, item, part, value, click):
        return
    history = [one for one in known if one.item_key == item.id and one.part == part]
    before = standing(history)
    event = ItemEvent(
        rater_id=rater.id,
        event_id=click.event_id,
        evaluation_id=item.evaluation_id,
        position=item.position,
        item_key=item.id,
        part=part,
        old=before.new if before else None,
        new=value,
        cause="undo" if undoes else "click",
        undoes_id=undoes.id if undoes else None,
        client_time=click.client_time,
        received_at=click.received_at,
        device=click.device or "",
        sequence=_sequence(click, history),
    )
    session.add(event)
    last = standing([*history, event])
    assert last is not None
    _settle(session, rater, item, last)


def _is_repeated(
    known: Sequence[ItemEvent], item: EvaluationItem, part: str, value: int | None, click: Click
) -> bool:
    for event in known:
        if event.event_id == click.event_id:
            if (event.item_key, event.part, event.new) == (item.id, part, value):
                return True
            raise EventIdTaken(click.event_id)
    return False


def _sequence(click: Click, history: Sequence[ItemEvent]) -> int:
    if click.device and click.sequence is not None:
        return click.sequence
    return max((event.sequence for event in history if event.device == ""), default=0) + 1


def _settle(session: Session, rater: Rater, item: EvaluationItem, last: ItemEvent) -> None:
    key = (rater.id, item.id, last.part)
    judgment = session.get(ItemJudgment, key)
    if judgment is None:
        judgment = ItemJudgment(rater_id=rater.id, item_key=item.id, part=last.part)
        session.add(judgment)
    machine = {one["key"]: one["passed"] for one in item.parts}.get(last.part)
    is_open = machine is None or last.new is None
    judgment.value, judgment.changed_at = last.new, last.received_at
    judgment.agrees = None if is_open else machine == bool(last.new)
    session.flush()


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
        can_undo=may_undo(session, rater, evaluation),
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


BOOTSTRAP = Bootstrap()
MOST_SHOWN = 20


class ItemDisagreement(Struct, frozen=True):
    """One item on which people and machine differ.

    ``n_differ`` of ``n_parts`` parts that both judged; ``gap`` is how far the grade / 5 lies
    from ``headline``, the value of the item's headline ``figure``, ``None`` without both.
    """

    position: int
    item_id: str
    question: str
    n_differ: int
    n_parts: int
    grade: float | None
    figure: str | None
    headline: float | None

    @property
    def gap(self) -> float | None:
        """|grade / 5 - headline|, ``None`` without both."""
        if self.grade is None or self.headline is None:
            return None
        return abs(self.grade / 5 - self.headline)


class MachineAgreementReport(Struct, frozen=True):
    """Machine against people: verdicts on parts, all and (for fields) each, and grades.

    ``figures`` hold the rank correlation of each figure with the grades.
    """

    n_raters: int
    n_items: int
    n_graded: int
    overall: BinaryAgreement
    fields: Mapping[str, BinaryAgreement]
    figures: Mapping[str, RankCorrelation]
    disagreements: tuple[ItemDisagreement, ...]
    bootstrap: Bootstrap


class _MergedItem(Struct):
    item: EvaluationItem
    verdicts: Mapping[str, bool]
    grade: float | None

    def pairs(self) -> list[tuple[str, bool, bool]]:
        """(part, machine, people) where both have a verdict."""
        return [
            (part["key"], part["passed"], self.verdicts[part["key"]])
            for part in self.item.parts
            if part["passed"] is not None and part["key"] in self.verdicts
        ]


def machine_agreement(
    session: Session,
    evaluation: Evaluation,
    *,
    rater_id: int | None = None,
    bootstrap: Bootstrap = BOOTSTRAP,
) -> MachineAgreementReport:
    """Return how well each automatic figure of the evaluation predicts the human one.

    With `rater_id` only this rater's verdicts count, else those of all, merged.
    """
    kind = evaluations.kind(evaluation)
    judged, n_raters = _judged(session, evaluation, rater_id)
    pairs = [pair for one in judged for pair in one.pairs()]
    said = {key for key, _, _ in pairs}
    keys = [key for key in FIGURES[kind] if key in said] if kind is EvaluationKind.JSON else []
    graded = [one for one in judged if one.grade is not None]
    return MachineAgreementReport(
        n_raters=n_raters,
        n_items=len(judged),
        n_graded=len(graded),
        overall=binary_agreement([(m, p) for _, m, p in pairs], bootstrap=bootstrap),
        fields={
            key: binary_agreement([(m, p) for k, m, p in pairs if k == key], bootstrap=bootstrap)
            for key in keys
        },
        figures={name: _correlation(name, graded, bootstrap) for name in FIGURES[kind]},
        disagreements=_disagreements(kind, judged),
        bootstrap=bootstrap,
    )


def machine_agreement_json(found: MachineAgreementReport) -> dict[str, Any]:
    """Return the report as JSON has it."""
    bootstrap = found.bootstrap
    return {
        "raters": found.n_raters,
        "items": found.n_items,
        "graded": found.n_graded,
        "verdicts": binary_json(found.overall),
        "verdicts_by_field": {name: binary_json(one) for name, one in found.fields.items()},
        "grades": {name: correlation_json(one) for name, one in found.figures.items()},
        "intervals": {
            "method": bootstrap.method,
            "confidence": bootstrap.confidence,
            "resamples": bootstrap.resamples,
            "seed": bootstrap.seed,
        },
    }


def _judged(
    session: Session, evaluation: Evaluation, rater_id: int | None
) -> tuple[list[_MergedItem], int]:
    wanted = (
        select(EvaluationItem, ItemJudgment)
        .join(ItemJudgment, ItemJudgment.item_key == EvaluationItem.id)
        .where(EvaluationItem.evaluation_id == evaluation.id, ItemJudgment.value.is_not(None))
        .order_by(EvaluationItem.position, ItemJudgment.rater_id)
    )
    if rater_id is not None:
        wanted = wanted.where(ItemJudgment.rater_id == rater_id)
    rows = session.execute(wanted)
    items: dict[int, EvaluationItem] = {}
    said: dict[int, dict[str, list[int]]] = {}
    raters = set()
    for item, judgment in rows:
        items[item.id] = item
        raters.add(judgment.rater_id)
        if judgment.value is not None:
            said.setdefault(item.id, {}).setdefault(judgment.part, []).append(judgment.value)
    return [_merged(items[key], parts) for key, parts in said.items()], len(raters)


def _merged(item: EvaluationItem, said: Mapping[str, Sequence[int]]) -> _MergedItem:
    verdicts = {
        part: 2 * sum(values) > len(values)
        for part, values in said.items()
        if part != GRADE and 2 * sum(values) != len(values)
    }
    return _MergedItem(item, verdicts, float(median(said[GRADE])) if GRADE in said else None)


def _correlation(name: str, graded: Sequence[_MergedItem], bootstrap: Bootstrap) -> RankCorrelation:
    pairs = [
        (float(one.item.result[name]), one.grade)
        for one in graded
        if one.grade is not None and one.item.result[name] is not None
    ]
    return rank_correlation(pairs, bootstrap=bootstrap)


def _disagreements(
    kind: EvaluationKind, judged: Sequence[_MergedItem]
) -> tuple[ItemDisagreement, ...]:
    found = []
    for one in judged:
        pairs = one.pairs()
        figure, value = headline(kind, one.item.result) or (None, None)
        found.append(
            ItemDisagreement(
                position=one.item.position,
                item_id=one.item.item_id,
                question=str(one.item.row.get("question", "")),
                n_differ=sum(machine != people for _, machine, people in pairs),
                n_parts=len(pairs),
                grade=one.grade,
                figure=figure,
                headline=value,
            )
        )
    differing = [one for one in found if one.n_differ or one.gap]
    differing.sort(key=lambda one: (-one.n_differ, -(one.gap or 0), one.position))
    return tuple(differing[:MOST_SHOWN])
