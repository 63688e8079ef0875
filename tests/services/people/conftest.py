"""The run whose judgments people give."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.runs.runs import card, query, run
from webapp.db.tables.study import Study
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study) -> str:
    queries = (query(1, card("a"), card("b")), query(2))
    return imports.store(session, study, run(*queries), Labels(), NOW).id
