"""Requests read up to the limits of their sender, and not by way of all that Flask would do."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import flask
from flask import current_app
from werkzeug.datastructures import ImmutableMultiDict
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge

from webapp.web.frame.body_limits import OF_STRANGERS, limits

if TYPE_CHECKING:
    from wsgiref.types import WSGIEnvironment

TYPED = "application/x-www-form-urlencoded"
SHORT = 10_000
"""Bytes of a form that anybody may send, and that is read at once."""
MOST_PARTS = 1_000
"""Fields and files of one upload."""


class Request(flask.Request):
    """A request of Flask's: the same values, and the limits of its sender."""

    # Flask's own limit of a form with files, for which it would ask the configuration each time.
    max_form_memory_size = 500_000

    def _load_form_data(self) -> None:
        """Read the form and the files; raises ``RequestEntityTooLarge`` beyond the limits."""
        length = _typed_length(self.environ)
        if length is None or "form" in self.__dict__ or "stream" in self.__dict__:
            allowed = limits(current_app, self.environ)
            self.max_content_length = allowed.body
            self.max_form_parts = min(allowed.fields, MOST_PARTS)
            super()._load_form_data()
            return
        if length >= SHORT and length > limits(current_app, self.environ).body:
            raise RequestEntityTooLarge
        typed = _typed(self.environ, length)
        fields = typed.count(b"&") + 1
        if fields > OF_STRANGERS.fields and fields > limits(current_app, self.environ).fields:
            raise RequestEntityTooLarge
        form = _fields(typed)
        self.__dict__.update(stream=BytesIO(), form=form, files=ImmutableMultiDict())


def _typed_length(environ: WSGIEnvironment) -> int | None:
    """Return the length of a form without files; ``None`` for others and unknown lengths."""
    kind, length = environ.get("CONTENT_TYPE", ""), environ.get("CONTENT_LENGTH", "")
    is_length = length.isascii() and length.isdecimal() and len(length) < 19
    return int(length) if is_length and kind.partition(";")[0] == TYPED else None


def _typed(environ: WSGIEnvironment, length: int) -> bytes:
    """Return the body; raises ``ClientDisconnected`` where it breaks off."""
    found: bytes = environ["wsgi.input"].read(length)
    if len(found) < length:
        raise ClientDisconnected
    return found


def _fields(typed: bytes) -> ImmutableMultiDict[str, str]:
    """Return the fields of a form; empty for a body that is not text."""
    try:
        said = parse_qsl(typed.decode(), keep_blank_values=True, errors="werkzeug.url_quote")
    except ValueError:
        said = []
    return ImmutableMultiDict(said)
