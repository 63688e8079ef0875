"""An event is stored once and put in order; the one in force decides the rater's row."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from tests.services.judging.rater_rows import events, verdicts
from tests.services.runs.runs import NO, YES, click
from webapp.db.tables.people import Rater
from webapp.services.judging import judgments
from webapp.services.judging.events import EventIdTaken


def test_the_same_event_twice_changes_nothing(session: Session, rater: Rater, run_id: str) -> None:
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    judgments.judge(session, rater, run_id, 1, 1, NO, click("e2", minute=1))
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1", minute=2))

    assert verdicts(session, rater) == ["0"]
    assert events(session) == 2


def test_an_event_id_cannot_come_to_mean_something_else(
    session: Session, rater: Rater, run_id: str
) -> None:
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    with pytest.raises(EventIdTaken):
        judgments.judge(session, rater, run_id, 1, 1, NO, click("e1"))
    with pytest.raises(EventIdTaken):
        judgments.judge(session, rater, run_id, 2, 1, YES, click("e1"))


def test_a_late_click_of_an_earlier_moment_is_stored_and_does_not_stand(
    session: Session, rater: Rater, run_id: str
) -> None:
    later = click("laptop", minute=5, client_minute=5, device="laptop", sequence=1)
    held_back = click("phone", minute=9, client_minute=1, device="phone", sequence=1)
    judgments.judge(session, rater, run_id, 1, 1, YES, later)
    judgments.judge(session, rater, run_id, 1, 1, NO, held_back)

    assert verdicts(session, rater) == ["1"]
    assert events(session) == 2


def test_a_clock_running_ahead_does_not_shadow_later_clicks(
    session: Session, rater: Rater, run_id: str
) -> None:
    ahead = click("phone", minute=1, client_minute=500, device="phone", sequence=1)
    judgments.judge(session, rater, run_id, 1, 1, YES, ahead)
    judgments.judge(session, rater, run_id, 1, 1, NO, click("laptop", minute=2))

    assert verdicts(session, rater) == ["0"]


def test_an_undo_is_later_than_what_it_undoes_whatever_the_clocks_say(
    session: Session, rater: Rater, run_id: str
) -> None:
    first = click("e1", minute=10, client_minute=9, device="a", sequence=1)
    judgments.judge(session, rater, run_id, 1, 1, YES, first)
    undo = click("u1", minute=10, client_minute=2, device="a", sequence=2)
    judgments.undo(session, rater, run_id, undo)

    assert verdicts(session, rater) == [None]
