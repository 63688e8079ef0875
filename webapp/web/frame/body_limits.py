"""How much of a request is read, decided by its headers before any of its body is read.

The server asks before it takes a long body in, and the application before it reads a form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from flask import Flask, current_app, request
from werkzeug.exceptions import RequestEntityTooLarge

from webapp.web.frame import badges, origins

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    """Keep every request of `app` to the limits of its sender; its server may ask for them too."""
    app.extensions["largest body"] = lambda environ: limits(app, environ).body
    app.before_request(_limit)


def _limit() -> None:
    """Set the limits of the form that comes with the request, before it is read.

    Werkzeug counts the fields of an upload alone, so those of a typed form are counted here.
    """
    if request.method in origins.SAFE_METHODS:
        return
    found = limits(current_app, request.environ)
    request.max_content_length = request.max_form_memory_size = found.body
    request.max_form_parts = min(found.fields, MOST_PARTS)
    if request.mimetype == TYPED and request.get_data().count(b"&") >= found.fields:
        raise RequestEntityTooLarge


def limits(app: Flask, environ: Mapping[str, str]) -> BodyLimits:
    """Return the limits of a request: the upload limit is for files that the owner sends.

    The owner is known by the signed cookie or, as long as nobody signs in, by coming straight
    from this machine. No database is asked: what is read may still be refused.
    """
    largest = app.config["MAX_CONTENT_LENGTH"]
    if _is_owner(app, environ):
        is_upload = environ.get("CONTENT_TYPE", "").partition(";")[0].strip().lower() == FILES
        body = largest if is_upload else OF_KNOWN.body
        return BodyLimits(min(body, largest), OF_KNOWN.fields)
    found = OF_KNOWN if badges.is_signed_in(app, environ) else OF_STRANGERS
    return found._replace(body=min(found.body, largest))


def _is_owner(app: Flask, environ: Mapping[str, str]) -> bool:
    is_open_house = app.extensions["open house"].is_open
    at_home = is_open_house and origins.is_straight(environ, environ.get("HTTP_HOST", ""))
    return at_home or badges.is_owner(app, environ)
