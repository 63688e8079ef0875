"""Items of evaluations as raters judge them: those the owner opened, the next one, the progress.

One row per (rater, item, part) holds the current verdict; beside it every click is an event that
is never altered, and undo writes a new event. Beside the machine the majority of several raters'
verdicts on a part counts, a tie for nothing, and the median of their grades.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain
from statistics import median
from typing import Any, NamedTuple

from msgspec import Struct, to_builtins
from sqlalchemy import Integer, Row, Select, case, func, select
from sqlalchemy.orm import Session

from webapp.db.tables.evaluations import Evaluation, EvaluationItem, ItemEvent, ItemJudgment
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.exporters.evaluations.score_documents import binary_json
from webapp.metrics.agreement.agreement import binary_agreement
from webapp.metrics.comparisons.significance import Bootstrap
from webapp.metrics.evaluations.rank_correlation import rank_correlation
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
    """Record `rater`'s verdict on one part, ``None`` to clear it, or on the whole: "grade"."""
    events.lock(session, rater)
    item = evaluations.find_item(session, evaluation, position)
    if part != GRADE and part not in {one["key"] for one in item.parts}:
        raise NotToJudge
    if value is not None and not 0 <= value <= (HIGHEST_GRADE if part == GRADE else 1):
        raise NotToJudge
    _record(session, rater, item, part, value, click)


def undo(session: Session, rater: Rater, evaluation: Evaluation, click: Click) -> int | None:
    """Take back the rater's latest change in the evaluation; return its item's position."""
    events.lock(session, rater)
    of_it = (ItemEvent.rater_id == rater.id, ItemEvent.evaluation_id == evaluation.id)
    same = select(ItemEvent.position).where(*of_it, ItemEvent.event_id == click.event_id)
    again = session.scalar(same)
    if again is not None:
        return again
    undone = select(ItemEvent.undoes_id).where(*of_it, ItemEvent.undoes_id.is_not(None))
    changed = ItemEvent.cause != "undo", ItemEvent.old.is_distinct_from(ItemEvent.new)
    left = select(ItemEvent).where(*of_it, *changed, ItemEvent.id.not_in(undone))
    last = session.scalar(left.order_by(ItemEvent.id.desc()).limit(1))
    if last is None:
        return None
    item = session.get_one(EvaluationItem, last.item_key)
    _record(session, rater, item, last.part, last.old, click, undoes=last)
    return last.position


def may_undo(session: Session, rater: Rater, evaluation: Evaluation) -> bool:
    own = ItemEvent.rater_id == rater.id, ItemEvent.evaluation_id == evaluation.id
    return session.scalar(select(ItemEvent.id).where(*own).limit(1)) is not None


def _record(
    session: Session,
    rater: Rater,
    item: EvaluationItem,
    part: str,
    value: int | None,
    click: Click,
    undoes: ItemEvent | None = None,
) -> None:
    about = (ItemEvent.item_key == item.id) & (ItemEvent.part == part)
    own = select(ItemEvent).where(ItemEvent.rater_id == rater.id)
    known = session.scalars(own.where(about | (ItemEvent.event_id == click.event_id))).all()
    taken = next((one for one in known if one.event_id == click.event_id), None)
    if taken is not None:
        if (taken.item_key, taken.part, taken.new) != (item.id, part, value):
            raise EventIdTaken(click.event_id)
        return
    history = [one for one in known if one.item_key == item.id and one.part == part]
    before = standing(history)
    device, sequence = events.place(click, history)
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
        device=device,
        sequence=sequence,
    )
    session.add(event)
    last = standing([*history, event])
    assert last is not None
    key = {"rater_id": rater.id, "item_key": item.id, "part": part}
    judgment = session.get(ItemJudgment, key) or ItemJudgment(**key)
    session.add(judgment)
    machine = {one["key"]: one["passed"] for one in item.parts}.get(part)
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
    of_study = Evaluation.study_id == study.id
    found = select(Evaluation.id).where(of_study, Evaluation.for_raters.is_(True))
    return session.scalar(found.limit(1)) is not None


def find(session: Session, rater: Rater, evaluation_id: str) -> Evaluation:
    """Return an evaluation that is open to raters; raises ``UnknownEvaluation``."""
    found = evaluations.find(session, rater.study, evaluation_id)
    if not found.for_raters:
        raise UnknownEvaluation(evaluation_id)
    return found


def offers(session: Session, rater: Rater) -> tuple[Offer, ...]:
    """Return the evaluations that `rater` may judge, the oldest first."""
    of_study = Evaluation.study_id == rater.study_id
    found = select(Evaluation).where(of_study, Evaluation.for_raters.is_(True))
    in_order = session.scalars(found.order_by(Evaluation.created_at, Evaluation.id))
    return tuple(offer(session, rater, one) for one in in_order)


def offer(session: Session, rater: Rater, evaluation: Evaluation) -> Offer:
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


def next_open(session: Session, rater: Rater, evaluation: Evaluation, after: int = 0) -> int | None:
    """Return the next item behind `after` that `rater` has not finished, from the start again."""
    done = _done(session, rater, evaluation)
    around = chain(range(after + 1, evaluation.n_items + 1), range(1, after))
    return next((position for position in around if position not in done), None)


def progress(session: Session, evaluation: Evaluation) -> Sequence[Row[int, str, bool, int]]:
    """Return (rater_id, name, is_owner, done) of every rater who judged an item."""
    finished = _finished(evaluation).subquery()
    done = select(func.count()).where(finished.c.rater_id == Rater.id).scalar_subquery()
    began = evaluations.verdicts_on(evaluation.id, ItemJudgment.rater_id)
    return session.execute(
        select(Rater.id.label("rater_id"), Rater.name, Rater.is_owner, done.label("done"))
        .where(Rater.id.in_(began))
        .order_by(Rater.id)
    ).all()


def _finished(evaluation: Evaluation) -> Select[*tuple[Any, ...]]:
    """Return (rater, position) of every item that a rater finished: each part, and a grade.

    Only rows of judgments are counted, so its cost grows with the judgments, not the items.
    """
    parts = func.json_array_length(EvaluationItem.parts, type_=Integer)
    asked = case((parts > MOST_PARTS, MOST_PARTS), else_=parts) + 1
    judged = evaluations.verdicts_on(evaluation.id, ItemJudgment.rater_id, EvaluationItem.position)
    by_item = judged.group_by(ItemJudgment.rater_id, EvaluationItem.id)
    return by_item.having(func.count() >= asked)


def _done(session: Session, rater: Rater, evaluation: Evaluation) -> set[int]:
    rows = session.execute(_finished(evaluation).where(ItemJudgment.rater_id == rater.id))
    return {row.position for row in rows}


BOOTSTRAP = Bootstrap()
_INTERVALS = ("method", "confidence", "resamples", "seed")
MOST_SHOWN = 20


class ItemDisagreement(NamedTuple):
    """One item: how many parts differ of those that both judged, and how far apart both are.

    ``gap`` is |grade / 5 - ``headline``|, the value of the item's headline ``figure``.
    """

    item: EvaluationItem
    n_differ: int
    n_parts: int
    grade: float | None
    figure: str | None
    headline: float | None
    gap: float | None


def machine_agreement(
    session: Session,
    evaluation: Evaluation,
    rater_id: int | None = None,
    bootstrap: Bootstrap = BOOTSTRAP,
) -> tuple[dict[str, Any], list[ItemDisagreement]]:
    """How well each figure predicts people's (all, or one rater's), and where they differ most."""
    kind = EvaluationKind(evaluation.kind)
    wanted = evaluations.verdicts_on(evaluation.id, EvaluationItem, ItemJudgment)
    if rater_id is not None:
        wanted = wanted.where(ItemJudgment.rater_id == rater_id)
    items: dict[EvaluationItem, dict[str, list[int]]] = {}
    raters = set()
    in_order = wanted.order_by(EvaluationItem.position, ItemJudgment.rater_id)
    for item, judgment in session.execute(in_order):
        raters.add(judgment.rater_id)
        values = items.setdefault(item, {}).setdefault(judgment.part, [])
        values.append(judgment.value or 0)
    pairs = {item: _pairs(item, said) for item, said in items.items()}
    grades = {item: float(median(said[GRADE])) for item, said in items.items() if GRADE in said}
    both = [pair for one in pairs.values() for pair in one]

    def verdicts(name: str | None = None) -> dict[str, Any]:
        counted = [(machine, said) for key, machine, said in both if name in {None, key}]
        return binary_json(binary_agreement(counted, bootstrap=bootstrap))

    def order(name: str) -> dict[str, Any]:
        values = ((item.result[name], grade) for item, grade in grades.items())
        known = [(float(value), grade) for value, grade in values if value is not None]
        found: dict[str, Any] = to_builtins(rank_correlation(known, bootstrap=bootstrap))
        return found

    told = {key for key, _, _ in both} if kind is EvaluationKind.JSON else set()
    report = {
        "raters": len(raters),
        "items": len(items),
        "graded": len(grades),
        "verdicts": verdicts(),
        "verdicts_by_field": {key: verdicts(key) for key in FIGURES[kind] if key in told},
        "grades": {name: order(name) for name in FIGURES[kind]},
        "intervals": {name: getattr(bootstrap, name) for name in _INTERVALS},
    }
    found = []
    for item, parts in pairs.items():
        n_differ = sum(machine != people for _, machine, people in parts)
        grade, (figure, value) = grades.get(item), headline(kind, item.result) or (None, None)
        gap = None if grade is None or value is None else abs(grade / 5 - value)
        found.append(ItemDisagreement(item, n_differ, len(parts), grade, figure, value, gap))
    differing = [one for one in found if one.n_differ or one.gap]
    differing.sort(key=lambda one: (-one.n_differ, -(one.gap or 0), one.item.position))
    return report, differing[:MOST_SHOWN]


def _pairs(item: EvaluationItem, said: Mapping[str, Sequence[int]]) -> list[tuple[str, bool, bool]]:
    """(part, machine, people) where both have a verdict; where people are split they have none."""
    return [
        (part["key"], part["passed"], 2 * sum(values) > len(values))
        for part in item.parts
        if part["passed"] is not None
        and (values := said.get(part["key"]))
        and 2 * sum(values) != len(values)
    ]
