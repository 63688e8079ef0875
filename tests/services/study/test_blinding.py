"""Reports name the times in which raters saw more than the cards."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace
from sqlalchemy.orm import Session

from tests.conftest import NOW
from webapp.db.tables.study import Study
from webapp.services.study import assignments, studies
from webapp.services.study.assignments import Exposure, Period

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


def switch(session: Session, study: Study, hour: int, **wanted: object) -> None:
    """Set some of the study's switches `hour` hours after the tests' moment."""
    changed = replace(studies.switches(study), **wanted)
    studies.set_switches(session, study, changed, NOW + timedelta(hours=hour))
    session.flush()


def at(hour: int, until: int | None = None) -> Period:
    """Return the period between two hours after the tests' moment."""
    end = None if until is None else NOW + timedelta(hours=until)
    return Period(NOW + timedelta(hours=hour), end)


def test_a_study_whose_switches_nobody_touched_showed_nothing(
    session: Session, study: Study
) -> None:
    assert assignments.exposure(session, study) == Exposure((), (), ())


def test_a_time_ends_when_its_switch_goes_back_and_lasts_until_then(
    session: Session, study: Study
) -> None:
    for hour, shown in enumerate((True, False, True), start=2):
        switch(session, study, hour, show_record=shown)

    assert assignments.record_shown(session, study) == (at(2, until=3), at(4))


def test_each_switch_has_times_of_its_own(session: Session, study: Study) -> None:
    switch(session, study, 1, badges_while_blind=True, show_record=True, suggest_quality=True)
    switch(session, study, 2, badges_while_blind=False)

    assert assignments.exposure(session, study) == Exposure((at(1, until=2),), (at(1),), (at(1),))


def test_another_study_s_switches_are_its_own(session: Session, study: Study) -> None:
    other = Study(name="Other", created_at=NOW)
    session.add(other)
    session.flush()
    switch(session, other, 1, show_record=True)

    assert assignments.record_shown(session, study) == ()
