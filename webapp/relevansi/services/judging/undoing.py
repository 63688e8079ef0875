"""Taking back a rater's latest change, which for a pin of evidence is all that it brought."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, exists, or_, select
from sqlalchemy.orm import Session, aliased

from relevansi.db.tables.judging import Event, JudgedItem, Judgment, Task
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query
from relevansi.records import Click, Scale
from relevansi.services.judging.changes import revise
from relevansi.services.judging.events import (
    EVIDENCE,
    EventIdTaken,
    Target,
    current,
    lock,
    record,
    refresh,
)

OUTCOME_OF_PIN = ":outcome"
"""The end of the event id of an outcome that a pin brought: the rest is the pin's id."""


def last_change(session: Session, rater: Rater, where: ColumnElement[bool]) -> Event | None:
    """Return the rater's latest event within `where` that changed a value and was not undone."""
    undone = select(Event.undoes_id).where(Event.rater_id == rater.id, Event.undoes_id.is_not(None))
    return session.scalar(
        select(Event)
        .outerjoin(Query, Query.id == Event.query_key)
        .where(
            Event.rater_id == rater.id,
            Event.cause != "undo",
            # An answer to a question asked again counts even with the same value.
            or_(
                Event.old.is_distinct_from(Event.new),
                exists().where(Task.id == Event.task_id, Task.asked_again_at <= Event.received_at),
            ),
            Event.id.not_in(undone),
            where,
        )
        .order_by(Event.id.desc())
        .limit(1)
    )


def undo_last(
    session: Session, rater: Rater, click: Click, where: ColumnElement[bool]
) -> Event | None:
    """Take back the rater's latest change within `where` by a new event; return that change.

    Each further undo goes one change further back; the same undo twice changes nothing and returns
    the undo.
    """
    lock(session, rater)
    repeated = stored_undo(session, rater, click)
    last = repeated or last_change(session, rater, where)
    if last is not None and repeated is None:
        undone = _pin_of(session, rater, last)
        evidence = next((event for event in undone if event.field == EVIDENCE), None)
        is_pin = evidence is not None and evidence.new is not None
        for event in undone:
            is_outcome = event.event_id.endswith(OUTCOME_OF_PIN)
            if is_outcome and is_pin:
                continue  # other evidence may hold it
            part = outcome_click(click) if is_outcome and evidence else click
            record(session, rater, Target.of(event), event.old, part, cause="undo", undoes=event)
        if evidence is not None:
            if is_pin:
                release_outcome(session, rater, evidence.judged_item_id, click, cause="undo")
            revise(session, rater.study_id)
        refresh(session, rater, [Target.of(event) for event in undone])
    return last


def _pin_of(session: Session, rater: Rater, last: Event) -> Sequence[Event]:
    """Return all events of the pin, or of its taking back, that `last` is of; else it alone."""
    pin_id = last.event_id.removesuffix(OUTCOME_OF_PIN)
    ids = pin_id, pin_id + OUTCOME_OF_PIN
    undo = aliased(Event)
    parts = session.scalars(
        select(Event)
        .where(Event.rater_id == rater.id, Event.event_id.in_(ids))
        .where(~exists().where(undo.undoes_id == Event.id))
        .order_by(Event.id)
    ).all()
    return parts if any(event.field == EVIDENCE for event in parts) else [last]


def outcome_click(click: Click) -> Click:
    """Return the click of the outcome that a pin brings: its id is of a verdict already."""
    return click._replace(event_id=click.event_id + OUTCOME_OF_PIN)


def release_outcome(
    session: Session, rater: Rater, item_id: int | None, click: Click, *, cause: str = "click"
) -> None:
    """Take back the outcome that a pin brought, once no evidence for it is left.

    `item_id` is the judged item that was evidence. An outcome that the rater chose stays.
    """
    question = select(JudgedItem.question_id).where(JudgedItem.id == item_id).scalar_subquery()
    of_question = JudgedItem.question_id == question
    brought = session.scalars(
        select(Event)
        .join(JudgedItem, JudgedItem.id == Event.judged_item_id)
        .where(Event.rater_id == rater.id, of_question, JudgedItem.item_id.is_(None))
        .where(Event.event_id.endswith(OUTCOME_OF_PIN), Event.new.is_not(None))
    ).all()
    for target in dict.fromkeys(Target.of(event) for event in brought):
        last = current(session, rater, target)
        if last is None or last.new is None or not last.event_id.endswith(OUTCOME_OF_PIN):
            continue
        evidence = (
            select(Judgment.judged_item_id)
            .join(JudgedItem)
            .where(Judgment.rater_id == rater.id, of_question, Judgment.is_evidence)
            .where(Judgment.verdict.in_(sorted(Scale.stored(rater.study.scale).relevant)))
        )
        if target.is_repeat:
            in_task = Event.judged_item_id == Judgment.judged_item_id
            evidence = evidence.where(exists().where(in_task, Event.task_id == target.task_id))
        if session.scalar(evidence.limit(1)) is None:
            undoes = session.get(Event, last.id) if cause == "undo" else None
            part = outcome_click(click)
            record(session, rater, target, None, part, cause=cause, undoes=undoes)
            refresh(session, rater, [target])


def stored_undo(session: Session, rater: Rater, click: Click) -> Event | None:
    """Return the undo that `click` repeats; raises ``EventIdTaken`` for the id of other events."""
    same = select(Event).where(Event.rater_id == rater.id, Event.event_id == click.event_id)
    stored = session.scalar(same)
    if stored is not None and stored.cause != "undo":
        raise EventIdTaken(click.event_id)
    return stored
