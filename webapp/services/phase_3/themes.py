"""The owner's coding of phase 3: the category of a question, the themes of a comment.

Both are the owner's free words, and every change of them is in the log, by the participant's
number.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Select, delete, select
from sqlalchemy.orm import Session

from webapp import failures
from webapp.db.tables.phase_3 import CommentTheme, OwnQuestion, Participant
from webapp.db.tables.study import Question
from webapp.failures import Missing, Refused
from webapp.i18n import mark
from webapp.records import COMMENTS
from webapp.services.phase_3 import pseudonyms
from webapp.services.phase_3.findings import NOTE
from webapp.services.study import studies

LONGEST = 60
"""Characters of a category or a theme."""


class UnfitTheme(Refused, ValueError):
    """A category or theme has at most 60 characters, a theme at least one."""

    message = mark("This is not a category or a theme")
    remedy = mark("Nothing was changed. A theme has 1 to 60 letters, a category at most 60.")


class UnknownComment(Missing):
    """The participant asked or wrote no such thing."""

    message = mark("This participant asked or wrote no such thing")
    remedy = failures.RELOAD


def set_category(
    session: Session, participant: Participant, number: int, category: str, now: datetime
) -> None:
    """Set the category of a participant's question; "" for none yet. Logged.

    Raises ``UnknownComment`` and ``UnfitTheme``.
    """
    question = session.scalar(
        select(Question)
        .join(OwnQuestion)
        .where(OwnQuestion.participant_id == participant.id, Question.position == number)
    )
    if question is None:
        raise UnknownComment(number)
    wanted = _tidy(category)
    if question.category != wanted:
        about = f"{pseudonyms.subject(participant)}, question {number}"
        old, question.category = question.category, wanted
        studies.log(session, participant.study, "phase 3 category", about, old, wanted, now)


def add(
    session: Session, participant: Participant, comment: str, theme: str, now: datetime
) -> None:
    """Put a comment under a theme, logged; a theme that it has already changes nothing.

    Raises ``UnknownComment`` and ``UnfitTheme``.
    """
    _need_known(comment)
    wanted = _tidy(theme)
    if not wanted:
        raise UnfitTheme(theme)
    known = session.scalars(_of(participant, comment)).all()
    if wanted.casefold() in {row.theme.casefold() for row in known}:
        return
    session.add(
        CommentTheme(participant_id=participant.id, comment=comment, theme=wanted, created_at=now)
    )
    _log(session, participant, comment, None, wanted, now)
    session.flush()


def remove(
    session: Session, participant: Participant, comment: str, theme: str, now: datetime
) -> None:
    """Take a comment from under a theme, logged; nothing where it is not under it."""
    _need_known(comment)
    under = _of(participant, comment).where(CommentTheme.theme == theme)
    found = session.scalar(under)
    if found is not None:
        session.execute(delete(CommentTheme).where(CommentTheme.id == found.id))
        _log(session, participant, comment, theme, None, now)


def _of(participant: Participant, comment: str) -> Select[CommentTheme]:
    return select(CommentTheme).where(
        CommentTheme.participant_id == participant.id, CommentTheme.comment == comment
    )


def _log(
    session: Session,
    participant: Participant,
    comment: str,
    old: str | None,
    new: str | None,
    now: datetime,
) -> None:
    about = f"{pseudonyms.subject(participant)}, {comment}"
    studies.log(session, participant.study, "phase 3 theme", about, old, new, now)


def _need_known(comment: str) -> None:
    kind, _, number = comment.partition(" ")
    if comment not in COMMENTS and not (kind == NOTE and number.isdecimal() and len(number) < 10):
        raise UnknownComment(comment)


def _tidy(text: str) -> str:
    """Return `text` on one line without needless blanks.

    >>> _tidy("  slow   answer ")
    'slow answer'
    """
    found = " ".join(text.replace("\x00", "").split())
    if len(found) > LONGEST:
        raise UnfitTheme(text)
    return found
