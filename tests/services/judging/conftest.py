"""The run that the tests of judging judge."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from relevansi.db.tables.study import Study
from tests.services.runs.runs import card, query, run, store


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study) -> str:
    """Two listed answers, the first with a listing shown twice, and an empty one."""
    read = run(query(1, card("a"), card("b"), card("a")), query(2, card("c")), query(3))
    return store(session, study, read).id
