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
from webapp.services.people import invitations, raters, sign_in
from webapp.services.people.invitations import (
    InviteExpired,
    InviteWithdrawn,
    OwnerIsNotInvited,
    UnknownInvitation,
)
from webapp.services.people.raters import NameTaken

MONTH = timedelta(days=30)
MOMENT = timedelta(microseconds=1)


def test_a_link_lets_its_rater_in_as_often_as_wanted(session: Session, study: Study) -> None:
    invited = invitations.invite(session, study, "Ani", NOW)

    for _device in range(3):
        assert invitations.accept(session, study, invited.token, NOW).rater.name == "Ani"


def test_only_the_hash_of_a_link_is_stored(session: Session, study: Study) -> None:
    token = invitations.invite(session, study, "Ani", NOW).token
    session.flush()

    row = session.scalars(select(Invitation)).one()
    assert row.token_hash == sha256(token.encode()).hexdigest()
    assert len(token) == 32  # 24 bytes, 192 bits, in base 64
    told = session.execute(select(LogEntry.subject, LogEntry.old, LogEntry.new))
    assert token not in str(list(told))


def test_a_link_holds_for_thirty_days_unless_told_otherwise(session: Session, study: Study) -> None:
    month = invitations.invite(session, study, "Ani", NOW)
    day = invitations.invite(session, study, "Budi", NOW, days=1)

    assert month.expires_at == NOW + MONTH
    invitations.accept(session, study, month.token, NOW + MONTH - MOMENT)
    with pytest.raises(InviteExpired):
        invitations.accept(session, study, month.token, NOW + MONTH)
    with pytest.raises(InviteExpired):
        invitations.accept(session, study, day.token, NOW + timedelta(days=1))


def test_a_withdrawn_link_lets_nobody_in_and_those_inside_out(
    session: Session, study: Study
) -> None:
    invited = invitations.invite(session, study, "Ani", NOW)
    other = invitations.invite(session, study, "Ani", NOW)
    came_in = invitations.accept(session, study, invited.token, NOW)
    badge = sign_in.rater_badge(came_in)

    invitations.withdraw(session, study, came_in.id, NOW)

    assert sign_in.asker(session, badge, NOW).rater_id is None
    with pytest.raises(InviteWithdrawn):
        invitations.accept(session, study, invited.token, NOW)
    assert invitations.accept(session, study, other.token, NOW).rater is invited.rater


@pytest.mark.parametrize("token", ["", "x", "\x00", "é" * 500, "' OR 1=1 --"])
def test_an_unknown_link_lets_nobody_in(session: Session, study: Study, token: str) -> None:
    invitations.invite(session, study, "Ani", NOW)

    with pytest.raises(UnknownInvitation):
        invitations.accept(session, study, token, NOW)


def test_a_link_of_another_study_is_unknown(session: Session, study: Study) -> None:
    other = Study(name="Other", created_at=NOW)
    session.add(other)
    session.flush()
    invited = invitations.invite(session, other, "Ani", NOW)
    row = invitations.accept(session, other, invited.token, NOW)

    with pytest.raises(UnknownInvitation):
        invitations.accept(session, study, invited.token, NOW)
    with pytest.raises(UnknownInvitation):
        invitations.withdraw(session, study, row.id, NOW)


def test_inviting_a_name_again_is_another_link_for_the_same_rater(
    session: Session, study: Study
) -> None:
    first = invitations.invite(session, study, "Ani", NOW)
    second = invitations.invite(session, study, "ani", NOW)

    assert first.rater is second.rater
    assert first.token != second.token


def test_neither_the_owner_nor_a_removed_rater_is_invited(
    session: Session, study: Study, rater: Rater
) -> None:
    with pytest.raises(OwnerIsNotInvited):
        invitations.invite(session, study, rater.name, NOW)
    ani = raters.add(session, study, "Ani", NOW)
    raters.remove(session, ani, NOW)
    with pytest.raises(NameTaken):
        invitations.invite(session, study, "Ani", NOW)


def test_a_list_says_what_became_of_each_link(session: Session, study: Study) -> None:
    ani = invitations.invite(session, study, "Ani", NOW, days=1).rater
    withdrawn = invitations.invite(session, study, "Ani", NOW + MOMENT)
    invitations.invite(session, study, "Ani", NOW + 2 * MOMENT)
    row = invitations.accept(session, study, withdrawn.token, NOW)
    invitations.withdraw(session, study, row.id, NOW)

    found = invitations.lines(session, study, NOW + timedelta(days=2))

    assert [line.state for line in found[ani.id]] == ["open", "withdrawn", "expired"]
