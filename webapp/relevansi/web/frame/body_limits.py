"""How large the body of a request may be, by who sends it."""

from __future__ import annotations

from flask import current_app, request
from werkzeug.exceptions import RequestEntityTooLarge

from relevansi.web.frame.access import current_user
from relevansi.web.frame.origins import SAFE_METHODS

MAX_PARTS = 1_000  # fields and files of one upload
ANONYMOUS_LIMITS = (64 * 2**10, 100)
"""The bytes and fields of a body: a password, a consent or a language takes a hundredth of it."""
SIGNED_IN_LIMITS = (512 * 2**10, 10_000)
"""The longest text is an answer of 200,000 characters, the most fields are those of an import."""


def limit_body() -> None:
    """Set the limits of the form that comes with the request, before it is read.

    Only files that the owner sends may be as large as the upload limit. Werkzeug counts the fields
    of an upload alone, so those of a typed form are counted here.
    """
    if request.method in SAFE_METHODS:
        return
    user, largest = current_user(), current_app.config["MAX_CONTENT_LENGTH"]
    is_signed_in = user.rater_id or user.guest_id
    body, fields = SIGNED_IN_LIMITS if is_signed_in else ANONYMOUS_LIMITS
    if not (user.is_owner and request.mimetype == "multipart/form-data"):
        largest = min(body, largest)
    request.max_content_length = request.max_form_memory_size = largest
    request.max_form_parts = min(fields, MAX_PARTS)
    is_typed = request.mimetype == "application/x-www-form-urlencoded"
    if is_typed and request.get_data().count(b"&") >= fields:
        raise RequestEntityTooLarge
