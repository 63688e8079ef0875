"""Sign-in: the owner by a password, a rater by an invitation, each known by a session cookie.

A browser carries a session cookie. It is compared with the database at every request, so that
a removed rater, a withdrawn invitation, a changed password and signing out take effect at once.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection
from datetime import datetime, timedelta
from email.utils import parseaddr
from functools import cache
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import (
    Boolean,
    Row,
    Select,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    or_,
    select,
)
from sqlalchemy.orm import Session, aliased

from relevansi import labels
from relevansi.db.rows import core
from relevansi.db.tables.people import Invitation, Rater, SignedOut
from relevansi.db.tables.phase_3 import ParticipantLink
from relevansi.db.tables.study import Study
from relevansi.records import Scale
from relevansi.services.people import raters
from relevansi.services.study import studies

SIGN_OUT_KNOWN_FOR = timedelta(days=60)
"""Twice as long as any browser carries a cookie."""
SEAL_LENGTH = 16
"""Hexadecimal digits."""


class SessionCookie(Struct, frozen=True):
    """The session cookie of a signed-in browser: the rater, the invitation and a seal.

    ``seal`` changes with the password or the invitation that let the browser in. Without
    sign-in it is empty and the cookie only names the rater who was chosen on this machine.
    ``sign_in`` names one sign-in, which signing out ends for every copy of the cookie.
    """

    rater_id: int
    invitation_id: int | None = None
    seal: str = ""
    sign_in: str = ""


class CurrentUser(NamedTuple):
    """The user behind a request, by the database; ``rater_id`` is ``None`` for a stranger.

    The study is the one that is open. ``is_open_house``: no sign-in is needed, so each user
    is the rater they chose.
    """

    study_id: int
    study_made_at: datetime
    is_open_house: bool
    rater_id: int | None = None
    rater_name: str = ""
    is_owner: bool = False


def current_user(
    session: Session, cookie: SessionCookie | None, now: datetime, *, stays_open: bool = False
) -> CurrentUser:
    """Return the user of a session cookie, in one statement: every request waits for it.

    No sign-in is needed while no password was set and no rater was ever invited: then it is
    the rater who was chosen, else the owner. With `stays_open` invitations change nothing of
    that. A cookie is void once its password or invitation is gone.
    """
    claim = cookie or SessionCookie(rater_id=0)  # no rater has this id
    values = {**asdict(claim), "stays_open": stays_open}
    row = core(session).execute(_user_query(), values).one()
    labels.use_words_of(row.kind, Scale.stored(row.scale), row.merging)
    is_open = row.owner_id is not None
    study = row.id, row.created_at, is_open
    may_judge = row.rater_id is not None and row.removed_at is None and not row.is_machine
    if may_judge and (is_open or _cookie_holds(claim, row, now)):
        return CurrentUser(*study, row.rater_id, row.rater_name, row.is_owner)
    if not is_open:
        return CurrentUser(*study)
    return CurrentUser(*study, row.owner_id, row.owner_name, is_owner=True)


@cache
def _user_query() -> Select[Any]:
    """Return the statement behind `current_user`; the owner is named where nobody signs in."""
    owner, any_owner = aliased(Rater), aliased(Rater)
    first_owner = select(func.min(any_owner.id)).where(
        any_owner.study_id == Study.id, any_owner.is_owner
    )
    invited = exists().where(Rater.id == Invitation.rater_id, Rater.study_id == Study.id)
    is_open_to_users = exists().where(ParticipantLink.study_id == Study.id)
    nobody_invited = and_(~invited.correlate(Study), ~is_open_to_users.correlate(Study))
    stays_open = bindparam("stays_open", type_=Boolean)
    is_open = and_(Study.password.is_(None), or_(stays_open, nobody_invited))
    return (
        select(
            *(Study.id, Study.created_at, Study.password),
            *(Study.kind, Study.scale, Study.merging),
            *(case((is_open, owner.id)).label("owner_id"), owner.name.label("owner_name")),
            *(Rater.id.label("rater_id"), Rater.name.label("rater_name")),
            *(Rater.is_owner, Rater.is_machine, Rater.removed_at),
            Invitation.rater_id.label("invited_id"),
            *(Invitation.withdrawn_at, Invitation.expires_at, Invitation.token_hash),
            SignedOut.id.label("signed_out"),
        )
        .select_from(Study)
        .outerjoin(owner, owner.id == first_owner.correlate(Study).scalar_subquery())
        .outerjoin(Rater, and_(Rater.id == bindparam("rater_id"), Rater.study_id == Study.id))
        .outerjoin(Invitation, Invitation.id == bindparam("invitation_id"))
        .outerjoin(SignedOut, SignedOut.id == bindparam("sign_in"))
        .where(Study.id == select(func.min(aliased(Study).id)).scalar_subquery())
    )


def named_by_house(
    session: Session, study: Study, address: str, owners: Collection[str], now: datetime
) -> Rater | None:
    """Return the person whom a proxy signs in by `address`, in lower case: the owner or a rater.

    A rater's name is the address, or has it at its end as in "Ani <ani@kampus.id>", and has an
    invitation that is open. ``None`` for anybody else, and where two raters have the address.
    """
    if not address:
        return None
    if address in owners:
        return raters.owner(session, study)
    unexpired = Invitation.withdrawn_at.is_(None), Invitation.expires_at > now
    is_invited = exists().where(Invitation.rater_id == Rater.id, *unexpired)
    of_study = select(Rater).where(Rater.study_id == study.id, Rater.removed_at.is_(None))
    invited = of_study.where(~Rater.is_owner, ~Rater.is_machine, is_invited)
    # The database knows no addresses: it finds names that contain one, and parseaddr decides.
    has_address = func.lower(Rater.name).contains(address, autoescape=True)
    candidates = session.scalars(invited.where(has_address))
    namesakes = [rater for rater in candidates if parseaddr(rater.name)[1].lower() == address]
    return namesakes[0] if len(namesakes) == 1 else None


def _cookie_holds(cookie: SessionCookie, row: Row[Any], now: datetime) -> bool:
    if row.signed_out is not None:
        return False
    if cookie.invitation_id is None:
        secret = row.password if row.is_owner else None
    else:
        is_void = row.invited_id != cookie.rater_id or row.withdrawn_at or row.expires_at <= now
        secret = None if is_void else row.token_hash
    return secret is not None and hmac.compare_digest(cookie.seal, seal(secret))


def owner_cookie(session: Session, study: Study) -> SessionCookie:
    """Return the owner's cookie, which holds until the password changes."""
    assert study.password is not None
    return SessionCookie(raters.owner(session, study).id, seal=seal(study.password))


def rater_cookie(invitation: Invitation) -> SessionCookie:
    """Return the cookie of an invitation's rater, which holds as long as the invitation."""
    return SessionCookie(invitation.rater_id, invitation.id, seal(invitation.token_hash))


def sign_out(session: Session, sign_in: str, now: datetime) -> None:
    """End one sign-in, for the browser and for every copy of its cookie."""
    session.execute(delete(SignedOut).where(SignedOut.at <= now - SIGN_OUT_KNOWN_FOR))
    session.merge(SignedOut(id=sign_in, at=now))


def set_password(session: Session, study: Study, stored: str | None, now: datetime) -> None:
    """Set the owner's password from its hashed form (``None`` forgets it), signing all out."""
    study.password = stored  # every cookie holds a seal of the one before
    action = "forget password" if stored is None else "set password"
    studies.log(session, study, action, study.name, None, None, now)


def setup_key(study: Study, secret: str) -> str:
    """Return the key of the link that sets the first password from another machine."""
    purpose = f"set-up/{study.id}/{study.created_at.isoformat()}"
    return hmac.new(secret.encode(), purpose.encode(), hashlib.sha256).hexdigest()[:32]


def is_setup_key(study: Study, secret: str, key: str) -> bool:
    expected = setup_key(study, secret).encode()
    # The link is good once: a password that is set voids it.
    return study.password is None and hmac.compare_digest(expected, key.encode(errors="replace"))


def seal(secret: str) -> str:
    """Return the seal that a session cookie carries of what let its browser in."""
    return hashlib.sha256(f"seal/{secret}".encode()).hexdigest()[:SEAL_LENGTH]
