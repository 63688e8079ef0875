"""Answers that a browser stores as a file instead of showing them."""

from __future__ import annotations

from flask import Response


def attached(data: bytes | str, media_type: str, name: str) -> Response:
    """Return `data` as a file to take away."""
    response = Response(data, content_type=media_type)
    response.headers.set("Content-Disposition", "attachment", filename=name)
    return response
