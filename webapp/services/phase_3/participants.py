"""The participants of phase 3: their links, consent, pseudonyms and withdrawal.

A participant has no account: the holder of the personal link continues where it was left. Each
one's questions and judgments live in a study of their own (docs/decisions/0011).
"""

from __future__ import annotations

import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from webapp.db.tables.judging import Event, JudgedThing, Judgment, QueryRating, StoredSummary
from webapp.db.tables.people import Rater
from webapp.db.tables.phase_3 import (
    ConsentText,
    OwnQuestion,
    Participant,
    ParticipantLink,
    QuestionnaireAnswer,
    UserStudy,
)
from webapp.db.tables.runs import Query, Result, Run
from webapp.db.tables.study import Question, QuestionSet, Study
from webapp.failures import Busy, Conflict, Missing
from webapp.i18n import mark
from webapp.services.people import sign_in, tries
from webapp.services.people.invitations import NoWayIn
from webapp.services.people.tries import TooManyTries
from webapp.services.phase_3 import user_studies
from webapp.services.study import studies

TOKEN_BYTES = 24
DAYS, MOST_DAYS, PERSONAL_DAYS = 30, 365, 90
OPEN, EXPIRED, WITHDRAWN = "open", "expired", "withdrawn"
LONGEST_PSEUDONYM = 40
SEAL_LENGTH = 16
HOUR = timedelta(hours=1)
PSEUDONYMS = (
    *("Melati", "Kenanga", "Cempaka", "Anggrek", "Teratai", "Dahlia", "Seruni", "Kamboja"),
    *("Merpati", "Kenari", "Cendrawasih", "Kutilang", "Merak", "Jalak", "Gelatik", "Camar"),
    *("Jati", "Cemara", "Pinus", "Beringin", "Mahoni", "Bambu", "Kelapa", "Rotan"),
)
"""Flowers, birds and trees: not the names of people, and known in both languages."""
_TOKEN = re.compile("[A-Za-z0-9_-]{32}")


class UnknownLink(NoWayIn):
    """No link of this study has that token or number."""


class LinkExpired(NoWayIn):
    """The link's time is over."""


class LinkWithdrawn(NoWayIn):
    """The owner took the link back."""


class PhaseClosed(Conflict):
    """Phase 3 is not open: it takes no new participants and no questions."""

    message = mark("The study takes no more questions")
    remedy = mark("Whoever sent you the link has closed it. What you gave is kept. Thank you.")


class TooManyNewcomers(Busy):
    """As many as may have begun by this link from one address within the hour."""

    message = mark("Many people have just begun from this network")
    remedy = mark(
        "That is nothing you did, and your link stays valid. Please open it again in an hour, "
        "or by another network, such as mobile data."
    )
    status = 429
    retry_after = 3600


class PseudonymTaken(Exception):
    """Another participant of the study goes by this pseudonym."""


class UnknownParticipant(Missing):
    """The study has no such participant."""

    message = mark("This study has no such participant")
    remedy = mark("They may have withdrawn. The page of the participants lists who is here.")


@dataclass(frozen=True, slots=True)
class NewLink:
    """A link just made; ``token`` is in the link only. An open link has no pseudonym."""

    id: int
    token: str
    expires_at: datetime
    pseudonym: str | None = None


@dataclass(frozen=True, slots=True)
class LinkLine:
    """One link in a list; ``pseudonym`` is null for an open link."""

    id: int
    created_at: datetime
    expires_at: datetime
    state: str
    pseudonym: str | None


@dataclass(frozen=True, slots=True)
class ParticipantBadge:
    """The cookie of a participant's browser; ``seal`` is made from the link that let it in.

    ``sign_in`` names one sign-in, which signing out ends for every copy of the cookie.
    """

    participant_id: int
    link_id: int
    seal: str
    sign_in: str = ""


def make_link(session: Session, study: Study, now: datetime, *, days: int = DAYS) -> NewLink:
    """Return a new open link, logged: every person who opens it may take part."""
    studies.log(session, study, "phase 3 link", study.name, None, None, now)
    return _link(session, study, None, now, days)


def invite(
    session: Session, study: Study, pseudonym: str, now: datetime, *, days: int = DAYS
) -> NewLink:
    """Return a link for one new participant, logged; raises ``PseudonymTaken``."""
    participant = _add(session, study, pseudonym, now)
    studies.log(session, study, "phase 3 invite", subject(participant), None, None, now)
    return _link(session, study, participant, now, days)


def personal_link(session: Session, participant: Participant, now: datetime) -> NewLink:
    """Return one more link by which a participant goes on, on this or another device."""
    return _link(session, participant.study, participant, now, PERSONAL_DAYS)


def accept(session: Session, study: Study, token: str, now: datetime) -> ParticipantLink:
    """Return the link of that token, which lets in as often as wanted.

    Raises ``UnknownLink``, ``LinkExpired`` and ``LinkWithdrawn``; to a stranger all three are
    to be the same.
    """
    found = _by_token(session, study, token)
    if found is None:
        raise UnknownLink
    if found.withdrawn_at is not None:
        raise LinkWithdrawn
    if found.expires_at <= now:
        raise LinkExpired
    return found


def withdraw_link(session: Session, study: Study, link_id: int, now: datetime) -> None:
    """Take a link back, logged: its holders are out at once; raises ``UnknownLink``."""
    found = session.get(ParticipantLink, link_id)
    if found is None or found.study_id != study.id:
        raise UnknownLink(link_id)
    if found.withdrawn_at is None:
        found.withdrawn_at = now
        about = subject(found.participant) if found.participant else study.name
        studies.log(session, study, "withdraw phase 3 link", about, None, None, now)


def links(session: Session, study: Study, now: datetime) -> list[LinkLine]:
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
            state=_state(link, now),
            pseudonym=participant.pseudonym if participant else None,
        )
        for link, participant in rows
    ]


def new_token() -> str:
    """Return a token for the personal link of a person about to agree.

    The page of consent carries it, so that agreeing twice makes one participant.
    """
    return secrets.token_urlsafe(TOKEN_BYTES)


def offered_pseudonym(session: Session, study: Study) -> str:
    """Return a free pseudonym; the choice reveals nothing about the order of participants."""
    taken = {name.casefold() for name in _pseudonyms(session, study)}
    free = [name for name in PSEUDONYMS if name.casefold() not in taken]
    while not free:
        numbered = f"{secrets.choice(PSEUDONYMS)} {secrets.randbelow(900) + 100}"
        free = [] if numbered.casefold() in taken else [numbered]
    return secrets.choice(free)


def agree(
    session: Session,
    link: ParticipantLink,
    consent: ConsentText,
    pseudonym: str,
    token: str,
    now: datetime,
    *,
    was_offered: bool = False,
    source: str = "",
) -> ParticipantBadge:
    """Return the badge of the person who agrees to `consent`, a new participant by an open link.

    The same `token` (see ``new_token``) again is the same participant. A pseudonym that we
    offered, and another person was given meanwhile, is replaced by another one: two people
    who open the link at once need not choose again. `source` is derived from the
    address that asks, and newcomers are counted by it. Raises ``PhaseClosed``,
    ``TooManyNewcomers``, ``PseudonymTaken``, and ``UnknownLink`` for an invalid token.
    """
    study = session.get_one(Study, link.study_id)
    phase = user_studies.lock(session, study)
    own = link if link.participant_id is not None else _by_token(session, study, token)
    if (own is None or _is_undecided(own)) and not phase.is_open:
        raise PhaseClosed
    if own is None:
        if not _TOKEN.fullmatch(token):
            raise UnknownLink
        if not _has_room(session, phase, f"phase 3/{link.id}/{source}", now):
            raise TooManyNewcomers
        if was_offered and not _is_free(session, study, pseudonym):
            pseudonym = offered_pseudonym(session, study)
        participant = _add(session, study, pseudonym, now)
        own = _keep(session, study, participant, token, now, PERSONAL_DAYS)
    if own.participant is None:
        raise UnknownLink
    if _is_undecided(own):
        _let_in(session, own.participant, consent, pseudonym, now)
    return badge(own)


def decline(
    session: Session, link: ParticipantLink, now: datetime, *, page: str = "", source: str = ""
) -> None:
    """Count a person who does not want to take part; nothing else is kept of them.

    People are counted, not clicks: one for each page that was shown (it carries the token
    `page`), and by an open link as many from one `source` as may begin. A person who
    agreed before cannot decline any more, but can withdraw.
    """
    if link.participant is not None and link.participant.agreed_at is not None:
        return
    study = session.get_one(Study, link.study_id)
    phase = user_studies.lock(session, study)
    if link.participant is None:
        if page and not _is_first(session, study, f"declined/{_hash(page)}", now):
            return
        if not _has_room(session, phase, f"declined/{link.id}/{source}", now):
            return
    phase.declined += 1
    if link.participant is not None:
        studies.log(session, study, "phase 3 declined", subject(link.participant), None, None, now)
        _delete_links(session, link.participant)
        session.delete(link.participant)


def take_back_decline(session: Session, study: Study) -> None:
    """Subtract a person who takes part after all from those who declined."""
    phase = user_studies.lock(session, study)
    phase.declined = max(0, phase.declined - 1)


def badge(link: ParticipantLink) -> ParticipantBadge:
    """Return the badge of the participant of a personal link."""
    assert link.participant_id is not None
    return ParticipantBadge(link.participant_id, link.id, _seal(link))


def recognise(
    session: Session, study: Study, carried: ParticipantBadge, now: datetime
) -> Participant | None:
    """Return the participant of a badge; ``None`` once its link or the person is gone."""
    link = session.get(ParticipantLink, carried.link_id)
    if link is None or link.study_id != study.id or _state(link, now) != OPEN:
        return None
    if link.participant_id != carried.participant_id or link.participant is None:
        return None
    if link.participant.agreed_at is None or not hmac.compare_digest(carried.seal, _seal(link)):
        return None
    return None if sign_in.is_signed_out(session, carried.sign_in) else link.participant


def find(session: Session, study: Study, participant_id: int) -> Participant:
    """Return a participant of the study; raises ``UnknownParticipant``."""
    found = session.get(Participant, participant_id)
    if found is None or found.study_id != study.id:
        raise UnknownParticipant(participant_id)
    return found


def everybody(session: Session, study: Study) -> list[Participant]:
    """Return the study's participants, invited ones too, in the order of their creation."""
    wanted = select(Participant).where(Participant.study_id == study.id)
    return list(session.scalars(wanted.order_by(Participant.number)))


def rename(session: Session, participant: Participant, pseudonym: str) -> None:
    """Give a participant another pseudonym; raises ``PseudonymTaken``."""
    if pseudonym.casefold() != participant.pseudonym.casefold():
        _need_free(session, participant.study, pseudonym)
    participant.pseudonym = pseudonym
    if participant.rater is not None:
        participant.rater.name = pseudonym


def finish(participant: Participant, now: datetime) -> None:
    """Note that a participant is done; they may still see and change their judgments."""
    participant.finished_at = participant.finished_at or now


def withdraw(session: Session, participant: Participant, now: datetime) -> None:
    """Delete a participant with all they gave: questions, answers, judgments, events, links.

    A count stays, and in the log their number.
    """
    study, about = participant.study, subject(participant)
    user_studies.lock(session, study).withdrawn += 1
    room = participant.rater.study_id if participant.rater else None
    session.flush()
    _delete_links(session, participant)
    session.execute(delete(OwnQuestion).where(OwnQuestion.participant_id == participant.id))
    session.execute(delete(Participant).where(Participant.id == participant.id))
    if room is not None:
        _delete_room(session, room)
    studies.log(session, study, "phase 3 withdrawal", about, None, None, now)
    session.flush()
    session.expire_all()


def subject(participant: Participant) -> str:
    """Return the log's name of a participant: the number, never the pseudonym.

    >>> subject(Participant(number=3))
    'participant 3'
    """
    return f"participant {participant.number}"


def _has_room(session: Session, phase: UserStudy, name: str, now: datetime) -> bool:
    """Whether one more counts under `name` within the hour, which is then counted."""
    return _is_counted(session, phase.study, name, now, phase.most_newcomers)


def _is_first(session: Session, study: Study, name: str, now: datetime) -> bool:
    return _is_counted(session, study, name, now, 1)


def _is_counted(session: Session, study: Study, name: str, now: datetime, most: int) -> bool:
    try:
        tries.knock(session, study, name, now, most=most, window=HOUR)
    except TooManyTries:
        return False
    return True


def _add(session: Session, study: Study, pseudonym: str, now: datetime) -> Participant:
    phase = user_studies.lock(session, study)  # numbers and pseudonyms go one at a time
    _need_free(session, study, pseudonym)
    # The number of a person who withdrew is not given again: the log names them by it.
    participant = Participant(
        study=study,
        number=phase.last_number + 1,
        pseudonym=pseudonym,
        created_at=now,
    )
    phase.last_number = participant.number
    session.add(participant)
    session.flush()
    return participant


def _let_in(
    session: Session, participant: Participant, consent: ConsentText, pseudonym: str, now: datetime
) -> None:
    """Give a person who agreed a study of their own, and a question set in it."""
    rename(session, participant, pseudonym)
    study = participant.study
    room = Study(
        name=f"{study.name} / {subject(participant)}",
        blind=False,
        show_pictures=study.show_pictures,
        show_record=study.show_record,
        repeat_percent=0,
        created_at=now,
    )
    participant.rater = Rater(study=room, name=pseudonym, created_at=now)
    session.add(participant.rater)
    session.flush()
    session.add(QuestionSet(study_id=room.id, created_at=now))
    participant.consent, participant.agreed_at = consent, now
    session.flush()


def _is_undecided(link: ParticipantLink) -> bool:
    return link.participant is not None and link.participant.agreed_at is None


def _need_free(session: Session, study: Study, pseudonym: str) -> None:
    if not _is_free(session, study, pseudonym):
        raise PseudonymTaken(pseudonym)


def _is_free(session: Session, study: Study, pseudonym: str) -> bool:
    taken = {name.casefold() for name in _pseudonyms(session, study)}
    return pseudonym.casefold() not in taken


def _pseudonyms(session: Session, study: Study) -> list[str]:
    wanted = select(Participant.pseudonym).where(Participant.study_id == study.id)
    return list(session.scalars(wanted))


def _link(
    session: Session, study: Study, participant: Participant | None, now: datetime, days: int
) -> NewLink:
    token = new_token()
    made = _keep(session, study, participant, token, now, days)
    return NewLink(made.id, token, made.expires_at, participant.pseudonym if participant else None)


def _keep(
    session: Session,
    study: Study,
    participant: Participant | None,
    token: str,
    now: datetime,
    days: int,
) -> ParticipantLink:
    link = ParticipantLink(
        study_id=study.id,
        participant=participant,
        token_hash=_hash(token),
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    session.add(link)
    session.flush()
    return link


def _by_token(session: Session, study: Study, token: str) -> ParticipantLink | None:
    return session.scalar(
        select(ParticipantLink).where(
            ParticipantLink.token_hash == _hash(token), ParticipantLink.study_id == study.id
        )
    )


def _state(link: ParticipantLink, now: datetime) -> str:
    if link.withdrawn_at is not None:
        return WITHDRAWN
    return EXPIRED if link.expires_at <= now else OPEN


def _delete_links(session: Session, participant: Participant) -> None:
    session.execute(delete(ParticipantLink).where(ParticipantLink.participant_id == participant.id))


def _delete_room(session: Session, room: int) -> None:
    """Delete a participant's own study with every row in it."""
    raters = select(Rater.id).where(Rater.study_id == room).scalar_subquery()
    runs = select(Run.id).where(Run.study_id == room).scalar_subquery()
    queries = select(Query.id).where(Query.run_id.in_(runs)).scalar_subquery()
    sets = select(QuestionSet.id).where(QuestionSet.study_id == room).scalar_subquery()
    questions = select(Question.id).where(Question.question_set_id.in_(sets)).scalar_subquery()
    for said in (Event, Judgment, QueryRating, StoredSummary, QuestionnaireAnswer):
        session.execute(delete(said).where(said.rater_id.in_(raters)))
    session.execute(delete(Result).where(Result.query_key.in_(queries)))
    session.execute(delete(Query).where(Query.run_id.in_(runs)))
    session.execute(delete(JudgedThing).where(JudgedThing.question_id.in_(questions)))
    session.execute(delete(Run).where(Run.study_id == room))
    session.execute(delete(Question).where(Question.question_set_id.in_(sets)))
    session.execute(delete(QuestionSet).where(QuestionSet.study_id == room))
    session.execute(delete(Rater).where(Rater.study_id == room))
    session.execute(delete(Study).where(Study.id == room))


def _hash(token: str) -> str:
    return sha256(token.encode(errors="replace")).hexdigest()


def _seal(link: ParticipantLink) -> str:
    return sha256(f"seal/{link.token_hash}".encode()).hexdigest()[:SEAL_LENGTH]
