"""The participants of phase 3: who agreed, who declined, and what they are called.

Each one's questions and judgments live in a study of their own (docs/decisions/0011).
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.db.tables.phase_3 import ConsentText, Participant, ParticipantLink
from webapp.db.tables.study import QuestionSet, Study
from webapp.failures import Busy, Conflict, Missing
from webapp.i18n import mark
from webapp.printable import look_alike
from webapp.services.people import tries
from webapp.services.people.invitations import DAYS, hashed
from webapp.services.people.tries import TooManyTries
from webapp.services.phase_3 import links, pseudonyms, user_studies
from webapp.services.phase_3.links import (
    PERSONAL_DAYS,
    NewLink,
    ParticipantBadge,
    UnknownLink,
)
from webapp.services.phase_3.pseudonyms import subject
from webapp.services.study import studies

HOUR = timedelta(hours=1)
_TOKEN = re.compile("[A-Za-z0-9_-]{32}")


class PhaseClosed(Conflict):
    """Phase 3 is not open: it takes no new participants and no questions."""

    message = mark("The study accepts no further questions")
    remedy = mark(
        "The person who sent you the link has closed it. Your answers are kept. Thank you."
    )


class TooManyNewcomers(Busy):
    """As many as may have begun by this link from one address within the hour."""

    message = mark("Many people have just begun from this network")
    remedy = mark(
        "You did nothing wrong, and your link stays valid. Please open it again in an "
        "hour, or through another network, such as mobile data."
    )
    status = 429
    retry_after = 3600


class UnknownParticipant(Missing):
    """The study has no such participant."""

    message = mark("This study has no such participant")
    remedy = mark("They may have withdrawn. The page of the participants lists who is here.")


def invite(
    session: Session, study: Study, pseudonym: str, now: datetime, *, days: int = DAYS
) -> NewLink:
    """Return a link for one new participant, logged; raises ``PseudonymTaken``."""
    participant = _add(session, study, pseudonym, now)
    studies.log(session, study, "phase 3 invite", subject(participant), None, None, now)
    return links.new(session, study, participant, now, days)


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
    most = phase.most_newcomers
    own = link if link.participant_id is not None else links.by_token(session, study, token)
    if (own is None or _is_undecided(own)) and not phase.is_open:
        raise PhaseClosed
    if own is None:
        if not _TOKEN.fullmatch(token):
            raise UnknownLink
        if not _has_room(session, study, f"phase 3/{link.id}/{source}", now, most):
            raise TooManyNewcomers
        if was_offered and not pseudonyms.is_free(session, study, pseudonym):
            pseudonym = pseudonyms.offered(session, study)
        participant = _add(session, study, pseudonym, now)
        own = links.keep(session, study, participant, token, now, PERSONAL_DAYS)
    if own.participant is None:
        raise UnknownLink
    if _is_undecided(own):
        _let_in(session, own.participant, consent, pseudonym, now)
    return links.badge(own)


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
        shown, by_link = f"declined/{hashed(page)}", f"declined/{link.id}/{source}"
        if page and not _has_room(session, study, shown, now, 1):
            return
        if not _has_room(session, study, by_link, now, phase.most_newcomers):
            return
    phase.declined += 1
    if link.participant is not None:
        studies.log(session, study, "phase 3 declined", subject(link.participant), None, None, now)
        links.delete_all(session, link.participant)
        session.delete(link.participant)


def take_back_decline(session: Session, study: Study) -> None:
    """Subtract a person who takes part after all from those who declined."""
    phase = user_studies.lock(session, study)
    phase.declined = max(0, phase.declined - 1)


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
    if not look_alike(pseudonym, participant.pseudonym):
        pseudonyms.need_free(session, participant.study, pseudonym)
    participant.pseudonym = pseudonym
    if participant.rater is not None:
        participant.rater.name = pseudonym


def finish(participant: Participant, now: datetime) -> None:
    """Note that a participant is done; they may still see and change their judgments."""
    participant.finished_at = participant.finished_at or now


def _has_room(session: Session, study: Study, name: str, now: datetime, most: int) -> bool:
    """Whether one more counts under `name` within the hour, which is then counted."""
    try:
        tries.knock(session, study, name, now, most=most, window=HOUR)
    except TooManyTries:
        return False
    return True


def _add(session: Session, study: Study, pseudonym: str, now: datetime) -> Participant:
    phase = user_studies.lock(session, study)  # numbers and pseudonyms go one at a time
    pseudonyms.need_free(session, study, pseudonym)
    # The number of a person who withdrew is not given again: the log names them by it.
    phase.last_number += 1
    participant = Participant(
        study=study, number=phase.last_number, pseudonym=pseudonym, created_at=now
    )
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
        cannot_tell=study.cannot_tell,
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
