"""The owner's password, what a browser carries, and how often one may try."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import timedelta
from queue import SimpleQueue
from threading import Event

import pytest
from msgspec.structs import replace
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.db.engine import Database
from relevansi.db.tables.people import Attempt, LogEntry, Rater
from relevansi.db.tables.study import Study
from relevansi.services.people import passwords, raters, sign_in, tries
from relevansi.services.people.passwords import PasswordQueue, TooBusy, WrongPassword
from relevansi.services.people.sign_in import SessionCookie
from relevansi.services.people.tries import TooManyTries
from relevansi.services.study import studies
from tests.conftest import NOW

RIGHT = "kata sandi yang panjang"
FORMER = (
    "scrypt$16$8$5$/wBzaXh0ZWVuIGJ5dGVzISE=$"
    "AxgUOdgNyp8CTLbHXfyi2/fWLfBumnwH6tmDUtXBffH+8r1Gn19CDCmbJWdU3pA9KCCurJxr1J6CfWy4ICMPDg=="
)
"""``RIGHT`` hashed by hashlib.scrypt(n=16, r=8, p=5), in the form of versions before werkzeug's."""


@pytest.fixture(name="locked")
def _locked(session: Session, study: Study) -> Study:
    """The study with the owner's password set."""
    sign_in.set_password(session, study, passwords.hashed(RIGHT), NOW)
    return study


def test_the_right_password_is_right_and_no_other(locked: Study) -> None:
    for tried in ("", "None", RIGHT):
        with pytest.raises(WrongPassword):
            passwords.check_password(None, tried)
    passwords.check_password(locked.password, RIGHT)
    for wrong in ("", RIGHT[:-1], RIGHT + " ", RIGHT.upper(), "x" * 1_000, "\ud800" * 10):
        with pytest.raises(WrongPassword):
            passwords.check_password(locked.password, wrong)


def test_a_password_stored_by_an_earlier_version_still_works() -> None:
    passwords.check_password(FORMER, RIGHT)
    with pytest.raises(WrongPassword):
        passwords.check_password(FORMER, RIGHT + " ")


def test_a_password_is_stored_salted_in_one_spelling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "COST", 2**10)
    first, second = (passwords.hashed("caf\u00e9 di Medan") for _ in range(2))
    monkeypatch.undo()

    assert first != second
    assert first.startswith("scrypt:1024:8:5$")
    assert "Medan" not in first
    passwords.check_password(first, "cafe\u0301 di Medan")


def test_another_password_signs_the_owner_out(
    session: Session, locked: Study, rater: Rater
) -> None:
    cookie = sign_in.owner_cookie(session, locked)
    assert sign_in.current_user(session, cookie, NOW).rater_id == rater.id

    sign_in.set_password(session, locked, passwords.hashed(RIGHT), NOW)
    assert sign_in.current_user(session, cookie, NOW).rater_id is None
    session.flush()
    for entry in session.scalars(select(LogEntry)):
        assert (entry.action, entry.old, entry.new) == ("set password", None, None)


def test_a_forged_cookie_stands_for_nobody(session: Session, locked: Study, rater: Rater) -> None:
    ani = raters.add(session, locked, "Ani", NOW)
    token = raters.make(session, ani, NOW).token
    real = sign_in.rater_cookie(raters.accept(session, locked, token, NOW))

    assert sign_in.current_user(session, real, NOW).rater_id == ani.id
    for cookie in (
        SessionCookie(rater.id),
        SessionCookie(ani.id),
        SessionCookie(ani.id, seal=sign_in.owner_cookie(session, locked).seal),
        SessionCookie(999),
        replace(real, rater_id=rater.id),
        replace(real, seal=""),
        replace(real, invitation_id=999),
        replace(real, invitation_id=None),
    ):
        assert sign_in.current_user(session, cookie, NOW).rater_id is None
    assert sign_in.current_user(session, real, NOW + timedelta(days=30)).rater_id is None


def test_nobody_signs_in_before_a_password_or_invitation(session: Session, study: Study) -> None:
    assert sign_in.current_user(session, None, NOW).is_open_house
    sign_in.set_password(session, study, passwords.hashed(RIGHT), NOW)
    assert not sign_in.current_user(session, None, NOW).is_open_house
    sign_in.set_password(session, study, None, NOW)
    ani = raters.add(session, study, "Ani", NOW)
    assert sign_in.current_user(session, None, NOW).is_open_house
    raters.make(session, ani, NOW, days=1)
    raters.remove(session, ani, NOW)
    assert not sign_in.current_user(
        session, None, NOW
    ).is_open_house  # a withdrawn one counts: it was given out


def test_one_password_is_compared_at_a_time_and_few_wait() -> None:
    queue, began, end = PasswordQueue(), SimpleQueue[int](), Event()

    def compare(number: int) -> None:
        with queue.turn():
            began.put(number)
            end.wait()

    with ThreadPoolExecutor(2 + passwords.WAITING) as pool:
        tried = [pool.submit(compare, number) for number in range(2 + passwords.WAITING)]
        refused = next(as_completed(tried))  # all others wait until the end
        assert isinstance(refused.exception(), TooBusy)
        began.get()
        assert began.empty()
        end.set()

    waiting = [comparison for comparison in tried if comparison is not refused]
    assert [comparison.exception() for comparison in waiting] == [None] * 3
    with queue.turn():
        pass


MINUTE = timedelta(minutes=1)


def knock(session: Session, study: Study, times: int, source: str = "a", minute: int = 0) -> None:
    for _try in range(times):
        tries.count_password_try(session, study, source, NOW + minute * MINUTE)
        session.flush()


def test_after_five_failures_one_source_waits(session: Session, study: Study) -> None:
    second_study = Study(name="Other", created_at=NOW)
    session.add(second_study)
    session.flush()
    knock(session, study, 4)
    tries.forget_tries(session, study, "a")
    knock(session, study, 5)

    with pytest.raises(TooManyTries):
        knock(session, study, 1, minute=14)
    for number in range(4):
        knock(session, study, 5, f"10.0.0.{number}")
    knock(session, study, 5, "10.0.1.1")
    knock(session, second_study, 5)
    knock(session, study, 5, minute=15)
    knock(session, study, 1, "b", minute=80)
    assert session.scalar(select(func.count()).select_from(Attempt)) == 1  # old ones are cleared


def test_nobody_waits_for_a_clock_that_was_put_back(session: Session, study: Study) -> None:
    knock(session, study, 5, minute=60)

    knock(session, study, 5)
    with pytest.raises(TooManyTries):
        knock(session, study, 1)


def test_tries_at_once_never_exceed_the_limit(database: Database) -> None:
    with database.writing() as session:
        study_id = studies.open_or_make(session, NOW).id
        session.commit()

    def attempt(_number: int) -> bool:
        with database.writing() as session:
            try:
                tries.count_password_try(session, session.get_one(Study, study_id), "a", NOW)
            except TooManyTries:
                return False
            session.commit()
            return True

    # Fewer than the writers that are refused while another one is slow.
    with ThreadPoolExecutor(4) as pool:
        let_through = sum(pool.map(attempt, range(24)))

    assert let_through == 5
