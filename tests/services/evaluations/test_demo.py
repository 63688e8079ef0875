from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.evaluations import Evaluation
from relevansi.services.evaluations.evaluations import EvaluationKind


def test_every_kind_of_evaluation_is_in_the_demo_once(demo_session: Session) -> None:
    kinds = demo_session.scalars(select(Evaluation.kind)).all()

    assert sorted(kinds) == sorted(EvaluationKind)
