from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.db.tables.evaluations import Evaluation, ItemJudgment
from webapp.metrics.comparisons.significance import Bootstrap
from webapp.services.evaluations import item_rating
from webapp.services.evaluations.evaluations import EvaluationKind


def test_two_people_judged_items_and_every_kind_is_there_once(demo_session: Session) -> None:
    kinds = demo_session.scalars(select(Evaluation.kind)).all()

    assert sorted(kinds) == sorted(EvaluationKind)
    assert demo_session.scalar(select(func.count(ItemJudgment.rater_id.distinct()))) == 2


def test_people_and_the_machine_disagree_about_some_parts(demo_session: Session) -> None:
    drawn = Bootstrap(resamples=10)
    for evaluation in demo_session.scalars(select(Evaluation)):
        report, _ = item_rating.machine_agreement(demo_session, evaluation, bootstrap=drawn)
        found = report["verdicts"]
        apart = found["machine_only"] + found["people_only"]
        assert 0 < apart < found["both"] + found["neither"], evaluation.kind
