"""Runs stored and pages opened, as the tests of open pages need them."""

from __future__ import annotations

from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.runs.runs import run
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.records import ReadQuery
from webapp.services.rating import pages
from webapp.services.rating.pages import RatingPage
from webapp.services.rating.pool import QueryFilter
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels


def stored(session: Session, study: Study, *queries: ReadQuery, method: str = "hybrid") -> str:
    return imports.store(session, study, run(*queries, method=method), Labels(), NOW).id


def page(
    session: Session, rater: Rater, run_id: str, query_id: int, wanted: QueryFilter | None = None
) -> RatingPage:
    return pages.rating_page(session, rater, run_id, query_id, wanted or QueryFilter())
