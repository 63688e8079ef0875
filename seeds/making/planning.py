"""The demo's sample: drawn before the first verdict, judged by people, with a machine's help."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import JudgedItem, Judgment
from relevansi.db.tables.people import LogEntry
from relevansi.db.tables.planning import RuleKind, RuleOutcome, SampledQuestion
from relevansi.db.tables.study import Study
from relevansi.services.planning import samples
from relevansi.services.study import studies

SIZE = 15
SEED = 20260301


def add(session: Session, study: Study, _folder: Path, now: datetime) -> None:
    """Let a rule draw half the questions before all verdicts, stopped once they were judged.

    The demo's people then judged the other questions too, as no rule left them out any more.
    """
    largest = max(samples.question_sets(session, study), key=lambda one: len(one.questions))
    people = studies.raters(session, study)
    before, kind = now - timedelta(hours=2), RuleKind.MACHINE_HELP
    rule = samples.draw_sample(session, people[0], largest, SIZE, before, kind=kind, seed=SEED)
    rule.verdicts_before, rule.ended_at = 0, now + timedelta(hours=2)
    rule.outcome = str(RuleOutcome.STOPPED)
    drawn = select(SampledQuestion.question_id).where(SampledQuestion.rule_id == rule.id)
    rule.verdicts_at_end = session.scalar(
        select(func.count(Judgment.judged_item_id))
        .join(JudgedItem, JudgedItem.id == Judgment.judged_item_id)
        .where(
            Judgment.rater_id.in_([rater.id for rater in people]),
            Judgment.verdict.is_not(None),
            JudgedItem.question_id.in_(drawn),
        )
    )
    session.execute(delete(LogEntry).where(LogEntry.action == "set rating rule"))  # drawn by nobody
    session.flush()
