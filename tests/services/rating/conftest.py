"""The three runs that the tests of blind rating rate, and an empty answer that is looked up."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.services.rating import lookups
from relevansi.services.rating.lookups import Place
from tests.services.rating.blind_raters import METHODS, stored
from tests.services.runs.runs import card, query


@pytest.fixture(name="runs")
def _runs(session: Session, study: Study) -> list[str]:
    """Three runs: shared and own cards, an emptiness, a follow-up, a changed price."""
    lists = {
        "hybrid": [query(1, card("a", price=1), card("b")), query(2, card("x")), query(3)],
        "api_only": [query(1, card("b"), card("c")), query(2), query(3)],
        "vector_only": [query(1, card("a", price=2)), query(2, card("x")), query(3, card("y"))],
    }
    return [
        stored(session, study, method, *lists[method], query(4, card("z"), context_dependent=True))
        for method in METHODS
    ]


@pytest.fixture(name="place")
def _place(session: Session, study: Study, rater: Rater) -> Place:
    """An empty answer of an open study, beside a question with one result."""
    run_id = stored(session, study, "hybrid", query(1), query(2, card("x")))
    return lookups.of_answer(session, rater, run_id, 1)
