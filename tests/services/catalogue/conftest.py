"""A run with four empty answers of which two rest on looking."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.records import EmptyOutcome
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from tests.services.catalogue.pinned import pin, question_of, search
from tests.services.runs.runs import YES, card, click, query, run, store

NOTHING, MISSED = EmptyOutcome


class LookedUp(NamedTuple):
    """A run, and the judged items that were pinned for its fourth question."""

    run_id: str
    pinned: tuple[int, ...]


@pytest.fixture(name="looked_up")
def _looked_up(session: Session, study: Study, rater: Rater) -> LookedUp:
    """Questions 2 and 3 are rightly empty, 4 and 5 missed; 2 was looked up, 3 only afterwards."""
    read = run(
        query(1, card("a")),
        query(2, category="x"),
        query(3, category="x"),
        query(4, category="y"),
        query(5, category="y"),
    )
    run_id = store(session, study, read).id
    second, third, fourth = (question_of(session, run_id, query_id) for query_id in (2, 3, 4))
    search(session, rater, second, minute=1)
    search(session, rater, second, minute=2)
    judgments.judge(session, rater, run_id, 1, 1, YES, click("a"))
    outcomes = {2: NOTHING, 3: NOTHING, 4: MISSED, 5: MISSED}
    for query_id, outcome in outcomes.items():
        at = click(f"e{query_id}", minute=2)
        judgments.rate(session, rater, run_id, query_id, AnswerRating(empty_outcome=outcome), at)
    search(session, rater, second, minute=3)
    search(session, rater, third, minute=3)
    items = (card("x", title="=Rumah X"), card("y"))
    pinned = tuple(pin(session, rater, fourth, item) for item in items)
    return LookedUp(run_id, pinned)
