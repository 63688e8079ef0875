"""Answers made small for the way: gzip, where the browser takes it and it pays.

No page holds a secret beside what a reader typed, so compressing gives nothing away.
"""

from __future__ import annotations

import gzip

from flask import Response, request

LEAST = 1_000
LEVEL = 5
KINDS = {"text/html", "text/css", "text/javascript", "application/json", "text/csv"}


def compress(response: Response) -> Response:
    """Return `response` with its text compressed, if it has enough of it."""
    if not _pays(response):
        return response
    response.vary.add("Accept-Encoding")
    if request.accept_encodings["gzip"] > 0:
        response.direct_passthrough = False  # files come as they lie on the disk
        data = response.get_data()
        if len(data) >= LEAST:
            response.set_data(gzip.compress(data, LEVEL, mtime=0))
            response.headers["Content-Encoding"] = "gzip"
    return response


def _pays(response: Response) -> bool:
    if response.is_sequence and len(response.get_data()) < LEAST:
        return False
    whole = response.status_code not in {204, 206, 304}
    plain = "Content-Encoding" not in response.headers
    return whole and plain and response.mimetype in KINDS
