"""Tries of a password are counted by where they come from, and too many have to wait."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from webapp.db.engine import Database
from webapp.db.tables.people import Attempt
from webapp.db.tables.study import Study
from webapp.services.people import sign_in
from webapp.services.people.sign_in import TooManyTries
from webapp.services.study import studies

MINUTE = timedelta(minutes=1)


def knock(session: Session, study: Study, times: int, source: str = "a", minute: int = 0) -> None:
    for _try in range(times):
        sign_in.knock(session, study, source, NOW + minute * MINUTE)
        session.flush()


def test_after_five_failures_a_source_waits_a_quarter_of_an_hour(
    session: Session, study: Study
) -> None:
    knock(session, study, 5)

    with pytest.raises(TooManyTries):
        knock(session, study, 1, minute=14)
    knock(session, study, 5, "b")
    knock(session, study, 5, minute=15)


def test_nobody_waits_for_a_clock_that_was_put_back(session: Session, study: Study) -> None:
    knock(session, study, 5, minute=60)

    knock(session, study, 5)
    with pytest.raises(TooManyTries):
        knock(session, study, 1)


def test_wrong_passwords_from_everywhere_keep_no_other_address_waiting(
    session: Session, study: Study
) -> None:
    for number in range(100):
        knock(session, study, 5, f"10.0.0.{number}")

    knock(session, study, 5, "10.0.1.1")


def test_another_study_does_not_wait(session: Session, study: Study) -> None:
    other = Study(name="Other", created_at=NOW)
    session.add(other)
    session.flush()
    knock(session, study, 5)

    knock(session, other, 5)


def test_success_forgets_the_failures_of_its_source(session: Session, study: Study) -> None:
    knock(session, study, 4)
    sign_in.forgive(session, study, "a")

    knock(session, study, 5)


def test_old_tries_are_cleared_away(session: Session, study: Study) -> None:
    knock(session, study, 5)
    knock(session, study, 1, "b", minute=60)

    assert session.scalar(select(func.count()).select_from(Attempt)) == 1


def test_tries_at_once_never_exceed_the_limit(database: Database) -> None:
    with database.writing() as session:
        study_id = studies.open_or_make(session, NOW).id
        session.commit()

    def attempt(_number: int) -> bool:
        with database.writing() as session:
            try:
                sign_in.knock(session, session.get_one(Study, study_id), "a", NOW)
            except TooManyTries:
                return False
            session.commit()
            return True

    # Fewer than the writers that are refused while another one is slow.
    with ThreadPoolExecutor(4) as pool:
        let_through = sum(pool.map(attempt, range(24)))

    assert let_through == 5
