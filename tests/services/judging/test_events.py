"""An event is stored once and put in order; the one in force decides the rater's row."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.judging.rater_rows import events, verdicts
from tests.services.runs.runs import NO, YES, click
from webapp.db.tables.judging import Event
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query
from webapp.services.judging import events as judging_events
from webapp.services.judging import live_metrics
from webapp.services.judging.events import EventIdTaken, Target, TargetChange
from webapp.services.study import studies


def test_the_same_event_twice_changes_nothing(session: Session, rater: Rater, run_id: str) -> None:
    judging_events.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    judging_events.judge(session, rater, run_id, 1, 1, NO, click("e2", minute=1))
    judging_events.judge(session, rater, run_id, 1, 1, YES, click("e1", minute=2))

    assert verdicts(session, rater) == ["0"]
    assert events(session) == 2


def test_an_event_id_cannot_come_to_mean_something_else(
    session: Session, rater: Rater, run_id: str
) -> None:
    judging_events.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    with pytest.raises(EventIdTaken):
        judging_events.judge(session, rater, run_id, 1, 1, NO, click("e1"))
    with pytest.raises(EventIdTaken):
        judging_events.judge(session, rater, run_id, 2, 1, YES, click("e1"))


def test_a_late_click_of_an_earlier_moment_is_stored_and_does_not_stand(
    session: Session, rater: Rater, run_id: str
) -> None:
    later = click("laptop", minute=5, client_minute=5, device="laptop", sequence=1)
    held_back = click("phone", minute=9, client_minute=1, device="phone", sequence=1)
    judging_events.judge(session, rater, run_id, 1, 1, YES, later)
    judging_events.judge(session, rater, run_id, 1, 1, NO, held_back)

    assert verdicts(session, rater) == ["1"]
    assert events(session) == 2


def test_a_clock_running_ahead_does_not_shadow_later_clicks(
    session: Session, rater: Rater, run_id: str
) -> None:
    ahead = click("phone", minute=1, client_minute=500, device="phone", sequence=1)
    judging_events.judge(session, rater, run_id, 1, 1, YES, ahead)
    judging_events.judge(session, rater, run_id, 1, 1, NO, click("laptop", minute=2))

    assert verdicts(session, rater) == ["0"]


def test_an_undo_is_later_than_what_it_undoes_whatever_the_clocks_say(
    session: Session, rater: Rater, run_id: str
) -> None:
    first = click("e1", minute=10, client_minute=9, device="a", sequence=1)
    judging_events.judge(session, rater, run_id, 1, 1, YES, first)
    undo = click("u1", minute=10, client_minute=2, device="a", sequence=2)
    judging_events.undo(session, rater, run_id, undo)

    assert verdicts(session, rater) == [None]


def changes(session: Session, run_id: str) -> list[TargetChange]:
    """Clicks on two cards and a quality: one again, one late, one changed."""
    query = session.scalars(select(Query).where(Query.run_id == run_id).order_by(Query.id)).first()
    assert query is not None
    first, second = (Target.verdict(shown.judged_thing_id, query.id) for shown in query.results[:2])
    quality = Target.rating(query, "quality")
    late = click("late", minute=9, client_minute=1, device="phone", sequence=1)
    return [
        TargetChange(first, YES, click("e1", minute=5)),
        TargetChange(first, NO, late),
        TargetChange(second, NO, click("e2", minute=6)),
        TargetChange(second, YES, click("e3", minute=7)),
        TargetChange(first, YES, click("e1", minute=8)),
        TargetChange(quality, "4", click("e3", minute=7)),
    ]


def test_many_events_at_once_are_stored_as_one_after_the_other(
    session: Session, rater: Rater, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = studies.add_rater(session, rater.study, "Budi", NOW)
    made = changes(session, run_id)

    for change in made:
        judging_events.record(session, rater, *change)
    judging_events.record_all(session, other, made)
    targets = [change.target for change in made]
    judging_events.refresh(session, rater, targets)
    monkeypatch.setattr(judging_events, "MANY", 1)
    judging_events.refresh(session, other, targets)

    columns = (Event.event_id, Event.field, Event.old, Event.new, Event.sequence, Event.device)
    rows = [
        session.execute(select(*columns).where(Event.rater_id == who.id).order_by(Event.id)).all()
        for who in (rater, other)
    ]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 5
    assert verdicts(session, other) == verdicts(session, rater) == ["1", "1"]
    assert live_metrics.check(session) == []


def test_of_many_events_none_is_stored_if_an_id_means_something_else(
    session: Session, rater: Rater, run_id: str
) -> None:
    made = changes(session, run_id)
    with pytest.raises(EventIdTaken):
        judging_events.record_all(session, rater, [*made, made[2]._replace(target=made[0].target)])

    assert events(session) == 0
