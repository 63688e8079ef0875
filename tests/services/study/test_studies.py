"""The study's switches, and when it is blind."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import set_study, stored
from tests.services.runs.runs import UNSURE, YES, card, click, query
from webapp.db.tables.judging import StoredSummary
from webapp.db.tables.people import LogEntry, Rater
from webapp.db.tables.study import Study
from webapp.services.judging import events, live_metrics
from webapp.services.study import assignments, studies
from webapp.services.study.assignments import Exposure, Period


def test_a_study_is_blind_once_two_runs_compete(session: Session, study: Study) -> None:
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


def test_the_log_names_raters_by_number(session: Session, study: Study, rater: Rater) -> None:
    before = rater.name
    for name in ("", before, "Ani"):
        studies.rename_rater(session, rater, name, NOW)
    session.flush()

    (entry,) = session.scalars(select(LogEntry).where(LogEntry.study_id == study.id)).all()
    assert (entry.subject, entry.old, entry.new) == (f"rater {rater.id}", before, "Ani")


def test_cannot_tell_makes_figures_anew(session: Session, study: Study, rater: Rater) -> None:
    run_id = stored(session, study, "hybrid", query(1, card("a"), card("b")), query(2, card("c")))
    second = studies.add_rater(session, study, "Ani", NOW)
    for one in (rater, second):
        events.judge(session, one, run_id, 1, 1, YES, click(f"{one.id} 1"))
        events.judge(session, one, run_id, 1, 2, UNSURE, click(f"{one.id} 2"))
        events.judge(session, one, run_id, 2, 1, UNSURE, click(f"{one.id} 3"))
    # As the study counts from the beginning, each click too: 1 of 2 and 0 of 1.
    assert figures_of(session, rater, run_id) == [(0.5, 1.0), (0.0, 0.0)]
    revision = study.revision

    set_study(session, study, cannot_tell="left_out")

    for one in (rater, second):
        assert figures_of(session, one, run_id) == [(1.0, 1.0), (None, None)]
    assert live_metrics.check(session) == []
    session.refresh(study)
    assert study.revision != revision
    (entry,) = session.scalars(select(LogEntry).where(LogEntry.action == "set cannot_tell"))
    assert (entry.old, entry.new) == ("not_relevant", "left_out")
    events.judge(session, rater, run_id, 2, 1, None, click("again", minute=1))
    events.judge(session, rater, run_id, 2, 1, UNSURE, click("and again", minute=2))
    assert figures_of(session, rater, run_id)[1] == (None, None)


def figures_of(
    session: Session, rater: Rater, run_id: str
) -> list[tuple[float | None, float | None]]:
    """Return the stored overall precision and success of each query of a run."""
    session.expire_all()
    row = StoredSummary
    rows = select(row.overall_precision, row.success).where(  # type: ignore[attr-defined]
        row.rater_id == rater.id, row.run_id == run_id
    )
    return [tuple(found) for found in session.execute(rows.order_by(row.query_key))]


def switch(session: Session, study: Study, hour: int, **wanted: object) -> None:
    """Set some of the study's switches `hour` hours after the tests' moment."""
    changed = replace(studies.switches(study), **wanted)
    studies.set_switches(session, study, changed, NOW + timedelta(hours=hour))
    session.flush()


def at(hour: int, until: int | None = None) -> Period:
    """Return the period between two hours after the tests' moment."""
    end = None if until is None else NOW + timedelta(hours=until)
    return Period(NOW + timedelta(hours=hour), end)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_reports_name_when_raters_saw_more_than_cards(session: Session, study: Study) -> None:
    assert assignments.exposure(session, study) == Exposure((), (), ())
    switch(session, study, 1, badges_while_blind=True, suggest_quality=True)
    for hour, shown in enumerate((True, False, True), start=2):
        switch(session, study, hour, show_record=shown)
    switch(session, study, 6, badges_while_blind=False)
    other = Study(name="Other", created_at=NOW)
    session.add(other)
    session.flush()
    switch(session, other, 1, show_record=False)

    assert assignments.exposure(session, study) == Exposure(
        (at(1, until=6),), (at(2, until=3), at(4)), (at(1),)
    )
