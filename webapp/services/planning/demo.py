"""The demo's sample: drawn before the first verdict, judged by people, with a machine's help."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.db.tables.judging import JudgedThing, Judgment
from webapp.db.tables.planning import PlanningRule, SampledQuestion
from webapp.db.tables.study import Study
from webapp.metrics.planning import sampling
from webapp.services.planning import rules
from webapp.services.planning.rules import RuleKind, RuleOutcome
from webapp.services.planning.samples import SampleWish
from webapp.services.study import studies

SIZE = 15
SEED = 20260301


def add(session: Session, study: Study, _folder: Path, now: datetime) -> None:
    """Let a rule draw half the questions before all verdicts, stopped once they were judged.

    The demo's people then judged the other questions too, as no rule left them out any more.
    """
    largest = max(rules.question_sets(session, study), key=lambda one: len(one.questions))
    ids = {question.position: question.id for question in largest.questions}
    settings = SampleWish(SIZE, RuleKind.MACHINE_HELP).settings
    categories = {question.position: question.category for question in largest.questions}
    drawn = sampling.drawn_again(categories, sampling.from_settings(settings), SEED)
    owner = studies.raters(session, study)[0]
    people = [rater.id for rater in studies.raters(session, study)]
    judged = session.scalar(
        select(func.count(Judgment.judged_thing_id))
        .join(JudgedThing, JudgedThing.id == Judgment.judged_thing_id)
        .where(
            Judgment.rater_id.in_(people),
            Judgment.verdict.is_not(None),
            JudgedThing.question_id.in_([ids[one.question] for one in drawn]),
        )
    )
    rule = PlanningRule(
        study_id=study.id,
        question_set_id=largest.id,
        kind=str(RuleKind.MACHINE_HELP),
        settings=settings,
        seed=SEED,
        verdicts_before=0,
        rater_id=owner.id,
        chosen_at=now - timedelta(hours=2),
        ended_at=now + timedelta(hours=2),
        verdicts_at_end=judged,
        outcome=str(RuleOutcome.STOPPED),
    )
    session.add(rule)
    session.flush()
    session.add_all(
        SampledQuestion(rule_id=rule.id, question_id=ids[one.question], position=one.position)
        for one in drawn
    )
    session.flush()
