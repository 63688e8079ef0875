"""A statement past the session sees what the session holds."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.engine import tables
from webapp.db.tables.study import Study


def test_what_a_session_holds_is_written_first(session: Session, study: Study) -> None:
    study.name = "Renamed"

    names = tables(session).scalars(select(Study.__table__.c.name)).all()

    assert names == ["Renamed"]


def test_both_are_one_transaction(session: Session, study: Study) -> None:
    study.name = "Renamed"
    tables(session)

    session.rollback()

    assert "Renamed" not in session.scalars(select(Study.name)).all()
