"""Who may ask, and who is asking.

No password exists, so only requests from this very machine are answered, and of those that
change anything only the ones our own pages made (``Sec-Fetch-Site``, else ``Origin``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from flask import Flask, Response, current_app, g, request

from webapp.services import studies

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from webapp.db.engine import Database
    from webapp.db.models import Rater

SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
FORWARDING = (
    *("Forwarded", "Via", "X-Real-IP", "X-Forwarded-For"),
    *("X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Server"),
)
YEAR = 365 * 24 * 3600
POLICY = {
    "default-src": "'self'",
    "img-src": "'self' data:",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class FromElsewhere(Exception):
    """Another site's page made this request."""


class NotFromHere(Exception):
    """The request did not come straight from this machine, and there is no password yet."""


def guard(app: Flask) -> None:
    """Check every request of `app` and set the headers of every answer."""
    app.before_request(_check)
    app.after_request(set_headers)


def database() -> Database:
    """Return the database in use."""
    found: Database = current_app.extensions["database"]
    return found


@contextmanager
def reading() -> Iterator[tuple[Session, Rater]]:
    """Yield a session for reading and the rater who asks."""
    with database().reading() as session:
        yield session, rater(session)


@contextmanager
def writing() -> Iterator[tuple[Session, Rater]]:
    """Yield a session whose user commits, and the rater who asks."""
    with database().writing() as session:
        yield session, rater(session)


def rater(session: Session) -> Rater:
    """Return who asks: the study's local rater."""
    study = studies.open_or_make(session, now())
    return studies.raters(session, study)[0]


def now() -> datetime:
    """Return the server's time."""
    return datetime.now(UTC)


def set_headers(response: Response) -> Response:
    """Give an answer its security and caching headers."""
    policy = POLICY | ({"img-src": "'self' data: https:"} if g.get("pictures") else {})
    response.headers["Content-Security-Policy"] = "; ".join(
        f"{name} {value}" for name, value in policy.items()
    )
    response.headers.update(HEADERS)
    response.headers["Cache-Control"] = _caching()
    return response


def is_loopback(host: str | None) -> bool:
    """Whether `host` (a name or an address, with or without port) is this machine.

    >>> is_loopback("localhost:8000"), is_loopback("[::1]:80"), is_loopback("example.org")
    (True, True, False)
    """
    try:
        name = urlsplit(f"//{host or ''}").hostname or ""
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def _check() -> None:
    if request.endpoint == "health.healthz":
        return
    if not _is_from_here():
        raise NotFromHere
    if request.method not in SAFE_METHODS and not _is_from_our_pages():
        raise FromElsewhere


def _is_from_here() -> bool:
    address = request.remote_addr
    straight = address is None or is_loopback(f"[{address}]" if ":" in address else address)
    forwarded = any(name in request.headers for name in FORWARDING)
    return straight and is_loopback(request.host) and not forwarded


def _is_from_our_pages() -> bool:
    """Whether one of our pages, or no browser at all, made the request."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in {"same-origin", "none"}
    origin = request.headers.get("Origin")
    return origin is None or origin == request.host_url.rstrip("/")


def _caching() -> str:
    if request.endpoint != "static":
        return "no-store"
    # An address with a version in it never changes what it holds.
    return f"public, max-age={YEAR}, immutable" if "v" in request.args else "no-cache"
