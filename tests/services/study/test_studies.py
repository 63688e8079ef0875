"""The study's switches, and when it is blind."""

from __future__ import annotations

from sqlalchemy.orm import Session

from tests.services.rating.blind_raters import set_study, stored
from tests.services.runs.runs import card, query
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
