"""What a browser carries between requests: a signed cookie that says who signed in.

Scripts cannot read it, other sites cannot use it to change anything, and over https it
travels over https only. It is worth nothing once the database no longer agrees.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from flask import Flask, request, session
from flask.sessions import SecureCookieSessionInterface
from itsdangerous import SignatureExpired, TimestampSigner, URLSafeTimedSerializer

from webapp.services import participants
from webapp.services.sign_in import Badge

LIFETIME = timedelta(days=30)


class _Signer(TimestampSigner):
    """A signature that may be of a later time than now: the clock was put back since.

    Its own way takes such a one for outdated, and would sign everybody out.
    """

    def unsign(  # type: ignore[override]
        self, signed_value: str | bytes, max_age: int | None = None, return_timestamp: bool = False
    ) -> bytes | tuple[bytes, datetime]:
        value, made = super().unsign(signed_value, return_timestamp=True)
        age = self.get_timestamp() - int(made.timestamp())
        if max_age is not None and age > max_age:
            raise SignatureExpired(f"older than {max_age} s", payload=value, date_signed=made)
        return (value, made) if return_timestamp else value


class _Sessions(SecureCookieSessionInterface):
    """Flask's signed cookie, marked Secure where the browser came by https.

    What signs it is kept, by its secret: Flask makes it anew for every request.
    """

    def __init__(self) -> None:
        self._signing: dict[Any, URLSafeTimedSerializer] = {}

    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        found = self._signing.get(app.secret_key)
        if found is None:
            made: Any = super().get_signing_serializer(app)
            made.signer = _Signer
            found = self._signing[app.secret_key] = made
        return found

    def get_cookie_secure(self, app: Flask) -> bool:  # noqa: ARG002
        return scheme() == "https"


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
