"""The session cookie: signed, it names the person who signed in in this browser.

Scripts cannot read it, other sites cannot use it to change anything, and over https it
travels over https only. It is worth nothing once the database no longer agrees.

A browser in which the owner signed in carries another cookie for the sign-in page: it opens
nothing, but the wrong passwords of others do not count against it.

Where a proxy names the person, a cookie holds only for the person it was given to.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from flask import Flask, Request, Response, current_app, g, request, session, url_for
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin
from itsdangerous import BadSignature, URLSafeSerializer, URLSafeTimedSerializer
from msgspec.structs import asdict

from relevansi.services.people.sign_in import SessionCookie, seal
from relevansi.web.frame.htmx import see_other

RATER, GUEST = "rater", "participant"  # their names in the cookies that browsers keep
PERSON_ADDRESS = "relevansi.address"
"""The name in the environ of the address by which a trusted proxy names who sends the request."""
LIFETIME = timedelta(days=30)
BROWSER_LIFETIME = timedelta(days=400)  # the owner's: as long as browsers keep a cookie


class _Sessions(SecureCookieSessionInterface):
    """Flask's signed cookie, marked Secure where the browser came by https."""

    def __init__(self) -> None:
        self._signing: dict[Any, URLSafeTimedSerializer | None] = {}

    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        if app.secret_key not in self._signing:  # Flask makes it anew for every request
            self._signing[app.secret_key] = super().get_signing_serializer(app)
        return self._signing[app.secret_key]

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession:
        """Return the browser's cookie, if we signed it and not too long ago.

        Flask itself takes a signature for outdated that is of a later time than now, as after the
        clock was put back.
        """
        value = request.cookies.get(self.get_cookie_name(app))
        signing = self.get_signing_serializer(app)
        if value is None or signing is None:
            return self.session_class()
        try:
            content, signed_at = _opened(signing, value)
        except BadSignature:
            return self.session_class()
        is_fresh = time.time() - signed_at <= app.permanent_session_lifetime.total_seconds()
        return self.session_class(content if is_fresh else None)

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """Set the cookie if it changed; a response that depends on it says so in ``Vary``."""
        if not session.modified:
            if session.accessed:
                response.headers.add("Vary", "Cookie")
            return
        super().save_session(app, session, response)
        if g.get("remembers_browser"):
            response.set_cookie(
                browser_cookie_name(app),
                _browser_signer(app).dumps(_new_id()),
                expires=datetime.now(UTC) + BROWSER_LIFETIME,
                path=url_for("sign_in.show"),
                secure=self.get_cookie_secure(app),
                httponly=True,
                samesite="Lax",
            )

    def get_cookie_path(self, app: Flask) -> str:  # noqa: ARG002
        return f"{request.script_root}/"

    def get_cookie_secure(self, app: Flask) -> bool:  # noqa: ARG002
        return request.scheme == "https"


@lru_cache(maxsize=1024)  # the same cookie comes with every click
def _opened(signing: URLSafeTimedSerializer, cookie: str) -> tuple[dict[str, Any], float]:
    """Return a cookie's content and the Unix time of its signature; raises ``BadSignature``."""
    content, signed_at = signing.loads(cookie, return_timestamp=True)
    return content, signed_at.timestamp()


def set_up(app: Flask, database_url: str) -> None:
    """Give `app` its cookie, named after its database: ports of one host share cookies."""
    app.config.update(
        SESSION_COOKIE_NAME=f"relevansi-{hashlib.sha256(database_url.encode()).hexdigest()[:8]}",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_REFRESH_EACH_REQUEST=False,
        PERMANENT_SESSION_LIFETIME=LIFETIME,
    )
    app.session_interface = _Sessions()


def read_rater() -> SessionCookie | None:
    """Return the sign-in of a rater that the browser carries; ``None`` without a genuine cookie."""
    try:
        return SessionCookie(**session[RATER], sign_in=sign_in_id())
    except KeyError:
        return None


def set_rater(cookie: SessionCookie) -> None:
    """Let the browser carry a rater's sign-in, and nothing that it carried before."""
    _set(RATER, asdict(cookie))


def read_guest() -> dict[str, Any] | None:
    """Return what ``set_guest`` was given, with the id of this sign-in; ``None`` without it."""
    cookie = session.get(GUEST)
    if not isinstance(cookie, dict) or session.get("of", "") != _seal_of_person():
        return None
    return {**cookie, "sign_in": sign_in_id()}


def set_guest(cookie: Mapping[str, Any]) -> None:
    """Let the browser carry a guest's sign-in, and nothing that it carried before."""
    _set(GUEST, dict(cookie))  # on the owner's telephone a guest would be the owner else


def sign_in_id() -> str:
    """Return the id of the sign-in that came with the request, empty without one."""
    identity = session.get("sign_in")
    return identity if isinstance(identity, str) else ""


def remember_browser() -> None:
    """Have the response set the cookie by which this browser is recognised as the owner's."""
    g.remembers_browser = True


def remembered_browser() -> str | None:
    """Return the id of the browser if the owner signed in there before, else ``None``."""
    try:
        signed_id = request.cookies[browser_cookie_name(current_app)]
        return str(_browser_signer(current_app).loads(signed_id))
    except (KeyError, BadSignature):
        return None


def browser_cookie_name(app: Flask) -> str:
    """Return the name of the cookie by which the owner's browser is recognised."""
    return f"{app.config['SESSION_COOKIE_NAME']}-known"


def clear() -> None:
    """Let the browser carry nobody's sign-in."""
    session.clear()


def redirect_signed_in(address: str) -> Response:
    """Return the redirect to `address` after a sign-in, past a check that the cookie was kept."""
    is_kept = current_app.config["SESSION_COOKIE_NAME"] in request.cookies
    to = address if is_kept else url_for("sign_in.check_cookie", next=address)
    return see_other(to)


def _set(name: str, cookie: dict[str, Any]) -> None:
    session.clear()
    del cookie["sign_in"]
    session[name], session["sign_in"] = cookie, _new_id()
    if seal_of_person := _seal_of_person():
        session["of"] = seal_of_person
    session.permanent = True


def _seal_of_person() -> str:
    """Return the seal of the address by which a proxy names the person, empty without one."""
    address = request.environ.get(PERSON_ADDRESS)
    return seal(address) if address else ""


def _new_id() -> str:
    return secrets.token_urlsafe(12)


def _browser_signer(app: Flask) -> URLSafeSerializer:
    assert app.secret_key is not None
    return URLSafeSerializer(app.secret_key, salt="known-browser")
