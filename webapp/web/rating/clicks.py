"""The form of a click: the event it makes, and the verdict it gives."""

from __future__ import annotations

import secrets
from typing import NamedTuple

from flask import Response, redirect
from msgspec import Struct
from wtforms import BooleanField, Form

from webapp.i18n import gettext
from webapp.records import VERDICTS, Click, Relevance
from webapp.web.frame import htmx
from webapp.web.frame.access import now
from webapp.web.frame.fields import (
    LONGEST_ID,
    UNUSABLE,
    ChoiceField,
    LineField,
    MomentField,
    WholeField,
)
from webapp.web.frame.forms import checked

LAST_SEQUENCE = 2**31 - 1


class Notice(Struct, frozen=True):
    """A sentence for the reader."""

    text: str


class ClickForm(Form):
    """The fields that identify an event; a page without a script leaves them out."""

    event_id = LineField(LONGEST_ID)
    client_time = MomentField()
    device = LineField(LONGEST_ID)
    sequence = WholeField(0, LAST_SEQUENCE, wrong=UNUSABLE)

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

    relevance = ChoiceField(VERDICTS)
    card = LineField(LONGEST_ID)
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
    return ClickedVerdict(form.relevance.data, form.card.data, form.onward.data, form.click)


def nothing_to_undo(elsewhere: str) -> Response:
    """Say that nothing is left to undo; a page without a script goes `elsewhere`."""
    if not htmx.wants_part():
        return redirect(elsewhere, 303)  # type: ignore[return-value]
    part = "rating/judgments/_notice.html"
    return htmx.respond(part, part, Notice(gettext("There is nothing left to undo.")))
