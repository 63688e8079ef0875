"""The demo's raters disagree, and two of three disputes are settled."""

from __future__ import annotations

from sqlalchemy.orm import Session

from tests.demo import study_of
from webapp.metrics.agreement.report import ItemKind
from webapp.services.agreement import adjudications, agreement


def test_they_disagree_as_people_do_and_a_part_is_adjudicated(demo_session: Session) -> None:
    study = study_of(demo_session)
    found = agreement.report(demo_session, study, kinds=[ItemKind.CARDS]).kinds[0].overall
    docket = adjudications.docket(demo_session, study)

    assert found.fleiss.value is not None
    assert 0.6 < found.fleiss.value < 0.9
    assert len(docket.settled) > len(docket.open) > 10
