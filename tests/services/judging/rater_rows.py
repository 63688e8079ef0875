"""Rows of a rater as the tests of judging read them."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Event, Judgment, StoredSummary
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query


def verdicts(session: Session, rater: Rater) -> list[str | None]:
    rows = select(Judgment.verdict).where(Judgment.rater_id == rater.id)
    return list(session.scalars(rows.order_by(Judgment.judged_item_id)))


def events(session: Session) -> int:
    return session.scalar(select(func.count()).select_from(Event)) or 0


def summary(session: Session, rater: Rater, run_id: str, query_id: int) -> StoredSummary:
    rows = select(StoredSummary).join(Query, Query.id == StoredSummary.query_key)
    return session.scalars(
        rows.where(
            StoredSummary.rater_id == rater.id, Query.run_id == run_id, Query.query_id == query_id
        ).execution_options(populate_existing=True)
    ).one()
