"""The links into phase 3, and the badges of those who came by one.

A participant has no account: the holder of the personal link continues where it was left.
"""

from __future__ import annotations

import hmac
import secrets
from datetime import datetime, timedelta

from msgspec import Struct
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from webapp.db.tables.phase_3 import Participant, ParticipantLink
from webapp.db.tables.study import Study
from webapp.failures import Conflict
from webapp.i18n import mark
from webapp.printable import look_alike
from webapp.services.people import sign_in
from webapp.services.people.raters import DAYS, OPEN, TOKEN_BYTES, NoWayIn, hashed, state_of
from webapp.services.study import studies

LONGEST_PSEUDONYM = 40
PSEUDONYMS = (
    *("Melati", "Kenanga", "Cempaka", "Anggrek", "Teratai", "Dahlia", "Seruni", "Kamboja"),
    *("Merpati", "Kenari", "Cendrawasih", "Kutilang", "Merak", "Jalak", "Gelatik", "Camar"),
    *("Jati", "Cemara", "Pinus", "Beringin", "Mahoni", "Bambu", "Kelapa", "Rotan"),
)
"""Flowers, birds and trees: not the names of people, and known in both languages."""


class PseudonymTaken(Conflict):
    """Another participant of the study goes by this pseudonym."""

    message = mark("Somebody else has this pseudonym")
    remedy = mark("Please choose another.")


def offered(session: Session, study: Study) -> str:
    """Return a free pseudonym; the choice reveals nothing about the order of participants."""
    taken = _all(session, study)
    free = [name for name in PSEUDONYMS if not _is_among(taken, name)]
    while not free:
        numbered = f"{secrets.choice(PSEUDONYMS)} {secrets.randbelow(900) + 100}"
        free = [] if _is_among(taken, numbered) else [numbered]
    return secrets.choice(free)


def need_free(session: Session, study: Study, pseudonym: str) -> None:
    """Return if nobody goes by a pseudonym; raises ``PseudonymTaken``."""
    if not is_free(session, study, pseudonym):
        raise PseudonymTaken(pseudonym)


def is_free(session: Session, study: Study, pseudonym: str) -> bool:
    """Whether nobody goes by a pseudonym, or by one that looks like it."""
    return not _is_among(_all(session, study), pseudonym)


def subject(participant: Participant) -> str:
    """Return the log's name of a participant: the number, never the pseudonym.

    >>> subject(Participant(number=3))
    'participant 3'
    """
    return f"participant {participant.number}"


def _is_among(taken: list[str], pseudonym: str) -> bool:
    return any(look_alike(name, pseudonym) for name in taken)


def _all(session: Session, study: Study) -> list[str]:
    wanted = select(Participant.pseudonym).where(Participant.study_id == study.id)
    return list(session.scalars(wanted))


PERSONAL_DAYS = 90


class UnknownLink(NoWayIn):
    """No link of this study has that token or number."""


class LinkExpired(NoWayIn):
    """The link's time is over."""


class LinkWithdrawn(NoWayIn):
    """The owner took the link back."""


class NewLink(Struct, frozen=True):
    """A link just made; ``token`` is in the link only. An open link has no pseudonym."""

    id: int
    token: str
    expires_at: datetime
    pseudonym: str | None = None


class LinkLine(Struct, frozen=True):
    """One link in a list; ``pseudonym`` is null for an open link."""

    id: int
    created_at: datetime
    expires_at: datetime
    state: str
    pseudonym: str | None


class ParticipantBadge(Struct, frozen=True):
    """The cookie of a participant's browser; ``seal`` is made from the link that let it in.

    ``sign_in`` names one sign-in, which signing out ends for every copy of the cookie.
    """

    participant_id: int
    link_id: int
    seal: str
    sign_in: str = ""


def make(
    session: Session, study: Study, now: datetime, *, days: int = DAYS, token: str = ""
) -> NewLink:
    """Return a new open link, logged: every person who opens it may take part.

    Its token is a new one, unless it is named.
    """
    studies.log(session, study, "phase 3 link", study.name, None, None, now)
    return new(session, study, None, now, days, token)


def personal(session: Session, participant: Participant, now: datetime) -> NewLink:
    """Return one more link by which a participant goes on, on this or another device."""
    return new(session, participant.study, participant, now, PERSONAL_DAYS)


def accept(session: Session, study: Study, token: str, now: datetime) -> ParticipantLink:
    """Return the link of that token, which lets in as often as wanted.

    Raises ``UnknownLink``, ``LinkExpired`` and ``LinkWithdrawn``; to a stranger all three are
    to be the same.
    """
    found = by_token(session, study, token)
    if found is None:
        raise UnknownLink
    if found.withdrawn_at is not None:
        raise LinkWithdrawn
    if found.expires_at <= now:
        raise LinkExpired
    return found


def withdraw(session: Session, study: Study, link_id: int, now: datetime) -> None:
    """Take a link back, logged: its holders are out at once; raises ``UnknownLink``."""
    found = session.get(ParticipantLink, link_id)
    if found is None or found.study_id != study.id:
        raise UnknownLink(link_id)
    if found.withdrawn_at is None:
        found.withdrawn_at = now
        about = subject(found.participant) if found.participant else study.name
        studies.log(session, study, "withdraw phase 3 link", about, None, None, now)


def listed(session: Session, study: Study, now: datetime) -> list[LinkLine]:
    """Return the open links and those of participants yet to agree, newest first.

    The personal links of those who agreed are theirs and not listed.
    """
    rows = session.execute(
        select(ParticipantLink, Participant)
        .outerjoin(Participant, Participant.id == ParticipantLink.participant_id)
        .where(ParticipantLink.study_id == study.id, Participant.agreed_at.is_(None))
        .order_by(ParticipantLink.created_at.desc(), ParticipantLink.id.desc())
    )
    return [
        LinkLine(
            id=link.id,
            created_at=link.created_at,
            expires_at=link.expires_at,
            state=state_of(link.withdrawn_at, link.expires_at, now),
            pseudonym=participant.pseudonym if participant else None,
        )
        for link, participant in rows
    ]


def new_token() -> str:
    """Return a token for the personal link of a person about to agree.

    The page of consent carries it, so that agreeing twice makes one participant.
    """
    return secrets.token_urlsafe(TOKEN_BYTES)


def badge(link: ParticipantLink) -> ParticipantBadge:
    """Return the badge of the participant of a personal link."""
    assert link.participant_id is not None
    return ParticipantBadge(link.participant_id, link.id, sign_in.seal(link.token_hash))


def recognise(
    session: Session, study: Study, carried: ParticipantBadge, now: datetime
) -> Participant | None:
    """Return the participant of a badge; ``None`` once its link or the person is gone."""
    link = session.get(ParticipantLink, carried.link_id)
    if link is None or link.study_id != study.id:
        return None
    if state_of(link.withdrawn_at, link.expires_at, now) != OPEN:
        return None
    if link.participant_id != carried.participant_id or link.participant is None:
        return None
    is_sealed = hmac.compare_digest(carried.seal, sign_in.seal(link.token_hash))
    if link.participant.agreed_at is None or not is_sealed:
        return None
    return None if sign_in.is_signed_out(session, carried.sign_in) else link.participant


def new(
    session: Session,
    study: Study,
    participant: Participant | None,
    now: datetime,
    days: int,
    token: str = "",
) -> NewLink:
    """Return a new link, of one participant or for everybody."""
    token = token or new_token()
    made = keep(session, study, participant, token, now, days)
    return NewLink(made.id, token, made.expires_at, participant.pseudonym if participant else None)


def keep(
    session: Session,
    study: Study,
    participant: Participant | None,
    token: str,
    now: datetime,
    days: int,
) -> ParticipantLink:
    """Store a link by its token, of which only the hash is kept."""
    link = ParticipantLink(
        study_id=study.id,
        participant=participant,
        token_hash=hashed(token),
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    session.add(link)
    session.flush()
    return link


def by_token(session: Session, study: Study, token: str) -> ParticipantLink | None:
    """Return the link of a token, however old."""
    return session.scalar(
        select(ParticipantLink).where(
            ParticipantLink.token_hash == hashed(token), ParticipantLink.study_id == study.id
        )
    )


def delete_all(session: Session, participant: Participant) -> None:
    """Delete every link of a participant."""
    session.execute(delete(ParticipantLink).where(ParticipantLink.participant_id == participant.id))
