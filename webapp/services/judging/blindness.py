"""Which current verdicts were given blind: the page of the event that made each decides.

A task's page names neither run nor method, a run's page names both. An event from elsewhere
(a file, a machine), or none, leaves it unknown. A click that was taken back made nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    String,
    and_,
    case,
    cast,
    exists,
    func,
    or_,
    select,
)
from sqlalchemy.orm import Session, aliased

from webapp.db.connection import tables
from webapp.db.tables.judging import Event, Judgment, QueryRating
from webapp.db.tables.runs import Query
from webapp.records import Blindness, GivenOn
from webapp.services.judging import verdicts
from webapp.services.judging.verdicts import Scope

Judged = type[Judgment] | type[QueryRating]

GIVEN = {Judgment: Judgment.verdict, QueryRating: cast(QueryRating.quality, String)}
"""The value that a row holds, as its event has it; null while it holds none."""
ON_TASK = Event.task_id.is_not(None)
ON_RUN = and_(ON_TASK.is_(False), Event.query_key.is_not(None), Event.cause.in_(["click", "bulk"]))

_made, _undo = aliased(Event), aliased(Event)
_ABOUT = {
    Judgment: (Judgment.judged_thing_id, _made.judged_thing_id, _made.field == "verdict"),
    QueryRating: (
        QueryRating.query_key,
        _made.query_key,
        and_(_made.field == "quality", _made.judged_thing_id.is_(None)),
    ),
}
"""The key of a row, the same in an event, and the condition that events are about such rows."""


def counts(session: Session, scope: Scope, rater_ids: Sequence[int]) -> Blindness:
    """Return how blind these raters' current verdicts on the queries in `scope` are."""
    things, answers = verdicts.judged_things(scope), select(Query.id).where(scope)
    return Blindness(
        verdicts=_counted(session, Judgment, rater_ids, things),
        grades=_counted(session, QueryRating, rater_ids, answers),
    )


@cache
def made_by(row: Judged) -> ColumnElement[bool]:
    """Return the condition on (``Event``, `row`) that this event made the row's current value.

    The order of events is that of ``event_order.standing``.
    """
    key, about, is_about = _ABOUT[row]
    is_earlier = _made.client_time < _made.received_at
    at = case((is_earlier, _made.client_time), else_=_made.received_at)
    taken_back = or_(_made.undoes_id.is_not(None), exists().where(_undo.undoes_id == _made.id))
    in_device = func.row_number().over(
        partition_by=_made.device, order_by=[_made.sequence.desc(), at.desc(), _made.id.desc()]
    )
    own = (
        select(_made.id, _made.device, at.label("at"), in_device.label("place"))
        .where(_made.rater_id == row.rater_id, about == key, is_about, ~taken_back)
        .correlate(row)
        .subquery()
    )
    last = select(own.c.id).where(own.c.place == 1)
    last = last.order_by(own.c["at"].desc(), own.c.device.desc()).limit(1)
    return and_(Event.id == last.scalar_subquery(), Event.new == GIVEN[row])


def _counted(session: Session, row: Judged, rater_ids: Sequence[int], keys: Select[Any]) -> GivenOn:
    key, _, _ = _ABOUT[row]
    found = (
        select(
            func.count(),
            func.count(case((ON_TASK, 1))),
            func.count(case((ON_RUN, 1))),
            func.max(case((ON_RUN, Event.received_at))),
        )
        .select_from(row)
        .outerjoin(Event, made_by(row))
        .where(row.rater_id.in_(rater_ids), GIVEN[row].is_not(None), key.in_(keys))
    )
    return GivenOn(*tables(session).execute(found).one())
