"""What changed of a study and in a rater's clicks, so that caches read only that again."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Select, and_, bindparam, func, select, update
from sqlalchemy.orm import Session

from relevansi.db.rows import core
from relevansi.db.tables.evaluations import CardDecision, GoldVersion
from relevansi.db.tables.judging import Event, JudgedItem
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Question, Study


class Changes(NamedTuple):
    """The state now, and the changes since an earlier one.

    ``event`` is the rater's last one by number, id and time: a number alone may name another event
    after a rollback. ``touched`` are the questions that the rater changed, with their categories;
    ``None`` where everything is to be read again.
    """

    revision: str
    event: tuple[int, str, datetime] | None
    touched: Mapping[int, str] | None


def revise(session: Session, study_id: int) -> None:
    """Give a study another revision: nothing that was cached of it is to be used again.

    To be called wherever something changes that raters are asked or that pages sum up, except by
    an event (docs/decisions/0026).
    """
    # Drawn by chance, since a number that is counted up could come again after a rollback.
    revision = update(Study).where(Study.id == study_id).values(revision=secrets.token_hex(16))
    session.execute(revision, execution_options={"synchronize_session": False})


def state(session: Session, study: Study) -> str:
    """Return a text that differs once anything differs of what reports on the study are made of."""
    rater_ids = select(Rater.id).where(Rater.study_id == study.id)
    newest = select(Event.event_id).where(Event.rater_id.in_(rater_ids)).order_by(Event.id.desc())
    revision = select(Study.revision).where(Study.id == study.id)
    version = select(func.max(GoldVersion.id)).where(GoldVersion.rater_id.in_(rater_ids))
    decision = select(func.max(CardDecision.id)).where(CardDecision.rater_id.in_(rater_ids))
    parts = (revision, newest.limit(1), version, decision)
    return " ".join(str(session.scalar(part)) for part in parts)


def since(session: Session, rater: Rater, before: Changes | None) -> Changes:
    """Return the changes since `before`, of the same rater; one statement, at first two."""
    connection = core(session)
    if before is None or before.event is None:
        # By the rater's index: the statement below goes through all newer events by number.
        last = connection.scalar(select(func.max(Event.id)).where(Event.rater_id == rater.id))
    else:
        last = before.event[0]
    rows = connection.execute(_changes(), {"rater_id": rater.id, "id": last or 0}).all()
    revision = rows[0].revision
    events = [tuple(row[:3]) for row in rows if row.id is not None]
    latest = events[-1] if events else None
    if before is None or before.revision != revision or not events or events[0] != before.event:
        return Changes(revision, latest, None)
    touched = {row.question_id: row.category for row in rows[1:] if row.question_id is not None}
    return Changes(revision, latest, touched)


@cache
def _changes() -> Select[*tuple[Any, ...]]:
    # Events are read from a number on: a rater has ten thousand, a few of them new.
    # Adding 0 to the rater's id keeps databases from using its index instead.
    is_newer = and_(Event.id >= bindparam("id"), Event.rater_id + 0 == Rater.id)
    question_id = func.coalesce(JudgedItem.question_id, Query.question_id)
    return (
        select(
            *(Event.id, Event.event_id, Event.received_at, Study.revision),
            *(Question.id.label("question_id"), Question.category),
        )
        .select_from(Rater)
        .join(Study, Study.id == Rater.study_id)
        .outerjoin(Event, is_newer)
        .outerjoin(JudgedItem, JudgedItem.id == Event.judged_item_id)
        .outerjoin(Query, Query.id == Event.query_key)
        .outerjoin(Question, Question.id == question_id)
        .where(Rater.id == bindparam("rater_id"))
        .order_by(Event.id)
    )
