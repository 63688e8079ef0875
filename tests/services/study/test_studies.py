"""The study's switches, and when it is blind."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import set_study, stored
from tests.services.runs.runs import card, query
from webapp.db.tables.people import LogEntry, Rater
from webapp.db.tables.study import Study
from webapp.services.study import studies


def test_a_study_is_blind_once_two_runs_compete_unless_the_owner_says_otherwise(
    session: Session, study: Study
) -> None:
    assert not studies.is_blind(session, study)
    stored(session, study, "hybrid", query(1))
    assert not studies.is_blind(session, study)
    stored(session, study, "api_only", query(1, card("a")))
    assert studies.is_blind(session, study)
    set_study(session, study, blind=False)
    assert not studies.is_blind(session, study)


def test_only_a_switch_that_changes_is_logged(session: Session, study: Study) -> None:
    set_study(session, study, overlap=2, figures="all")
    set_study(session, study, overlap=2, figures="progress")

    logged = select(LogEntry.action, LogEntry.old, LogEntry.new).order_by(LogEntry.id)
    assert [tuple(row) for row in session.execute(logged)] == [
        ("set overlap", "None", "2"),
        ("set figures", "progress", "all"),
        ("set figures", "all", "progress"),
    ]


def test_the_log_names_a_renamed_rater_by_number(
    session: Session, study: Study, rater: Rater
) -> None:
    before = rater.name
    for name in ("", before, "Ani"):
        studies.rename_rater(session, rater, name, NOW)
    session.flush()

    (entry,) = session.scalars(select(LogEntry).where(LogEntry.study_id == study.id)).all()
    assert (entry.subject, entry.old, entry.new) == (f"rater {rater.id}", before, "Ani")
