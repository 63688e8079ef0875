"""The participants of phase 3: their links, who agreed, and what a withdrawal deletes.

Each one's questions and judgments are a study of their own (docs/decisions/0011). A participant
has no account: whoever has the personal link goes on with it.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from sqlalchemy import Select, delete, func, select, update
from sqlalchemy.orm import Session, joinedload

from relevansi.db.tables.judging import Event, JudgedItem, Judgment, QueryRating, StoredSummary
from relevansi.db.tables.people import LogEntry, Rater, SignedOut
from relevansi.db.tables.phase_3 import (
    ConsentText,
    OwnQuestion,
    Participant,
    ParticipantLink,
    QuestionnaireAnswer,
)
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, QuestionSet, Study
from relevansi.exporters.frame.json_files import fields
from relevansi.failures import Busy, Conflict, Missing
from relevansi.i18n import mark
from relevansi.printable import look_alike
from relevansi.services.people import sign_in
from relevansi.services.people.raters import (
    DAYS,
    OPEN,
    TOKEN_BYTES,
    NewLink,
    NoWayIn,
    hashed,
    state_of,
)
from relevansi.services.people.tries import TooManyTries, count_try
from relevansi.services.phase_3 import user_studies
from relevansi.services.study import studies

LONGEST_PSEUDONYM = 40
PSEUDONYMS = (
    *("Melati", "Kenanga", "Cempaka", "Anggrek", "Teratai", "Dahlia", "Seruni", "Kamboja"),
    *("Merpati", "Kenari", "Cendrawasih", "Kutilang", "Merak", "Jalak", "Gelatik", "Camar"),
    *("Jati", "Cemara", "Pinus", "Beringin", "Mahoni", "Bambu", "Kelapa", "Rotan"),
)
"""Flowers, birds and trees: no names of people, and understood in both languages."""
PERSONAL_DAYS = 90
HOUR = timedelta(hours=1)
_TOKEN = re.compile("[A-Za-z0-9_-]{32}")


class PseudonymTaken(Conflict):
    message = mark("Somebody else has this pseudonym")
    remedy = mark("Please choose another.")


class PhaseClosed(Conflict):
    message = mark("The study accepts no further questions")
    remedy = mark(
        "The person who sent you the link has closed it. Your answers are kept. Thank you."
    )


class TooManyNewcomers(Busy):
    message = mark("Many people have just begun from this network")
    remedy = mark(
        "You did nothing wrong, and your link stays valid. Please open it again in an "
        "hour, or through another network, such as mobile data."
    )
    status = 429
    retry_after = 3600


class UnknownParticipant(Missing):
    message = mark("This study has no such participant")
    remedy = mark("They may have withdrawn. The page of the participants lists who is here.")


def free_pseudonym(session: Session, study: Study) -> str:
    """Return a free pseudonym; the choice reveals nothing about the order of participants."""
    participants = everybody(session, study)
    free = [name for name in PSEUDONYMS if not _is_among(participants, name)]
    if free:
        return secrets.choice(free)
    while True:
        numbered = f"{secrets.choice(PSEUDONYMS)} {secrets.randbelow(900) + 100}"
        if not _is_among(participants, numbered):
            return numbered


def _is_among(participants: Sequence[Participant], pseudonym: str) -> bool:
    return any(look_alike(participant.pseudonym, pseudonym) for participant in participants)


def subject(participant: Participant) -> str:
    """Return the log's name of a participant: the number, never the pseudonym."""
    return f"participant {participant.number}"


class ParticipantCookie(Struct, frozen=True):
    """The session cookie of a participant; ``seal`` is made from the link that let them in.

    ``sign_in`` names one sign-in, which signing out ends for every copy of the cookie.
    """

    participant_id: int
    link_id: int
    seal: str
    sign_in: str = ""


def make_link(
    session: Session, study: Study, now: datetime, *, days: int = DAYS, token: str = ""
) -> NewLink:
    """Return a new open link, logged: every person who opens it may take part."""
    studies.log(session, study, "phase 3 link", study.name, None, None, now)
    token = token or new_token()
    link = _add_link(session, study, None, token, now, days)
    return NewLink(token, link.expires_at)


def invite(session: Session, study: Study, pseudonym: str, now: datetime) -> NewLink:
    """Return a link for one new participant, logged; raises ``PseudonymTaken``."""
    participant = _add(session, study, pseudonym, now)
    studies.log(session, study, "phase 3 invite", subject(participant), None, None, now)
    return personal_link(session, participant, now, days=DAYS)


def personal_link(
    session: Session, participant: Participant, now: datetime, *, days: int = PERSONAL_DAYS
) -> NewLink:
    """Return one more link by which a participant goes on, on this or another device."""
    token = new_token()
    link = _add_link(session, participant.study, participant, token, now, days)
    return NewLink(token, link.expires_at, participant.pseudonym)


def new_token() -> str:
    """Return a token for the link of a person about to agree: agreeing twice makes one person."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def _add_link(
    session: Session, study: Study, holder: Participant | None, token: str, now: datetime, days: int
) -> ParticipantLink:
    link = ParticipantLink(study_id=study.id, participant=holder, token_hash=hashed(token))
    link.created_at, link.expires_at = now, now + timedelta(days=days)
    session.add(link)
    session.flush()
    return link


def accept(session: Session, study: Study, token: str, now: datetime) -> ParticipantLink:
    """Return the link of a token, which lets in as often as wanted; raises ``NoWayIn``."""
    link = _by_token(session, study, token)
    if link is None or state_of(link.withdrawn_at, link.expires_at, now) != OPEN:
        raise NoWayIn
    return link


def _by_token(session: Session, study: Study, token: str) -> ParticipantLink | None:
    of_study = select(ParticipantLink).where(ParticipantLink.study_id == study.id)
    return session.scalar(of_study.where(ParticipantLink.token_hash == hashed(token)))


def withdraw_link(session: Session, study: Study, link_id: int, now: datetime) -> None:
    """Take a link back, logged: its holders are out at once; raises ``NoWayIn``."""
    link = session.get(ParticipantLink, link_id)
    if link is None or link.study_id != study.id:
        raise NoWayIn(link_id)
    if link.withdrawn_at is None:
        link.withdrawn_at = now
        about = subject(link.participant) if link.participant else study.name
        studies.log(session, study, "withdraw phase 3 link", about, None, None, now)


def listed_links(
    session: Session, study: Study, now: datetime
) -> list[tuple[ParticipantLink, str]]:
    """Return the open links and those of participants yet to agree, newest first, with state."""
    rows = session.scalars(
        select(ParticipantLink)
        .outerjoin(ParticipantLink.participant)
        .options(joinedload(ParticipantLink.participant))
        .where(ParticipantLink.study_id == study.id, Participant.agreed_at.is_(None))
        .order_by(ParticipantLink.created_at.desc(), ParticipantLink.id.desc())
    )
    return [(link, state_of(link.withdrawn_at, link.expires_at, now)) for link in rows]


def delete_links(session: Session, participant: Participant) -> None:
    """Delete every link of a participant; whoever came in by one is out."""
    session.execute(delete(ParticipantLink).where(ParticipantLink.participant_id == participant.id))


def recognise(
    session: Session, study: Study, cookie: ParticipantCookie, now: datetime
) -> Participant | None:
    """Return the participant of a session cookie; ``None`` once its link or the person is gone."""
    link = session.get(ParticipantLink, cookie.link_id)
    if link is None or link.study_id != study.id or link.participant is None:
        return None
    holds = (
        link.participant_id == cookie.participant_id
        and link.participant.agreed_at is not None
        and state_of(link.withdrawn_at, link.expires_at, now) == OPEN
        and hmac.compare_digest(cookie.seal, sign_in.seal(link.token_hash))
        and session.get(SignedOut, cookie.sign_in) is None
    )
    return link.participant if holds else None


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
) -> ParticipantCookie:
    """Return the cookie of a person who agrees to `consent`, a new participant by an open link.

    The same `token` (see ``new_token``) again is the same participant. A pseudonym that we
    offered, and another person was given meanwhile, is replaced by another one: two people
    who open the link at once need not choose again. `source` is derived from the
    address that asks, and newcomers are counted by it. Raises ``PhaseClosed``,
    ``TooManyNewcomers``, ``PseudonymTaken``, and ``NoWayIn`` for an invalid token.
    """
    study = session.get_one(Study, link.study_id)
    phase = user_studies.lock(session, study)
    personal = link if link.participant_id is not None else _by_token(session, study, token)
    if (personal is None or _is_undecided(personal)) and not phase.is_open:
        raise PhaseClosed
    if personal is None:
        if not _TOKEN.fullmatch(token):
            raise NoWayIn
        name, most = f"phase 3/{link.id}/{source}", phase.most_newcomers
        try:
            count_try(session, study, name, now, most=most, window=HOUR)
        except TooManyTries:
            raise TooManyNewcomers from None
        if was_offered and _is_among(everybody(session, study), pseudonym):
            pseudonym = free_pseudonym(session, study)
        participant = _add(session, study, pseudonym, now)
        personal = _add_link(session, study, participant, token, now, PERSONAL_DAYS)
    if personal.participant is None:
        raise NoWayIn
    if _is_undecided(personal):
        _admit(session, personal.participant, consent, pseudonym, now)
    seal = sign_in.seal(personal.token_hash)
    return ParticipantCookie(personal.participant.id, personal.id, seal)


def find(session: Session, study: Study, participant_id: int) -> Participant:
    """Return a participant of the study; raises ``UnknownParticipant``."""
    participant = session.get(Participant, participant_id)
    if participant is None or participant.study_id != study.id:
        raise UnknownParticipant(participant_id)
    return participant


def everybody(session: Session, study: Study) -> list[Participant]:
    """Return the participants of a study by number, invited ones too."""
    of_study = select(Participant).where(Participant.study_id == study.id)
    return list(session.scalars(of_study.order_by(Participant.number)))


def rename(session: Session, participant: Participant, pseudonym: str) -> None:
    """Give a participant another pseudonym; raises ``PseudonymTaken``."""
    if not look_alike(pseudonym, participant.pseudonym):
        _check_is_free(session, participant.study, pseudonym)
    participant.pseudonym = pseudonym
    if participant.rater is not None:
        participant.rater.name = pseudonym


def finish(participant: Participant, now: datetime) -> None:
    """Note that a participant is done; they may still see and change their judgments."""
    participant.finished_at = participant.finished_at or now


def _check_is_free(session: Session, study: Study, pseudonym: str) -> None:
    if _is_among(everybody(session, study), pseudonym):
        raise PseudonymTaken(pseudonym)


def _add(session: Session, study: Study, pseudonym: str, now: datetime) -> Participant:
    phase = user_studies.lock(session, study)  # numbers and pseudonyms go one at a time
    _check_is_free(session, study, pseudonym)
    # The number of a person who withdrew is not given again: the log names them by it.
    phase.last_number += 1
    participant = Participant(study=study, number=phase.last_number, pseudonym=pseudonym)
    participant.created_at = now
    session.add(participant)
    session.flush()
    return participant


def _admit(
    session: Session, participant: Participant, consent: ConsentText, pseudonym: str, now: datetime
) -> None:
    """Store that a participant agreed, and give them a study of their own with one rater."""
    rename(session, participant, pseudonym)
    study = participant.study
    same = fields(study, "show_pictures", "show_record", "cannot_tell")
    name = f"{study.name} / {subject(participant)}"
    own_study = Study(name=name, blind=False, repeat_percent=0, created_at=now, **same)
    participant.rater = Rater(study=own_study, name=pseudonym, created_at=now)
    session.add(participant.rater)
    session.flush()
    session.add(QuestionSet(study_id=own_study.id, created_at=now))
    participant.consent, participant.agreed_at = consent, now
    session.flush()


def _is_undecided(link: ParticipantLink) -> bool:
    return link.participant is not None and link.participant.agreed_at is None


EXPORTED = "phase 3 export"
WITHDRAWN = "phase 3 withdrawal"


def withdrawal_cost(session: Session, participant: Participant) -> dict[str, int]:
    """Return how much of a participant's a withdrawal would delete, by kind."""
    mine = {
        "questions": OwnQuestion.participant_id == participant.id,
        "judgments": Judgment.rater_id == participant.rater_id,
        "ratings": QueryRating.rater_id == participant.rater_id,
        "answers": QuestionnaireAnswer.rater_id == participant.rater_id,
        "events": Event.rater_id == participant.rater_id,
    }
    count = select(func.count())
    return {name: session.scalar(count.where(rows)) or 0 for name, rows in mine.items()}


def log_export(session: Session, study: Study, name: str, now: datetime) -> None:
    """Log that a file of participants' data was made: a withdrawal tells which may hold some."""
    studies.log(session, study, EXPORTED, name, None, None, now)


def exports_since_consent(session: Session, participant: Participant) -> Sequence[LogEntry]:
    """Return the log of the files made since a participant agreed, which may hold their data."""
    if participant.agreed_at is None:
        return ()
    since = LogEntry.at >= participant.agreed_at
    return session.scalars(_exports_logged(participant.study).where(since)).all()


def exports_before_withdrawal(session: Session, study: Study) -> Sequence[LogEntry]:
    """Return the log of the files made before the last withdrawal: they may hold that data."""
    withdrawals = LogEntry.study_id == study.id, LogEntry.action == WITHDRAWN
    last = select(func.max(LogEntry.at)).where(*withdrawals).scalar_subquery()
    return session.scalars(_exports_logged(study).where(LogEntry.at <= last)).all()


def _exports_logged(study: Study) -> Select[LogEntry]:
    is_export = LogEntry.action == EXPORTED
    return select(LogEntry).where(LogEntry.study_id == study.id, is_export).order_by(LogEntry.id)


def withdraw(session: Session, participant: Participant, now: datetime) -> None:
    """Delete a participant with all their data; a count stays, and their number in the log.

    The owner's coding of their words is deleted from the log too. SQLite overwrites deleted
    data, so that the file holds no trace of it either.
    """
    study, about = participant.study, subject(participant)
    # The log still says that something was coded, but not what: that quotes the person.
    tags = (LogEntry.study_id == study.id) & LogEntry.subject.startswith(f"{about}, ")
    session.execute(update(LogEntry).where(tags).values(old=None, new=None))
    user_studies.lock(session, study).withdrawn += 1
    own_study_id = participant.rater.study_id if participant.rater else None
    session.flush()
    delete_links(session, participant)
    session.execute(delete(OwnQuestion).where(OwnQuestion.participant_id == participant.id))
    session.execute(delete(Participant).where(Participant.id == participant.id))
    if own_study_id is not None:
        _delete_own_study(session, own_study_id)
    studies.log(session, study, WITHDRAWN, about, None, None, now)
    session.flush()
    session.expire_all()


def _delete_own_study(session: Session, study_id: int) -> None:
    """Delete a participant's own study; rows that refer to others go first."""
    raters = select(Rater.id).where(Rater.study_id == study_id).scalar_subquery()
    runs = select(Run.id).where(Run.study_id == study_id).scalar_subquery()
    queries = select(Query.id).where(Query.run_id.in_(runs)).scalar_subquery()
    sets = select(QuestionSet.id).where(QuestionSet.study_id == study_id).scalar_subquery()
    questions = select(Question.id).where(Question.question_set_id.in_(sets)).scalar_subquery()
    # In the order in which rows refer to each other: PostgreSQL checks every statement.
    for table in (Event, Judgment, QueryRating, StoredSummary, QuestionnaireAnswer):
        session.execute(delete(table).where(table.rater_id.in_(raters)))
    session.execute(delete(Result).where(Result.query_key.in_(queries)))
    session.execute(delete(Query).where(Query.run_id.in_(runs)))
    session.execute(delete(JudgedItem).where(JudgedItem.question_id.in_(questions)))
    session.execute(delete(Run).where(Run.study_id == study_id))
    session.execute(delete(Question).where(Question.question_set_id.in_(sets)))
    session.execute(delete(QuestionSet).where(QuestionSet.study_id == study_id))
    session.execute(delete(Rater).where(Rater.study_id == study_id))
    session.execute(delete(Study).where(Study.id == study_id))
