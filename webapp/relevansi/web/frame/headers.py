"""The headers of every response: security, caching, policy, person, address."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from flask import Response, g, request
from werkzeug.routing import RequestRedirect

from relevansi.web.frame import htmx
from relevansi.web.frame.access import RATER, STATIC_ENDPOINTS, current_user

YEAR = 365 * 24 * 3600
POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}
DOCUMENT_HEADERS = {
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""Further headers of responses that a browser can open or embed: all but parts of pages."""


def set_headers(response: Response) -> Response:
    """Set the headers of every response: security, caching, policy, person, address."""
    headers, user = response.headers, current_user()
    if isinstance(request.routing_exception, RequestRedirect):
        # Werkzeug adds a slash to the address by the Host header, which anybody can write.
        address = urlsplit(request.routing_exception.new_url)
        headers["Location"] = urlunsplit(
            ("", "", f"/{address.path.lstrip('/')}", address.query, "")
        )
    headers.extend(HEADERS if htmx.wants_part() else {**HEADERS, **DOCUMENT_HEADERS})
    # An address with a version in it never changes what it holds.
    caching = f"public, max-age={YEAR}, immutable" if "v" in request.args else "no-cache"
    headers["Cache-Control"] = caching if request.endpoint in STATIC_ENDPOINTS else "no-store"
    policy = POLICY.replace("data:", "data: https:") if g.get("pictures") else POLICY
    headers.add("Content-Security-Policy", policy)
    if user.key:
        headers.add(RATER, user.key)
    if request.scheme == "https":
        headers["Strict-Transport-Security"] = f"max-age={YEAR}"
    return response
