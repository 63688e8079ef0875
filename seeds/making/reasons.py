"""Why the demo's blind raters call cards not relevant: mostly what gold constraints say too."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Event, JudgedItem
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, Study
from relevansi.metrics.gold.constraint_rules import Outcome
from relevansi.records import Click
from relevansi.services.comparisons.reasons import CONSTRAINTS_BY_REASON
from relevansi.services.gold import constraints
from relevansi.services.judging import events
from relevansi.services.judging.events import REASON, Target, TargetChange
from relevansi.services.runs.reasons import rejections
from relevansi.services.study import studies

AGAINST_GOLD = 29
"""Of so many reasons one is not what the constraints say."""
UNCHECKED = {
    **dict.fromkeys((19, 20, 21, 22, 23, 27), "specification"),
    **dict.fromkeys((24, 25, 26), "location"),
}
"""What is not as asked where no constraint fails, by question: facilities, or what is nearby."""
ELSE = ("gone", "other: tidak disebut di iklan", None)


def add(session: Session, study: Study, _folder: Path, _now: datetime) -> None:
    """Give reasons for most verdicts "not relevant" of those who rated blind, right after each."""
    failed = _failed_constraints(session, study)
    positions = dict(session.execute(select(JudgedItem.id, Question.position).join(Question)).all())
    in_study = Query.run_id.in_(select(Run.id).where(Run.study_id == study.id))
    items = select(Result.judged_item_id).join(Query).where(in_study)
    for rater in studies.raters(session, study)[1:]:
        clicks = {
            event.judged_item_id: event
            for event in session.scalars(
                select(Event).where(Event.rater_id == rater.id, Event.field == "verdict")
            )
        }
        changes = []
        for number, (_, item, _) in enumerate(rejections(session, study, items, [rater.id])):
            reason = failed.get(item) or UNCHECKED.get(positions[item]) or ELSE[number % len(ELSE)]
            if number % AGAINST_GOLD == 0:
                reason = "price"
            if reason and number % 5:
                event = clicks[item]
                click = Click(event.event_id, event.received_at)
                changes.append(
                    TargetChange(Target(REASON, item, None, event.task_id), reason, click)
                )
        events.record_all(session, rater, changes)


def _failed_constraints(session: Session, study: Study) -> dict[int, str]:
    """Return the reason that fits the first failed constraint of each card, by judged item."""
    reason_of = {name: reason for reason, names in CONSTRAINTS_BY_REASON.items() for name in names}
    failed: dict[int, str] = {}
    for run_id in session.scalars(select(Run.id).where(Run.study_id == study.id).order_by(Run.id)):
        checked = constraints.checked_run(session, study, run_id)
        for line in checked.report.queries if checked.report else ():
            query = checked.queries.get(line.question.query_id)
            for card in constraints.check_cards(line.cards, query, ()) if query else ():
                item = card.result.judged_item_id if card.result else None
                fails = [c.constraint for c in card.evaluation.checks if c.outcome is Outcome.FAIL]
                if item is not None and fails:
                    failed.setdefault(item, reason_of[fails[0]])
    return failed
