"""How much of a request's body is read: by who sends it, before any of it is read."""

from __future__ import annotations

from typing import NamedTuple

from flask import Flask, current_app, request
from werkzeug.exceptions import RequestEntityTooLarge

from webapp.web.frame import access, origins

FILES = "multipart/form-data"
TYPED = "application/x-www-form-urlencoded"


MOST_PARTS = 1_000
"""Fields and files of one upload."""


class BodyLimits(NamedTuple):
    """The largest body in bytes, and the most fields of a form in it."""

    body: int
    fields: int


OF_STRANGERS = BodyLimits(64 * 2**10, 100)
"""A password, a consent or a language takes a hundredth of it."""
OF_KNOWN = BodyLimits(512 * 2**10, 10_000)
"""The longest text is an answer of 200,000 characters, the most fields are those of an import."""


def keep(app: Flask) -> None:
    """Keep every request of `app` to the limits of its sender."""
    app.before_request(_limit)


def _limit() -> None:
    """Set the limits of the form that comes with the request, before it is read.

    Werkzeug counts the fields of an upload alone, so those of a typed form are counted here.
    """
    if request.method in origins.SAFE_METHODS:
        return
    allowed = _limits()
    request.max_content_length = request.max_form_memory_size = allowed.body
    request.max_form_parts = min(allowed.fields, MOST_PARTS)
    if request.mimetype == TYPED and request.get_data().count(b"&") >= allowed.fields:
        raise RequestEntityTooLarge


def _limits() -> BodyLimits:
    """Return the limits of this request: the upload limit is for files that the owner sends."""
    largest, sender = current_app.config["MAX_CONTENT_LENGTH"], access.visitor()
    if sender.is_owner and request.mimetype == FILES:
        return BodyLimits(largest, OF_KNOWN.fields)
    allowed = OF_KNOWN if sender.rater_id or sender.guest_id else OF_STRANGERS
    return allowed._replace(body=min(allowed.body, largest))
