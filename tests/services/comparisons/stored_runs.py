"""Runs that were imported one after the other, for comparisons."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.runs.runs import run
from webapp.db.tables.study import Study
from webapp.records import ReadQuery
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels


def stored(
    session: Session,
    study: Study,
    method: str,
    *queries: ReadQuery,
    llm: str = "one",
    hour: int = 0,
) -> str:
    """Return the id of a run of `method` that was imported `hour` hours after the others."""
    read = run(*queries, method=method, name=f"{method}-{llm}-{hour}.json")
    labels = Labels(llm=llm)
    return imports.store(session, study, read, labels, NOW + timedelta(hours=hour)).id
