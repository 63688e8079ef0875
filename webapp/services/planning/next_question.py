"""The question that a blind rater is given next where a study is rated by effect.

The core asks ``ordered`` whenever it gives a rater a new question (see ``rating.tasks``), and
``hides_means`` where it would show a rater a mean of the questions so far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.db.tables.planning import PlanningRule
from webapp.db.tables.rating import Task
from webapp.db.tables.study import Question, QuestionSet
from webapp.metrics.planning.effect import EQUAL
from webapp.services.planning import rules, settled
from webapp.services.planning.rules import RuleKind
from webapp.services.rating import tasks
from webapp.services.rating.pool import POOL, Unit
from webapp.services.runs import reports

AFTERWARDS = "afterwards"
STOP, GO_ON = "stop", "go_on"
"""The values of the setting ``AFTERWARDS``: what is asked once every order is settled."""
AT_ONCE = 20
"""The most units that are looked up together, for whether another rater works on them."""


def ordered(session: Session, rater: Rater, units: Sequence[Unit]) -> list[Unit]:
    """Return `units` in the order in which the rater is given them, without those not asked now.

    Where a question set is rated by effect, the question that can move the unsettled orders most
    comes first; the rule's seed decides ties. A question that another rater is working on comes
    after the others, so that two people judge the same question at the same time only where nothing
    else is left.
    """
    in_force = _in_force(session, rater)
    if not in_force:
        return list(units)
    found = list(units)
    for set_id, rule in in_force.items():
        others = _outside(session, rater, set_id)
        own = [unit for unit in found if unit.question_id not in others]
        found = [unit for unit in found if unit.question_id in others]
        found += _by_effect(session, rater, rule, own) if own else []
    return found


def hides_means(session: Session, rater: Rater) -> bool:
    """Whether the rater's questions come by effect: running means are of chosen questions then."""
    return bool(_in_force(session, rater))


def _in_force(session: Session, rater: Rater) -> Mapping[int, PlanningRule]:
    """Return the rules by effect of the rater's study, by question set."""
    found = rules.all_in_force(session, rater.study_id)
    return {one.question_set_id: one for one in found if one.kind == RuleKind.BY_EFFECT}


def _by_effect(
    session: Session, rater: Rater, rule: PlanningRule, units: Sequence[Unit]
) -> list[Unit]:
    study_rule = reports.rule_of(session, rater.study)
    found = settled.effects(session, rater.study, rule.question_set_id, study_rule)
    if found is None:
        return list(units)
    pooled, effects = found
    if effects is None:
        return [] if rule.settings.get(AFTERWARDS) == STOP else list(units)
    # Sums of shares that differ in their last digits only are ties.
    places = dict(zip(pooled.questions, (-effects / EQUAL).round().tolist(), strict=True))

    def place(unit: Unit) -> tuple[float, bytes]:
        return places.get(unit.question_id, 0.0), tie(rule.seed, unit)

    return _unoccupied_first(session, rater, sorted(units, key=place))


def _unoccupied_first(session: Session, rater: Rater, ranked: Sequence[Unit]) -> list[Unit]:
    """Return the units; the first that no other rater works on, if there is one, is in front."""
    for start in range(0, len(ranked), AT_ONCE):
        some = ranked[start : start + AT_ONCE]
        busy = _in_hand(session, rater, some)
        for unit in some:
            if unit not in busy:
                return [unit, *(other for other in ranked if other != unit)]
    return list(ranked)


@lru_cache(maxsize=2**15)
def tie(seed: int, unit: Unit) -> bytes:
    """Return the place of a unit among those of equal effect."""
    return sha256(f"{seed} {unit.question_id} {unit.run_id or ''}".encode()).digest()


def _in_hand(session: Session, rater: Rater, some: Sequence[Unit]) -> set[Unit]:
    """Return which of `some` units other raters were given and have not finished."""
    rows = select(Task.question_id, Task.run_id).where(
        Task.question_id.in_([unit.question_id for unit in some]),
        Task.kind == POOL,
        Task.rater_id != rater.id,
        Task.rater_id.in_(select(Rater.id).where(Rater.study_id == rater.study_id)),
        tasks.is_open(rater.study),
    )
    return {Unit(question, run) for question, run in session.execute(rows)}


def _outside(session: Session, rater: Rater, set_id: int) -> set[int]:
    """Return the questions of the rater's study that are not of a question set: mostly none."""
    others = select(QuestionSet.id).where(
        QuestionSet.study_id == rater.study_id, QuestionSet.id != set_id
    )
    return set(session.scalars(select(Question.id).where(Question.question_set_id.in_(others))))
