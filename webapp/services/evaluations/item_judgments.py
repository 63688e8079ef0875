"""A rater's verdicts on an item of an evaluation: ✓ or ✗ on its parts, and a grade 0 to 5.

One row per (rater, item, part) holds the current verdict; beside it every click is an event that
is never altered. Undo writes a new event.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from webapp.db.tables.evaluations import Evaluation, EvaluationItem, ItemEvent, ItemJudgment
from webapp.db.tables.people import Rater
from webapp.records import Click
from webapp.services.evaluations import evaluations
from webapp.services.evaluations.rows import GRADE
from webapp.services.judging import events
from webapp.services.judging.events import EventIdTaken, NotToJudge, standing

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


def can_undo(session: Session, rater: Rater, evaluation: Evaluation) -> bool:
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
    """Return the event's place on its device; without a script the server counts."""
    if click.device and click.sequence is not None:
        return click.sequence
    return max((event.sequence for event in history if event.device == ""), default=0) + 1


def _settle(session: Session, rater: Rater, item: EvaluationItem, last: ItemEvent) -> None:
    """Write the value of the event in force to the rater's row."""
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
