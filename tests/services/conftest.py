"""The rated run that reports and exports are made of."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.records import EmptyOutcome
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from tests.services.runs.runs import NO, UNSURE, YES, card, click, query, run, store


@pytest.fixture(name="rated_run")
def _rated_run(session: Session, study: Study, rater: Rater) -> str:
    read = run(
        query(1, card("a"), card("b"), card("c"), category="x"),
        query(2, card("d"), card("e"), category="x"),
        query(3, category="y"),
        query(4, card("f"), category="y"),
    )
    run_id = store(session, study, read).id
    verdicts = [(1, 1, NO), (1, 2, YES), (1, 3, UNSURE), (2, 1, YES), (2, 2, YES)]
    for number, (query_id, rank, verdict) in enumerate(verdicts):
        judgments.judge(session, rater, run_id, query_id, rank, verdict, click(f"e{number}"))
    rating = AnswerRating(empty_outcome=EmptyOutcome.FALSE_NEGATIVE)
    judgments.rate(session, rater, run_id, 3, rating, click("e10"))
    judgments.rate(session, rater, run_id, 1, AnswerRating(quality=3, notes="=1+1"), click("e11"))
    return run_id
