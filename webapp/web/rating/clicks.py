"""The form of a click: the event it makes, and the verdict it gives.

It is read without the library of the other forms, because every click waits for it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

from flask import request

from webapp.i18n import gettext
from webapp.records import VERDICTS, Click, Relevance
from webapp.web.frame.access import now
from webapp.web.frame.forms import LONGEST_ID, TOO_LONG, UNUSABLE, UnusableForm, line

T = TypeVar("T")

EVENT = ("event_id", "client_time", "device", "sequence")
"""The fields that identify an event; a page without a script leaves them out."""
LAST_SEQUENCE = 2**31 - 1


class ClickedVerdict(NamedTuple):
    """A verdict on one card, ``None`` to take it back.

    ``card`` is the name of the card on a blind rater's page, empty on every other page.
    ``onward`` is true for the last open card.
    """

    relevance: Relevance | None
    card: str
    onward: bool


def event() -> Click:
    """Return when and where the event was made; the server names it if nobody did.

    Raises ``UnusableForm``.
    """
    form = request.form
    return Click(
        event_id=_read(form, "event_id", _name) or secrets.token_hex(16),
        received_at=now(),
        client_time=_read(form, "client_time", _time),
        device=_read(form, "device", _name) or None,
        sequence=_read(form, "sequence", _sequence),
    )


def verdict() -> ClickedVerdict:
    """Return the verdict that the form gives; raises ``UnusableForm``."""
    form = request.form
    return ClickedVerdict(
        relevance=_read(form, "relevance", VERDICTS.__getitem__),
        card=_read(form, "card", _name),
        onward=_read(form, "onward", bool),
    )


def _read(form: Mapping[str, str], field: str, reader: Callable[[str], T]) -> T:
    """Return a field's value as read by `reader`; a ``ValueError`` is the sender's mistake."""
    try:
        return reader(line(form[field]) if field in form else "")
    except _TooLong:
        raise UnusableForm({field: gettext(TOO_LONG)}) from None
    except (LookupError, ValueError, OverflowError, OSError):
        raise UnusableForm({field: gettext(UNUSABLE)}) from None


class _TooLong(ValueError):
    """A name is longer than any of ours."""


def _name(said: str) -> str:
    if len(said) > LONGEST_ID:
        raise _TooLong
    return said


def _sequence(said: str) -> int | None:
    """Return the number of a click on its device, from 0."""
    number = int(said) if said else None
    if number is not None and not 0 <= number <= LAST_SEQUENCE:
        raise ValueError(number)
    return number


def _time(said: str) -> datetime | None:
    """Return a time that was given with its zone, or as milliseconds since 1970."""
    if not said:
        return None
    if said.isdecimal():
        return datetime.fromtimestamp(int(said) / 1000, UTC)
    found = datetime.fromisoformat(said)
    if found.tzinfo is None:
        raise ValueError("a time needs its zone")
    return found.astimezone(UTC)
