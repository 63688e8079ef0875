"""Which orders of runs no judgment can change any more, and what could still change the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.runs import Run
from webapp.db.tables.study import Study
from webapp.metrics.planning.bounds import OPEN
from webapp.metrics.planning.effect import (
    Reaches,
    RunOrder,
    bounded_orders,
    effects_left,
    orders_so_far,
    reaches,
    reaches_anew,
)
from webapp.metrics.planning.settled import SettledOrder, SettledOrders
from webapp.services.planning import chosen_rules, pooled_lists
from webapp.services.planning.pooled_lists import PooledSet
from webapp.services.runs import runs as order
from webapp.services.runs.reports import Rule
from webapp.services.study.unasked import unasked

if TYPE_CHECKING:
    from webapp.metrics.planning.bounds import Codes, Numbers


_latest: WeakKeyDictionary[PooledSet, tuple[Codes, Reaches]] = WeakKeyDictionary()
"""The states of each question set that were asked for last, with what they leave open."""


def runs_of(session: Session, study: Study, question_set_id: int) -> list[Run]:
    """Return the runs of a question set in the study's order."""
    return [r for r in order.in_order(session, study) if r.question_set_id == question_set_id]


def next_ones(session: Session, study: Study, question_set_id: int, rule: Rule) -> tuple[int, ...]:
    """Return the positions of the two questions that can move the open orders most."""
    found = effects(session, study, question_set_id, rule)
    if found is None:
        return ()
    pooled, left = found
    if left is None:
        return ()
    ranked = sorted(zip(-left, pooled.positions, strict=True))
    return tuple(position for effect, position in ranked[:2] if effect < 0)


def settled_orders(
    session: Session, study: Study, runs: Sequence[Run], names: Sequence[str], rule: Rule
) -> SettledOrders:
    """Return the orders of `runs`, which share a question set, under `rule`."""
    pooled = pooled_lists.pooled_set(
        session, study, [run.id for run in runs], unasked(session, study.id)
    )
    said = pooled_lists.states(session, study, pooled, rule)
    found = orders_so_far(pooled.lists, _reaches(pooled, said))
    open_now = int((said == OPEN).sum())
    things = int((pooled.pristine == OPEN).sum())
    return SettledOrders(
        names=tuple(zip(pooled.runs, names, strict=True)),
        orders=tuple(_order(pooled, one) for one in found.orders),
        judged=things - open_now,
        things=things,
        open_cards=found.open_things,
        open_questions=tuple(pooled.positions[place] for place in found.open_questions),
        by_effect=chosen_rules.by_effect(session, runs[0].question_set_id),
    )


def effects(
    session: Session, study: Study, question_set_id: int, rule: Rule
) -> tuple[PooledSet, Numbers | None] | None:
    """Return what each question of a set can still move; ``None`` where fewer than two runs are.

    The effects are ``None`` once every order is settled.
    """
    ids = session.scalars(
        select(Run.id)
        .where(Run.study_id == study.id, Run.question_set_id == question_set_id)
        .order_by(Run.id)
    ).all()
    if len(ids) < 2:
        return None
    pooled = pooled_lists.pooled_set(session, study, ids, unasked(session, study.id))
    found = _reaches(pooled, pooled_lists.states(session, study, pooled, rule))
    orders = bounded_orders(pooled.lists, found)
    is_settled = all(order.is_settled for order in orders)
    return pooled, None if is_settled else effects_left(found, orders)


def _reaches(pooled: PooledSet, said: Codes) -> Reaches:
    """Return the reaches under these states, reckoned anew for the questions that changed."""
    before, found = _latest.get(pooled, (None, None))
    if before is None or found is None:
        found = reaches(pooled.lists, said)
    elif (changed := (said != before).any(axis=1)).any():
        found = reaches_anew(found, pooled.lists, said, changed)
    _latest[pooled] = said, found
    return found


def _order(pooled: PooledSet, one: RunOrder) -> SettledOrder:
    return SettledOrder(
        figure=one.figure,
        first=pooled.runs[one.first],
        second=pooled.runs[one.second],
        settled=one.is_settled,
        ahead=None if one.ahead is None else pooled.runs[one.ahead],
        low=one.low,
        high=one.high,
        n=one.n,
        open_cards=one.open_things,
        open_questions=tuple(pooled.positions[place] for place in one.open_questions),
    )
