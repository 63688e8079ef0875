"""The rating of a whole answer: its quality, its notes and what became of an empty list."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import UNSET, Struct, UnsetType
from sqlalchemy.orm import Session

from relevansi import failures
from relevansi.db.rows import core
from relevansi.db.tables.people import Rater
from relevansi.failures import Conflict, Refused
from relevansi.i18n import mark
from relevansi.metrics.judging.queries import BEST_QUALITY
from relevansi.records import Click, EmptyOutcome
from relevansi.services.judging.events import (
    Target,
    current_event,
    events_on,
    made_at,
    record,
    refresh,
)

LONGEST_NOTES = 10_000
"""Characters of the notes on an answer."""


class NotToJudge(Refused):
    message = mark("There is nothing of that kind to judge here")
    remedy = failures.RELOAD
    program_remedy = mark(
        "Send a verdict of the study's scale on an item, an outcome on an empty list."
    )


class NotesTooLong(Conflict):
    message = mark("This note was changed elsewhere, and both texts together are too long")
    remedy = mark("Shorten yours, or reload the page to see the other.")


KEEP = UNSET
"""The mark of a part of a rating that the rater left as it is."""


class AnswerRating(Struct, frozen=True):
    """A rater's rating of a whole answer; ``None`` takes a part back, ``KEEP`` leaves it.

    ``notes_base`` is the text that the edit of the notes began from, where that is known.
    """

    quality: int | UnsetType | None = KEEP
    notes: str | UnsetType = KEEP
    empty_outcome: EmptyOutcome | UnsetType | None = KEEP
    notes_base: str | None = None


class Answer(NamedTuple):
    """The answer that a rating is about: its query and, where it has one, its emptiness."""

    query_key: int | None
    emptiness_id: int | None
    task_id: str | None = None
    in_repeat: bool = False

    def target(self, field: str) -> Target:
        on_item = field == "verdict"
        item_id = self.emptiness_id if on_item else None
        query_key = None if on_item and self.task_id else self.query_key
        return Target.in_task(field, item_id, query_key, self.task_id, in_repeat=self.in_repeat)


def rate_answer(
    session: Session, rater: Rater, answer: Answer, rating: AnswerRating, click: Click
) -> None:
    """Record quality, notes and empty outcome of an answer, as far as they are given.

    Raises ``NotToJudge`` for the outcome of an answer without emptiness, and ``ValueError``.
    """
    values: dict[str, str | None] = {}
    if not isinstance(rating.empty_outcome, UnsetType):
        if answer.emptiness_id is None:
            raise NotToJudge
        values["verdict"] = rating.empty_outcome
    if not isinstance(rating.quality, UnsetType):
        if rating.quality is not None and not 0 <= rating.quality <= BEST_QUALITY:
            raise ValueError(f"response quality {rating.quality} is not within 0 to 5")
        values["quality"] = None if rating.quality is None else str(rating.quality)
    for field, value in values.items():
        record(session, rater, answer.target(field), value, click)
    if not isinstance(rating.notes, UnsetType):
        target, text = answer.target("notes"), rating.notes[:LONGEST_NOTES]
        if rating.notes_base is not None:
            text, click = _merged_notes(session, rater, target, rating.notes_base, text, click)
        record(session, rater, target, text or None, click)
    refresh(session, rater, [answer.target(field) for field in values])


def _merged_notes(
    session: Session, rater: Rater, target: Target, base: str, text: str, click: Click
) -> tuple[str, Click]:
    """Return notes with what was written elsewhere since `base`, and the click that stores both.

    Raises ``NotesTooLong``.
    """
    history = events_on(core(session), rater, target)
    for event in history:
        if event.event_id == click.event_id:  # sent twice: the text that it became the first time
            stored = event.new or ""
            return (stored if text in stored else text), click
    last = current_event(history)
    if last is None:
        return text, click
    both = merge_notes(last.new or "", base, text)
    if len(both) > LONGEST_NOTES:
        raise NotesTooLong
    # The merged text is later than the one it was merged with, whatever the device's clock says.
    if both != text or made_at(click) < made_at(last):
        click = click._replace(client_time=None)
    return both, click


def merge_notes(stored: str, base: str, text: str) -> str:
    r"""Return the note after an edit from `base` to `text`, beside what was `stored` meanwhile.

    >>> merge_notes("far", "far", "far away"), merge_notes("dear", "", "far")
    ('far away', 'dear\nfar')
    >>> merge_notes("dear\nfar", "far", "")
    'dear'
    """
    if stored == base or _contains(text, stored):
        return text
    before, separator, after = _lines(stored).partition(_lines(base))
    if base and separator:
        return "\n".join(filter(None, (before[1:], text, after[:-1])))
    return stored if _contains(stored, text) else f"{stored}\n{text}"


def _contains(note: str, part: str) -> bool:
    """Whether `part` begins `note`, or is some of its lines."""
    return note.startswith(part) or _lines(part) in _lines(note)


def _lines(text: str) -> str:
    return f"\n{text}\n"
