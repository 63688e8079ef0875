"""A dropped file waits for its owner for a day, and for nobody else."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.runs.runs import count
from webapp.db.tables.runs import Upload
from webapp.db.tables.study import Study
from webapp.services.runs import waiting_files
from webapp.services.runs.waiting_files import UnknownUpload

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


def test_a_file_waits_as_it_is_until_it_is_forgotten(session: Session, study: Study) -> None:
    token = waiting_files.keep(session, study, "run.json", b"\x00{}", NOW)
    session.flush()

    kept = waiting_files.find(session, study, token)
    assert (kept.name, kept.data) == ("run.json", b"\x00{}")
    waiting_files.discard(session, kept)
    session.flush()
    with pytest.raises(UnknownUpload):
        waiting_files.find(session, study, token)


def test_the_next_file_clears_away_those_older_than_a_day(session: Session, study: Study) -> None:
    old = waiting_files.keep(session, study, "old.json", b"", NOW)
    just = waiting_files.keep(session, study, "just.json", b"", NOW + timedelta(seconds=1))
    session.flush()

    waiting_files.keep(
        session, study, "new.json", b"", NOW + waiting_files.KEPT_FOR + timedelta(seconds=1)
    )
    session.expire_all()
    with pytest.raises(UnknownUpload):
        waiting_files.find(session, study, old)
    assert waiting_files.find(session, study, just).name == "just.json"
    assert count(session, Upload) == 2


def test_a_file_of_another_study_is_unknown(session: Session, study: Study) -> None:
    other = Study(name="Other", created_at=NOW)
    session.add(other)
    session.flush()
    token = waiting_files.keep(session, other, "run.json", b"", NOW)
    session.flush()

    with pytest.raises(UnknownUpload):
        waiting_files.find(session, study, token)
