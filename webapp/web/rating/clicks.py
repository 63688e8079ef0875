"""The form of a click: the event it makes, and the verdict it gives."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from wtforms import BooleanField, Field, Form, StringField
from wtforms.validators import AnyOf

from webapp.records import VERDICTS, Click, Relevance
from webapp.web.frame.access import now
from webapp.web.frame.forms import LONGEST_ID, UNUSABLE, at_most, checked, line

LAST_SEQUENCE = 2**31 - 1


class MomentField(Field):
    """A time with its zone, or as milliseconds since 1970; ``data`` is in UTC, or ``None``."""

    def process_formdata(self, valuelist: Sequence[str]) -> None:
        """Read the typed time; raises ``ValueError`` for what is no moment."""
        try:
            self.data = _moment(line(valuelist[0])) if valuelist else None
        except (ValueError, OverflowError, OSError):
            raise ValueError(UNUSABLE) from None


class SequenceField(Field):
    """The number of a click on its device, from 0; ``data`` is ``None`` where nobody counts."""

    def process_formdata(self, valuelist: Sequence[str]) -> None:
        """Read the typed number; raises ``ValueError`` for what is no such number."""
        typed = line(valuelist[0]) if valuelist else ""
        if typed and not (typed.isdecimal() and len(typed) <= 10 and int(typed) <= LAST_SEQUENCE):
            raise ValueError(UNUSABLE)
        self.data = int(typed) if typed else None


class ClickForm(Form):
    """The fields that identify an event; a page without a script leaves them out."""

    event_id = StringField(filters=[line], validators=[at_most(LONGEST_ID)])
    client_time = MomentField()
    device = StringField(filters=[line], validators=[at_most(LONGEST_ID)])
    sequence = SequenceField()

    @property
    def click(self) -> Click:
        """Return when and where the event was made; the server names it if nobody did."""
        return Click(
            event_id=self.event_id.data or secrets.token_hex(16),
            received_at=now(),
            client_time=self.client_time.data,
            device=self.device.data or None,
            sequence=self.sequence.data,
        )


class VerdictForm(ClickForm):
    """A verdict on one card, empty to take it back."""

    relevance = StringField(filters=[line], validators=[AnyOf([*VERDICTS], message=UNUSABLE)])
    card = StringField(filters=[line], validators=[at_most(LONGEST_ID)])
    onward = BooleanField()


class ClickedVerdict(NamedTuple):
    """A verdict on one card, ``None`` to take it back, and its event.

    ``card`` is the name of the card on a blind rater's page, empty on every other page.
    ``onward`` is true for the last open card.
    """

    relevance: Relevance | None
    card: str
    onward: bool
    click: Click


def event() -> Click:
    """Return when and where the event was made; raises ``UnusableForm``."""
    return checked(ClickForm).click


def verdict() -> ClickedVerdict:
    """Return the verdict that the form gives; raises ``UnusableForm``."""
    form = checked(VerdictForm)
    relevance = VERDICTS[form.relevance.data or ""]
    return ClickedVerdict(relevance, form.card.data or "", form.onward.data, form.click)


def _moment(typed: str) -> datetime | None:
    if not typed:
        return None
    if typed.isdecimal():
        return datetime.fromtimestamp(int(typed) / 1000, UTC)
    found = datetime.fromisoformat(typed)
    if found.tzinfo is None:
        raise ValueError("a time needs its zone")
    return found.astimezone(UTC)
