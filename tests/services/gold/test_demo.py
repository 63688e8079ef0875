"""The demo's study has decisions on constraints."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.db.tables.evaluations import CardDecision


def test_many_cards_of_the_demo_have_decisions(demo_session: Session) -> None:
    assert (demo_session.scalar(select(func.count()).select_from(CardDecision)) or 0) > 100
