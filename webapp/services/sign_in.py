"""Who is who: the owner by a password, a rater by an invitation, and how often one may try.

A browser carries a badge. It is compared with the database at every request, so that a
removed rater, a withdrawn invitation and a changed password take effect at once.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import unicodedata
from base64 import b64decode, b64encode
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, func, or_, select
from sqlalchemy.orm import Session

from webapp.db.models import Attempt, Invitation, Rater, Study
from webapp.services import participants, raters, studies

SHORTEST, LONGEST = 10, 200
WINDOW = timedelta(minutes=15)
PASSWORD, INVITATION = "password", "invitation"
TRIES = {PASSWORD: 5, INVITATION: 20}
"""Failures within the window after which one source has to wait."""
STUDY_TRIES = {PASSWORD: 50, INVITATION: 200}
"""The same for all sources together: many machines guess no faster."""
COST, BLOCK, LANES = 2**14, 8, 5
MEMORY = 64 * 2**20
SALT_BYTES = 16
SEAL_LENGTH = 16


class WrongPassword(Exception):
    """This is not the owner's password, or there is none yet."""


class UnfitPassword(ValueError):
    """A password is 10 to 200 characters long."""


class TooManyTries(Exception):
    """Too many failures of late; the same source, or anybody, has to wait."""


@dataclass(frozen=True, slots=True)
class Badge:
    """What a signed-in browser carries: who, by which invitation, and what that hangs on.

    ``seal`` changes with the password or the invitation that let the browser in. Where nobody
    signs in it is empty and the badge says only who of this machine's raters is at work.
    """

    rater_id: int
    invitation_id: int | None = None
    seal: str = ""


def is_open_house(session: Session, study: Study) -> bool:
    """Whether nobody needs to sign in: no password was set and nobody ever invited."""
    if study.password is not None or participants.has_links(session, study):
        return False
    made = select(Invitation.id).join(Rater).where(Rater.study_id == study.id).limit(1)
    return session.scalar(made) is None


def recognise(session: Session, study: Study, badge: Badge, now: datetime) -> Rater | None:
    """Return whom a badge still stands for; ``None`` once what it hangs on is gone."""
    rater = session.get(Rater, badge.rater_id)
    if rater is None or not _may_be(rater, study):
        return None
    if badge.invitation_id is not None:
        return rater if _is_valid(session, badge, now) else None
    if rater.is_owner and study.password is not None:
        return rater if hmac.compare_digest(badge.seal, _seal(study.password)) else None
    return None


def local_rater(session: Session, study: Study, badge: Badge | None) -> Rater:
    """Return who is at work where nobody signs in: the one chosen, else the owner."""
    chosen = session.get(Rater, badge.rater_id) if badge is not None else None
    if chosen is None or not _may_be(chosen, study):
        return raters.owner(session, study)
    return chosen


def owner_badge(session: Session, study: Study) -> Badge:
    """Return the owner's badge, which holds until the password changes."""
    assert study.password is not None
    return Badge(raters.owner(session, study).id, seal=_seal(study.password))


def rater_badge(invitation: Invitation) -> Badge:
    """Return the badge of whoever came in by an invitation."""
    return Badge(invitation.rater_id, invitation.id, _seal(invitation.token_hash))


def check_password(stored: str | None, password: str) -> None:
    """Return if this is the password that is `stored` hashed; raises ``WrongPassword``.

    It takes a third of a second, so no transaction should be open meanwhile.
    """
    if stored is None or len(password) > LONGEST:
        raise WrongPassword
    _, cost, block, lanes, salt, wanted = stored.split("$")
    found = _scrypt(password, b64decode(salt), int(cost), int(block), int(lanes))
    if not hmac.compare_digest(found, b64decode(wanted)):
        raise WrongPassword


def hashed(password: str) -> str:
    """Return a password as it is stored: the way, its cost, a salt and the hash.

    Raises ``UnfitPassword``.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise UnfitPassword
    salt = secrets.token_bytes(SALT_BYTES)
    found = _scrypt(password, salt, COST, BLOCK, LANES)
    parts = ("scrypt", COST, BLOCK, LANES, b64encode(salt).decode(), b64encode(found).decode())
    return "$".join(map(str, parts))


def set_password(session: Session, study: Study, stored: str | None, now: datetime) -> None:
    """Set the owner's password from its `hashed` form, logged; ``None`` forgets it.

    Every browser that came in by the old one is out.
    """
    study.password = stored
    action = "forget password" if stored is None else "set password"
    studies.log(session, study, action, study.name, None, None, now)


def setup_key(study: Study, secret: str) -> str:
    """Return the key of the one link that sets the first password from another machine.

    It works until there is a password.
    """
    said = f"set-up/{study.id}/{study.created_at.isoformat()}"
    return hmac.new(secret.encode(), said.encode(), hashlib.sha256).hexdigest()[:32]


def is_setup_key(study: Study, secret: str, key: str) -> bool:
    """Whether `key` may set the first password now."""
    wanted = setup_key(study, secret).encode()
    return study.password is None and hmac.compare_digest(wanted, key.encode(errors="replace"))


def knock(session: Session, study: Study, kind: str, source: str, now: datetime) -> None:
    """Count a try before it is made; raises ``TooManyTries``.

    Counting first, one at a time, lets no number of tries at once exceed the limit. `kind`
    is "password" or "invitation", `source` names the machine that asks.
    """
    session.execute(select(Study.id).where(Study.id == study.id).with_for_update())
    # What lies far ahead was counted before the clock was put back: nobody waits for that.
    over = or_(Attempt.at <= now - WINDOW, Attempt.at > now + WINDOW)
    session.execute(delete(Attempt).where(over))
    from_here = _count(session, Attempt.source == _source(study, kind, source))
    anywhere = Attempt.source.startswith(_source(study, kind, ""), autoescape=True)
    if from_here >= TRIES[kind] or _count(session, anywhere) >= STUDY_TRIES[kind]:
        raise TooManyTries
    session.add(Attempt(source=_source(study, kind, source), at=now))


def forgive(session: Session, study: Study, kind: str, source: str) -> None:
    """Forget the tries of a source that has shown who it is."""
    session.execute(delete(Attempt).where(Attempt.source == _source(study, kind, source)))


def _may_be(rater: Rater, study: Study) -> bool:
    """Whether somebody may be at work as this rater: neither a removed one nor a machine."""
    return rater.study_id == study.id and rater.removed_at is None and not rater.is_machine


def _is_valid(session: Session, badge: Badge, now: datetime) -> bool:
    invitation = session.get(Invitation, badge.invitation_id)
    return (
        invitation is not None
        and invitation.rater_id == badge.rater_id
        and invitation.withdrawn_at is None
        and invitation.expires_at > now
        and hmac.compare_digest(badge.seal, _seal(invitation.token_hash))
    )


def _scrypt(password: str, salt: bytes, cost: int, block: int, lanes: int) -> bytes:
    """Return the scrypt hash of a password, however its accents were typed."""
    said = unicodedata.normalize("NFKC", password).encode(errors="surrogatepass")
    return hashlib.scrypt(said, salt=salt, n=cost, r=block, p=lanes, maxmem=MEMORY)


def _seal(secret: str) -> str:
    return hashlib.sha256(f"seal/{secret}".encode()).hexdigest()[:SEAL_LENGTH]


def _source(study: Study, kind: str, source: str) -> str:
    return f"{study.id}/{kind}/{source}"[:128]


def _count(session: Session, where: ColumnElement[bool]) -> int:
    return session.scalar(select(func.count()).select_from(Attempt).where(where)) or 0
