"""The form of a click: the event it makes, and the verdict it gives."""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple

from flask import Response, request
from wtforms import BooleanField, Form

from relevansi.i18n import gettext
from relevansi.records import LARGEST_INTEGER, Click, EmptyOutcome, Scale
from relevansi.services.judging.answer_ratings import KEEP, LONGEST_NOTES, AnswerRating
from relevansi.services.rating.pool import QueryFilter
from relevansi.web.frame import htmx
from relevansi.web.frame.access import now
from relevansi.web.frame.forms import (
    LONGEST_ANSWER,
    LONGEST_ID,
    UNUSABLE,
    ChoiceField,
    LineField,
    MomentField,
    TextField,
    WholeField,
    validated_form,
)
from relevansi.web.frame.htmx import see_other


class ClickForm(Form):
    """The fields that identify an event; a page without a script leaves them out."""

    event_id = LineField(LONGEST_ID)
    client_time = MomentField()
    device = LineField(LONGEST_ID)
    sequence = WholeField(0, LARGEST_INTEGER, wrong=UNUSABLE)

    @property
    def click(self) -> Click:
        return Click(
            event_id=self.event_id.data or secrets.token_hex(16),
            received_at=now(),
            client_time=self.client_time.data,
            device=self.device.data or None,
            sequence=self.sequence.data,
        )


class VerdictForm(ClickForm):
    relevance = ChoiceField({"": None, **{v: v for v in Scale(top=4).verdicts}})
    card = LineField(LONGEST_ID)
    onward = BooleanField()


class ReasonForm(ClickForm):
    reason = LineField(LONGEST_ANSWER)
    card = LineField(LONGEST_ID)


class ClickedCard(NamedTuple):
    """The verdict in force on a card, by the card's number on the page."""

    number: int
    relevance: str | None


def event() -> Click:
    return validated_form(ClickForm).click


def reason_in_force(question: str, number: int, reason: str | None) -> Response:
    """Answer a click on a reason with the one in force on its card, all that it moves."""
    values: dict[str, Any] = {"question": question, "number": number, "reason": reason}
    return htmx.part("rating/judgments/_reason.html", **values)


def nothing_to_undo(elsewhere: str) -> Response:
    """Say that nothing is left to undo; a page without a script goes `elsewhere`."""
    if not htmx.wants_part():
        return see_other(elsewhere)
    text = gettext("There is nothing left to undo.")
    return htmx.part("rating/judgments/_notice.html", text=text)


class RatingForm(Form):
    quality = ChoiceField({"": None, **{str(grade): grade for grade in range(6)}})
    notes = TextField(LONGEST_NOTES)
    notes_base = TextField(LONGEST_NOTES)
    empty_outcome = ChoiceField({"": None, **{str(outcome): outcome for outcome in EmptyOutcome}})
    onward = BooleanField()

    @property
    def rating(self) -> AnswerRating:
        fields = (self.quality, self.notes, self.empty_outcome)
        return AnswerRating(
            **{field.name: field.data if field.raw_data else KEEP for field in fields},
            notes_base=self.notes_base.data if self.notes_base.raw_data else None,
        )

    def both_notes(self, stored: str) -> str | None:
        """Return the notes in force where they are more than what was sent, else ``None``."""
        return stored if self.notes.raw_data and stored != self.notes.data else None


class BlindRatingForm(RatingForm):
    answer = LineField(LONGEST_ID)


class CardsForm(Form):
    text = TextField(LONGEST_ANSWER)


def filter_of() -> QueryFilter:
    """Return which questions the reader walks through, from the address."""
    return QueryFilter("open" in request.args, request.args.get("category") or None)


def query() -> dict[str, Any]:
    """Return the arguments that keep the filter in an address; none without a filter."""
    chosen = filter_of()
    open_only = {"open": 1} if chosen.only_open else {}
    return open_only | ({"category": chosen.category} if chosen.category else {})
