"""Links that let raters in without an account: made, accepted on any device, withdrawn.

The holder of the link is the rater. Only its hash is stored, so that a reader of the database
cannot sign in with it.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from hashlib import sha256

from msgspec import Struct
from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.people import Invitation, Rater
from webapp.db.tables.study import Study
from webapp.failures import Conflict, Missing
from webapp.i18n import mark
from webapp.services.people import raters
from webapp.services.people.raters import NameTaken
from webapp.services.study import studies

TOKEN_BYTES = 24
DAYS, MOST_DAYS = 30, 365
OPEN, EXPIRED, WITHDRAWN = "open", "expired", "withdrawn"


class NoWayIn(Missing):
    """A link is not valid, for any reason: a stranger does not learn which."""

    message = mark("This link lets nobody in")
    remedy = mark(
        "It may be incomplete, too old or withdrawn. Ask the person who sent it for a new one."
    )


class UnknownInvitation(NoWayIn):
    """No invitation of this study has that token or number."""


class InviteExpired(NoWayIn):
    """The invitation's time is over."""


class InviteWithdrawn(NoWayIn):
    """The owner took the invitation back, or removed its rater."""


class OwnerIsNotInvited(Conflict):
    """The owner signs in with the password; a link would open every door."""

    message = mark("The owner signs in with the password")
    remedy = mark("A link would open every page to its holder, so the owner gets none.")


class MachineIsNotInvited(Conflict):
    """A machine cannot be invited; its name is the argument."""

    message = mark("Nobody can sign in as a machine")
    remedy = mark("It has no link. Its own page, under Study, is where it is started.")


class Invited(Struct, frozen=True):
    """A new invitation; ``token`` is in the link and nowhere else."""

    rater: Rater
    token: str
    expires_at: datetime


class InvitationLine(Struct, frozen=True):
    """One invitation in a list; ``state`` is "open", "expired" or "withdrawn"."""

    id: int
    created_at: datetime
    expires_at: datetime
    state: str


def invite(
    session: Session, study: Study, name: str, now: datetime, *, days: int = DAYS
) -> Invited:
    """Return an invitation for the rater of that name, who is added if new.

    Raises ``OwnerIsNotInvited``, ``MachineIsNotInvited``, and ``NameTaken`` for the name of a
    removed rater.
    """
    rater = raters.named(session, study, name) or raters.add(session, study, name, now)
    return make(session, rater, now, days=days)


def make(session: Session, rater: Rater, now: datetime, *, days: int = DAYS) -> Invited:
    """Return a new invitation for a rater, logged; earlier ones hold as before.

    `days` is how long it holds, 1 to 365. Raises ``OwnerIsNotInvited``, ``MachineIsNotInvited``
    and, for a removed rater, ``NameTaken``.
    """
    if rater.is_owner:
        raise OwnerIsNotInvited
    if rater.is_machine:
        raise MachineIsNotInvited(rater.name)
    if rater.removed_at is not None:
        raise NameTaken(rater.name)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    expires_at = now + timedelta(days=days)
    session.add(
        Invitation(
            rater_id=rater.id, token_hash=hashed(token), created_at=now, expires_at=expires_at
        )
    )
    studies.log(session, rater.study, "invite", studies.rater_subject(rater), None, None, now)
    return Invited(rater, token, expires_at)


def accept(session: Session, study: Study, token: str, now: datetime) -> Invitation:
    """Return the invitation of a link, whose rater it lets in; as often as wanted.

    Raises ``UnknownInvitation``, ``InviteExpired`` and ``InviteWithdrawn``; to a stranger all
    three are to be the same.
    """
    found = session.scalar(
        select(Invitation)
        .join(Rater)
        .where(Invitation.token_hash == hashed(token), Rater.study_id == study.id)
    )
    if found is None:
        raise UnknownInvitation
    if found.rater.is_machine:
        raise UnknownInvitation
    if found.withdrawn_at is not None or found.rater.removed_at is not None:
        raise InviteWithdrawn
    if found.expires_at <= now:
        raise InviteExpired
    return found


def withdraw(session: Session, study: Study, invitation_id: int, now: datetime) -> None:
    """Take an invitation back, logged; the people who came in by it are out at once.

    Raises ``UnknownInvitation``.
    """
    found = session.get(Invitation, invitation_id)
    if found is None or found.rater.study_id != study.id:
        raise UnknownInvitation(invitation_id)
    if found.withdrawn_at is None:
        found.withdrawn_at = now
        subject = studies.rater_subject(found.rater)
        studies.log(session, study, "withdraw invitation", subject, None, None, now)


def lines(session: Session, study: Study, now: datetime) -> dict[int, tuple[InvitationLine, ...]]:
    """Return each rater's invitations by the rater's id, the newest first."""
    rows = session.scalars(
        select(Invitation)
        .join(Rater)
        .where(Rater.study_id == study.id)
        .order_by(Invitation.created_at.desc(), Invitation.id.desc())
    )
    found: dict[int, tuple[InvitationLine, ...]] = {}
    for row in rows:
        line = InvitationLine(
            row.id, row.created_at, row.expires_at, state_of(row.withdrawn_at, row.expires_at, now)
        )
        found[row.rater_id] = (*found.get(row.rater_id, ()), line)
    return found


def state_of(withdrawn_at: datetime | None, expires_at: datetime, now: datetime) -> str:
    """Return whether a link is open, expired or withdrawn."""
    if withdrawn_at is not None:
        return WITHDRAWN
    return EXPIRED if expires_at <= now else OPEN


def hashed(token: str) -> str:
    """Return the hash by which the token of a link is known."""
    return sha256(token.encode(errors="replace")).hexdigest()
