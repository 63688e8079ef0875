"""A link lets its rater in, on any device, until it expires or is withdrawn."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from webapp.db.tables.people import Invitation, LogEntry, Rater
from webapp.db.tables.study import Study
from webapp.services.people import raters, sign_in
from webapp.services.people.raters import (
    NameTaken,
    NoWayIn,
    OwnerIsNotInvited,
)

MONTH = timedelta(days=30)
MOMENT = timedelta(microseconds=1)


def test_a_link_lets_its_rater_in_as_often_as_wanted(session: Session, study: Study) -> None:
    invited = raters.invite(session, study, "Ani", NOW)

    for _device in range(3):
        assert raters.accept(session, study, invited.token, NOW).rater.name == "Ani"


def test_only_the_hash_of_a_link_is_stored(session: Session, study: Study) -> None:
    token = raters.invite(session, study, "Ani", NOW).token
    session.flush()

    row = session.scalars(select(Invitation)).one()
    assert row.token_hash == sha256(token.encode()).hexdigest()
    assert len(token) == 32  # 24 bytes, 192 bits, in base 64
    told = session.execute(select(LogEntry.subject, LogEntry.old, LogEntry.new))
    assert token not in str(list(told))


def test_a_link_holds_for_thirty_days_unless_told_otherwise(session: Session, study: Study) -> None:
    month = raters.invite(session, study, "Ani", NOW)
    day = raters.invite(session, study, "Budi", NOW, days=1)

    assert month.expires_at == NOW + MONTH
    raters.accept(session, study, month.token, NOW + MONTH - MOMENT)
    with pytest.raises(NoWayIn):
        raters.accept(session, study, month.token, NOW + MONTH)
    with pytest.raises(NoWayIn):
        raters.accept(session, study, day.token, NOW + timedelta(days=1))


def test_a_withdrawn_link_lets_nobody_in_and_those_inside_out(
    session: Session, study: Study
) -> None:
    invited = raters.invite(session, study, "Ani", NOW)
    other = raters.invite(session, study, "Ani", NOW)
    came_in = raters.accept(session, study, invited.token, NOW)
    badge = sign_in.rater_badge(came_in)

    raters.withdraw(session, study, came_in.id, NOW)

    assert sign_in.asker(session, badge, NOW).rater_id is None
    with pytest.raises(NoWayIn):
        raters.accept(session, study, invited.token, NOW)
    assert raters.accept(session, study, other.token, NOW).rater.name == invited.name


@pytest.mark.parametrize("token", ["", "x", "\x00", "é" * 500, "' OR 1=1 --"])
def test_an_unknown_link_lets_nobody_in(session: Session, study: Study, token: str) -> None:
    raters.invite(session, study, "Ani", NOW)

    with pytest.raises(NoWayIn):
        raters.accept(session, study, token, NOW)


def test_a_link_of_another_study_is_unknown(session: Session, study: Study) -> None:
    other = Study(name="Other", created_at=NOW)
    session.add(other)
    session.flush()
    invited = raters.invite(session, other, "Ani", NOW)
    row = raters.accept(session, other, invited.token, NOW)

    with pytest.raises(NoWayIn):
        raters.accept(session, study, invited.token, NOW)
    with pytest.raises(NoWayIn):
        raters.withdraw(session, study, row.id, NOW)


def test_inviting_a_name_again_is_another_link_for_the_same_rater(
    session: Session, study: Study
) -> None:
    first = raters.invite(session, study, "Ani", NOW)
    second = raters.invite(session, study, "ani", NOW)

    assert first.name == second.name == "Ani"
    assert first.token != second.token


def test_neither_the_owner_nor_a_removed_rater_is_invited(
    session: Session, study: Study, rater: Rater
) -> None:
    with pytest.raises(OwnerIsNotInvited):
        raters.invite(session, study, rater.name, NOW)
    ani = raters.add(session, study, "Ani", NOW)
    raters.remove(session, ani, NOW)
    with pytest.raises(NameTaken):
        raters.invite(session, study, "Ani", NOW)


def test_a_list_says_what_became_of_each_link(session: Session, study: Study) -> None:
    raters.invite(session, study, "Ani", NOW, days=1)
    withdrawn = raters.invite(session, study, "Ani", NOW + MOMENT)
    raters.invite(session, study, "Ani", NOW + 2 * MOMENT)
    row = raters.accept(session, study, withdrawn.token, NOW)
    raters.withdraw(session, study, row.id, NOW)

    found = raters.invitation_lines(session, study, NOW + timedelta(days=2))

    assert [line.state for line in found[row.rater_id]] == ["open", "withdrawn", "expired"]
