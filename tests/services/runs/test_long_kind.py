"""A large import says how many questions of all its files are read."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.web.runs.test_imports import run_file
from webapp.db.tables.study import Study
from webapp.services.runs import waiting_files
from webapp.services.workers import kinds


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_questions_of_all_files_are_counted_as_they_are_read(
    session: Session, study: Study
) -> None:
    tokens = [
        waiting_files.keep(session, study, f"run_{n}.json", run_file(), NOW) for n in range(2)
    ]
    session.flush()
    files = [waiting_files.find(session, study, token) for token in tokens]
    told: list[tuple[int, int]] = []

    finish = kinds.store_files(
        session, study, kinds.storing(files, {}), lambda *now: told.append(now)
    )

    assert told == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    assert len(finish(session, study, NOW)["runs"]) == 2
