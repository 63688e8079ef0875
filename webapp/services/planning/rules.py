"""The rule by which a study decides how much of a question set is judged: chosen, kept, ended.

A sample of a fixed size is chosen before the first verdict; a report names the rule, its seed and
when it was chosen. One rule at a time is in force for a question set.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.db.tables.judging import JudgedThing, Judgment
from webapp.db.tables.people import Rater
from webapp.db.tables.planning import PlanningRule, SampledQuestion
from webapp.db.tables.study import Question, QuestionSet, Study
from webapp.failures import Conflict, Missing
from webapp.i18n import mark
from webapp.metrics.planning.sampling import ChosenRule
from webapp.services.study import studies

LARGEST_SEED = 2**31 - 1


class RuleKind(StrEnum):
    """The kinds of rules; see ``db.tables.planning.PlanningRule``.

    The last two cannot be chosen since version 1.1.0; what was judged under them names them.
    """

    FIXED = "fixed"
    MACHINE_HELP = "machine_help"
    SEQUENCE = "sequence"
    BY_EFFECT = "by_effect"


class RuleOutcome(StrEnum):
    """Why a rule ended.

    The owner stopped it, another took its place, it reached its aim, or its kind is gone.
    """

    STOPPED = "stopped"
    REPLACED = "replaced"
    REACHED = "reached"
    RETIRED = "retired"


class ChosenTooLate(Conflict):
    """A rule that must be chosen before the first verdict was chosen after it."""

    message = mark("This rule can no longer be chosen")
    remedy = mark(
        "People have judged these questions already, and a rule that is chosen after their first "
        "verdict could be chosen to suit it. Rate on without it."
    )


class NoRule(Missing):
    """No rule is in force for the question set."""

    message = mark("No rule is in force here")
    remedy = mark("It was ended meanwhile. Reload the page.")


class UnknownPlan(Missing):
    """The study has no such question set."""

    message = mark("This study has no such question set")
    remedy = mark("Open the page of the rating plan again and choose one there.")


def question_sets(session: Session, study: Study) -> list[QuestionSet]:
    """Return the study's question sets, the oldest first: their letters are in this order."""
    found = select(QuestionSet).where(QuestionSet.study_id == study.id).order_by(QuestionSet.id)
    return list(session.scalars(found))


def question_set(session: Session, study: Study, id_: int) -> QuestionSet:
    """Return one of the study's question sets; raises ``UnknownPlan``."""
    found = session.get(QuestionSet, id_)
    if found is None or found.study_id != study.id:
        raise UnknownPlan(id_)
    return found


def choose(
    session: Session,
    rater: Rater,
    question_set_id: int,
    kind: RuleKind,
    now: datetime,
    *,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
) -> PlanningRule:
    """Return the rule that is in force from now on, instead of the one before.

    Without a `seed` one is drawn. A machine's help can be chosen after the first verdict, and its
    reports say so. Raises ``ChosenTooLate``.
    """
    session.execute(select(Study.id).where(Study.id == rater.study_id).with_for_update())
    before = verdicts(session, question_set_id)
    if before and kind is not RuleKind.MACHINE_HELP:
        raise ChosenTooLate(kind)
    earlier = in_force(session, question_set_id)
    if earlier is not None:
        _close(session, earlier, now, RuleOutcome.REPLACED)
    rule = PlanningRule(
        study_id=rater.study_id,
        question_set_id=question_set_id,
        kind=str(kind),
        settings=dict(settings or {}),
        seed=secrets.randbelow(LARGEST_SEED) if seed is None else seed,
        verdicts_before=before,
        rater_id=rater.id,
        chosen_at=now,
    )
    session.add(rule)
    session.flush()
    _log(session, rater.study, rule, (earlier.kind if earlier else None, rule.kind), now)
    return rule


def in_force(session: Session, question_set_id: int) -> PlanningRule | None:
    """Return the rule in force for a question set; ``None`` where there is none."""
    of_set = PlanningRule.question_set_id == question_set_id
    newest = select(PlanningRule).where(of_set, PlanningRule.ended_at.is_(None))
    return session.scalar(newest.order_by(PlanningRule.id.desc()).limit(1))


def every(session: Session, question_set_id: int) -> list[ChosenRule]:
    """Return all rules that a question set had, the earliest first, as reports name them."""
    wanted = select(PlanningRule).where(PlanningRule.question_set_id == question_set_id)
    return [stated(session, rule) for rule in session.scalars(wanted.order_by(PlanningRule.id))]


def by_effect(session: Session, question_set_id: int) -> ChosenRule | None:
    """Return the last rule by effect under which people judged a set; ``None`` if none did."""
    had = [one for one in every(session, question_set_id) if one.kind == RuleKind.BY_EFFECT]
    return next((one for one in reversed(had) if one.verdicts_at_end != 0), None)


def sampling(session: Session, question_set_id: int) -> ChosenRule | None:
    """Return the newest rule of a question set that drew questions; ``None`` if none did."""
    return next((rule for rule in reversed(every(session, question_set_id)) if rule.sample), None)


KEPT = (
    *("kind", "seed", "chosen_at", "verdicts_before"),
    *("ended_at", "verdicts_at_end", "outcome", "settings"),
)


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
        of=session.scalar(select(func.count()).where(in_set)) or 0,
        sample=tuple(position for position, _ in drawn),
        strata=tuple(stratum for _, stratum in drawn),
        **{name: getattr(rule, name) for name in KEPT},
    )


def end(
    session: Session,
    question_set_id: int,
    now: datetime,
    outcome: RuleOutcome = RuleOutcome.STOPPED,
) -> PlanningRule:
    """Return the rule that was in force until now; raises ``NoRule``."""
    rule = in_force(session, question_set_id)
    if rule is None:
        raise NoRule(question_set_id)
    _close(session, rule, now, outcome)
    _log(session, session.get_one(Study, rule.study_id), rule, (rule.kind, None), now)
    return rule


def verdicts(session: Session, question_set_id: int) -> int:
    """Return how many verdicts people have given on a question set's things and empty lists."""
    found = session.scalar(
        select(func.count())
        .select_from(Judgment)
        .join(Rater, Rater.id == Judgment.rater_id)
        .join(JudgedThing, JudgedThing.id == Judgment.judged_thing_id)
        .join(Question, Question.id == JudgedThing.question_id)
        .where(
            Question.question_set_id == question_set_id,
            Judgment.verdict.is_not(None),
            Rater.is_machine.is_(False),
        )
    )
    return found or 0


def _close(session: Session, rule: PlanningRule, now: datetime, outcome: RuleOutcome) -> None:
    rule.ended_at, rule.outcome = now, str(outcome)
    rule.verdicts_at_end = verdicts(session, rule.question_set_id)
    session.flush()


def _log(
    session: Session,
    study: Study,
    rule: PlanningRule,
    change: tuple[str | None, str | None],
    now: datetime,
) -> None:
    subject = f"question set {rule.question_set_id}, rule {rule.id}, seed {rule.seed}"
    studies.log(session, study, "set rating rule", subject, *change, now)
