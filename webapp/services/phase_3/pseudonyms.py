"""The names of participants: a pseudonym on pages, a number in the log."""

from __future__ import annotations

import secrets

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.phase_3 import Participant
from webapp.db.tables.study import Study
from webapp.failures import Conflict
from webapp.i18n import mark
from webapp.printable import look_alike

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
