from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.db.tables.machine_judges import MachineCall
from relevansi.services.machine_judges import judges
from tests.demo import study_of


def test_a_machine_judged_everything_and_was_released(demo_session: Session) -> None:
    study = study_of(demo_session)
    (judge,) = judges.lines(demo_session, study)
    beside = judges.beside_people(demo_session, study, judges.find(demo_session, study, judge.id))

    assert demo_session.scalar(select(func.count()).select_from(MachineCall)) == judge.judged == 522
    assert judge.released_at is not None
    assert beside.may_release
    assert 0.3 < (beside.agreement.cohen.value or 0) < 1
