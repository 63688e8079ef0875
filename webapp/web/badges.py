"""What a browser carries between requests: a signed cookie that says who signed in.

Scripts cannot read it, other sites cannot use it to change anything, and over https it
travels over https only. It is worth nothing once the database no longer agrees.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import asdict
from datetime import timedelta
from functools import lru_cache
from typing import Any

from flask import Flask, Request, Response, request, session
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin
from itsdangerous import BadSignature, URLSafeTimedSerializer

from webapp.services import participants
from webapp.services.sign_in import Badge

LIFETIME = timedelta(days=30)


class _Sessions(SecureCookieSessionInterface):
    """Flask's signed cookie, marked Secure where the browser came by https.

    What signs it is kept, by its secret: Flask makes it anew for every request.
    """

    def __init__(self) -> None:
        self._signing: dict[Any, URLSafeTimedSerializer] = {}

    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        found = self._signing.get(app.secret_key)
        if found is None:
            made = super().get_signing_serializer(app)
            assert made is not None
            found = self._signing[app.secret_key] = made
        return found

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession:
        """Return what the browser carries, if we signed it and not too long ago.

        A signature may be of a later time than now: the clock was put back since. Flask's own
        way takes such a one for outdated, and would sign everybody out.
        """
        value = request.cookies.get(self.get_cookie_name(app))
        signing = self.get_signing_serializer(app)
        if value is None or signing is None:
            return self.session_class()
        try:
            said, signed_at = _opened(signing, value)
        except BadSignature:
            return self.session_class()
        is_fresh = time.time() - signed_at <= app.permanent_session_lifetime.total_seconds()
        return self.session_class(said if is_fresh else None)

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """Let the browser carry what is new; an answer that rests on the old says so."""
        if session.modified:
            super().save_session(app, session, response)
        elif session.accessed:
            response.headers.add("Vary", "Cookie")

    def get_cookie_secure(self, app: Flask) -> bool:  # noqa: ARG002
        return scheme() == "https"


@lru_cache(maxsize=1024)
def _opened(signing: URLSafeTimedSerializer, cookie: str) -> tuple[dict[str, Any], float]:
    """Return what a cookie says and when it was signed (Unix time); ``BadSignature`` if not by us.

    The same cookie comes with every click, and says the same.
    """
    said, signed_at = signing.loads(cookie, return_timestamp=True)
    return said, signed_at.timestamp()


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


def scheme() -> str:
    """Return how the browser came, "https" or "http".

    A proxy's word is enough here: who lies about it only makes their own cookie stricter.
    """
    stated = request.headers.get("X-Forwarded-Proto", "").strip().lower()
    return "https" if stated == "https" else request.scheme


def carried() -> Badge | None:
    """Return the badge that came with the request; ``None`` without a genuine one."""
    try:
        return Badge(**session["badge"])
    except (KeyError, TypeError):  # none, or one of another version
        return None


def give(badge: Badge) -> None:
    """Let the browser carry `badge`, and nothing that it carried before."""
    session.clear()
    session["badge"] = asdict(badge)
    session.permanent = True


def of_participant() -> participants.Badge | None:
    """Return the badge of somebody who takes part in phase 3; ``None`` without one."""
    try:
        return participants.Badge(**session["participant"])
    except (KeyError, TypeError):
        return None


def give_participant(badge: participants.Badge) -> None:
    """Let the browser carry a participant's badge, and nothing that it carried before.

    Else whoever is handed the owner's telephone to take part would be the owner too.
    """
    session.clear()
    session["participant"] = asdict(badge)
    session.permanent = True


def take_back() -> None:
    """Let the browser carry nothing any more."""
    session.clear()
