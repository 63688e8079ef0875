"""The rules of a question set as reports and proof packs name them, with what they drew."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.db.tables.planning import PlanningRule, SampledQuestion
from webapp.db.tables.study import Question
from webapp.metrics.planning.chosen_rules import ChosenRule
from webapp.services.planning import rules
from webapp.services.planning.rules import RuleKind


def every(session: Session, question_set_id: int) -> tuple[ChosenRule, ...]:
    """Return all rules that a question set had, the earliest first."""
    return tuple(stated(session, rule) for rule in rules.every(session, question_set_id))


def by_effect(session: Session, question_set_id: int) -> ChosenRule | None:
    """Return the last rule by effect under which people judged a set; ``None`` if none did."""
    had = (one for one in every(session, question_set_id) if one.kind == RuleKind.BY_EFFECT)
    return next((one for one in reversed(tuple(had)) if one.verdicts_at_end != 0), None)


def sampling(session: Session, question_set_id: int) -> ChosenRule | None:
    """Return the newest rule of a question set that drew questions; ``None`` if none did."""
    drawn = (stated(session, rule) for rule in reversed(rules.every(session, question_set_id)))
    return next((rule for rule in drawn if rule.sample), None)


def stated(session: Session, rule: PlanningRule) -> ChosenRule:
    """Return a rule with the questions that it drew, as reports name it."""
    drawn = session.execute(
        select(Question.position, SampledQuestion.stratum)
        .join_from(SampledQuestion, Question, Question.id == SampledQuestion.question_id)
        .where(SampledQuestion.rule_id == rule.id)
        .order_by(SampledQuestion.position)
    ).all()
    in_set = Question.question_set_id == rule.question_set_id
    return ChosenRule(
        kind=rule.kind,
        seed=rule.seed,
        chosen_at=rule.chosen_at,
        verdicts_before=rule.verdicts_before,
        of=session.scalar(select(func.count()).where(in_set)) or 0,
        ended_at=rule.ended_at,
        verdicts_at_end=rule.verdicts_at_end,
        outcome=rule.outcome,
        settings=rule.settings,
        sample=tuple(position for position, _ in drawn),
        strata=tuple(stratum for _, stratum in drawn),
    )
