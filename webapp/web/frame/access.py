"""Access: finds out who makes a request, and whether they may.

Until a password is set or an invitation made, everybody at this machine is the owner or the
rater whom the owner chose, and other machines are refused. From then on everybody signs in
(see docs/decisions/0008); in the demo only a password ends that state. A request that changes
anything is accepted only from our own pages (``Sec-Fetch-Site``, else ``Origin``). A link that
stores something is followed only from our pages, or when the user typed the address or opened
a bookmark.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from flask import Flask, Response, current_app, g, request
from sqlalchemy.orm import make_transient_to_detached
from werkzeug.exceptions import NotFound, RequestEntityTooLarge

from webapp.db import engine
from webapp.db.tables.people import Rater
from webapp.db.tables.phase_3 import Participant
from webapp.failures import Conflict, Refused
from webapp.i18n import mark
from webapp.services.people import sign_in
from webapp.services.phase_3 import links
from webapp.services.phase_3.links import ParticipantBadge
from webapp.services.study import studies
from webapp.web.feature import Role, role_for
from webapp.web.frame import badges, htmx, origins
from webapp.web.frame.origins import SAFE_METHODS, is_from_here, is_from_our_pages

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    from sqlalchemy.orm import Session

    from webapp.db.engine import Database
    from webapp.db.tables.study import Study


RATER = "Relevansi-Rater"
"""The header in which page and server name the person that a page or click belongs to."""
FILES = {"static", "joined.show"}
"""The endpoints of files, which are the same for everybody."""
FACELESS = {*FILES, "health.healthz"}
"""The endpoints that answer without reading the visitor from the database."""
YEAR = 365 * 24 * 3600
POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
WITH_PICTURES = POLICY.replace("data:", "data: https:")
HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}
"""The headers of every response, beside its policy."""
OF_PAGES = {
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""Further headers of responses that a browser can open or embed: all but parts of pages."""


class FromElsewhere(Refused):
    """Another site's page made this request."""

    message = mark("This request came from another site")
    remedy = mark("Nothing was changed. Open the page here and try again.")
    status = 403


class OpenedElsewhere(Exception):
    """A page that would store something was opened by another site's link, or only to look."""


class NotFromHere(Refused):
    """The request did not come straight from this machine, and nobody can sign in yet."""

    message = mark("Only this computer may open these pages")
    remedy = mark(
        "There is no password yet, so only the computer that runs Relevansi is answered. "
        "Open it there at its localhost address, without a proxy in between."
    )
    status = 403


class NotSignedIn(Refused):
    """The visitor has not signed in, or their sign-in has ended."""

    message = mark("You are not signed in")
    remedy = mark("Nothing was changed. Sign in or open your invite link again, then repeat it.")
    status = 401


class NotYours(Refused):
    """The address is the owner's, and a rater is asking."""

    message = mark("This page is the owner's")
    remedy = mark("What is yours to rate is on the first page.")
    status = 403


class NotForGuests(NotYours):
    """The address is the owner's or a rater's, and a guest is asking."""

    remedy = mark("Your questions and their answers are on your own page.")


class NotTakingPart(Refused):
    """The address is a guest's, and somebody else is asking."""

    message = mark("This page belongs to somebody who takes part")
    remedy = mark("Open your personal link again: everything you gave is still there.")
    status = 401


class AnotherRater(Conflict):
    """The click was made by another rater than the one at work in this browser now."""

    message = mark("Another person is using this browser now")
    remedy = mark("Nothing was stored in their name: it waits here for the rater who made it.")
    status = 412


class Visitor(NamedTuple):
    """The person who makes a request. A stranger and a participant have no ``rater_id``.

    ``is_local``: nobody signs in here, so the person at this machine may be any rater.
    ``is_shut_out``: the request is from another machine, and those are refused until somebody
    can sign in. ``key`` is the name under which the browser keeps a person's things: empty for a
    stranger, ``None`` where the visitor was not looked up.
    """

    rater_id: int | None = None
    study_id: int | None = None
    is_owner: bool = False
    is_local: bool = False
    is_shut_out: bool = False
    guest_id: int | None = None
    key: str | None = None


STRANGER = Visitor()


HOME_OF_GUESTS = "own_questions.index"
"""The first page of a participant, by endpoint."""


def guard(app: Flask) -> None:
    """Check every request of `app` and set the headers of every answer."""
    app.before_request(_check)
    app.after_request(_set_headers)
    answer = _with_deadline(origins.refuse_others(app.wsgi_app))
    app.wsgi_app = answer  # type: ignore[assignment,method-assign]


def database() -> Database:
    """Return the database in use."""
    found: Database = current_app.extensions["database"]
    return found


def visitor() -> Visitor:
    """Return who makes this request; a stranger where the visitor was not looked up."""
    found: Visitor = g.get("visitor", STRANGER)
    return found


@contextmanager
def reading() -> Iterator[tuple[Session, Rater]]:
    """Yield a session for reading and the rater who asks."""
    with database().reading() as session:
        yield session, rater(session)


@contextmanager
def writing() -> Iterator[tuple[Session, Rater]]:
    """Yield a session whose user commits, and the rater who asks."""
    need_our_page()
    with database().writing() as session:
        yield session, rater(session)


def rater(session: Session) -> Rater:
    """Return the rater who asks; raises ``NotSignedIn`` for a stranger.

    That there is such a rater was read when the visitor was looked up; the rest of the row is read
    only if it is asked for.
    """
    asking = visitor()
    if asking.rater_id is None:
        raise NotSignedIn
    found = Rater(id=asking.rater_id, study_id=asking.study_id)
    make_transient_to_detached(found)
    session.add(found)
    return found


def study(session: Session) -> Study:
    """Return the study that pages are about, for requests without a known visitor."""
    return studies.open_or_make(session, now())


def now() -> datetime:
    """Return the server's time."""
    return datetime.now(UTC)


def _with_deadline(answer: WSGIApplication) -> WSGIApplication:
    def answered(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        with engine.shared():
            return answer(environ, start)

    return answered


def _set_headers(response: Response) -> Response:
    headers, asking = response.headers, visitor()
    headers.extend(HEADERS if htmx.wants_part() else {**HEADERS, **OF_PAGES})
    headers["Cache-Control"] = _caching()
    headers.add("Content-Security-Policy", WITH_PICTURES if g.get("pictures") else POLICY)
    if asking.key:
        headers.add(RATER, asking.key)
    if badges.scheme() == "https":
        headers["Strict-Transport-Security"] = f"max-age={YEAR}"
    return response


def _check() -> None:
    if request.endpoint in FACELESS:
        return
    with database().reading() as session:
        asking = g.visitor = _visitor(session)
    if request.method not in SAFE_METHODS and not is_from_our_pages():
        raise FromElsewhere
    if asking.key and request.headers.get(RATER, asking.key) != asking.key:
        raise AnotherRater
    wanted = role_for(request.endpoint)
    if wanted != Role.ANYBODY:
        _admit(asking, wanted)
    if "\x00" in request.path:  # no name has a NUL, and PostgreSQL refuses a query with one
        raise NotFound


def _admit(asking: Visitor, wanted: Role) -> None:
    if asking.is_shut_out:
        raise NotFromHere
    if wanted == Role.GUESTS:
        if asking.guest_id is None:
            raise NotTakingPart
        return
    if asking.guest_id is not None:
        raise NotForGuests
    if asking.rater_id is None:
        raise NotSignedIn
    if wanted == Role.OWNER and not asking.is_owner:
        raise NotYours


def _visitor(session: Session) -> Visitor:
    badge, taking_part = badges.carried(), badges.of_guest()
    if taking_part is not None:
        current = studies.current(session)
        assert current is not None
        number = _guest(session, current, taking_part)
        if number is None:
            return Visitor(key="")
        key = _key(current.id, current.created_at, badges.GUEST, number)
        return Visitor(guest_id=number, key=key)
    asker = sign_in.asker(session, badge, now(), stays_open=current_app.config["IS_DEMO"])
    if asker.is_open_house and not is_from_here():
        return Visitor(is_shut_out=True, key="")
    if asker.rater_id is None:
        return Visitor(key="")
    return Visitor(
        asker.rater_id,
        asker.study_id,
        is_owner=asker.is_owner,
        is_local=asker.is_open_house,
        key=_key(asker.study_id, asker.study_made_at, "rater", asker.rater_id),
    )


def _guest(session: Session, study: Study, badge: Mapping[str, Any]) -> int | None:
    """Return the id of the participant whom a badge belongs to; ``None`` for one that ended.

    A badge may be of another version of the product.
    """
    try:
        carried = ParticipantBadge(**badge)
    except TypeError:
        return None
    participant = links.recognise(session, study, carried, now())
    return None if participant is None else participant.id


def name_of_guest() -> str:
    """Return the pseudonym of the participant who asks; empty for everybody else."""
    known = visitor().guest_id
    if known is None:
        return ""
    with database().reading() as session:
        participant = session.get(Participant, known)
        return "" if participant is None else participant.pseudonym


@lru_cache(maxsize=1024)
def _key(study_id: int, study_made_at: datetime, kind: str, number: int) -> str:
    made = study_made_at.astimezone(UTC).isoformat()
    said = f"{study_id}/{made}/{kind}/{number}"
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def need_our_page() -> None:
    """Raise ``OpenedElsewhere`` for a link that stores something unless our page led to it.

    A person who types the address or opens a bookmark counts too; a browser that only looks
    ahead, or asks for the headers alone, does not.
    """
    if request.method not in SAFE_METHODS:  # held against the same rule already
        return
    looks_ahead = "prefetch" in request.headers.get("Sec-Purpose", "")
    if looks_ahead or request.method != "GET" or not is_from_our_pages():
        raise OpenedElsewhere
    # Over plain http browsers send no Sec-Fetch-Site, but do name the page before this one.
    page_before = request.headers.get("Referer")
    host = request.host if page_before is None else urlsplit(page_before[:300]).netloc
    if "Sec-Fetch-Site" not in request.headers and host != request.host:
        raise OpenedElsewhere


def _caching() -> str:
    if request.endpoint not in FILES:
        return "no-store"
    # An address with a version in it never changes what it holds.
    return f"public, max-age={YEAR}, immutable" if "v" in request.args else "no-cache"


UPLOAD = "multipart/form-data"
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


def limit_bodies(app: Flask) -> None:
    """Keep every request of `app` to the limits of its sender."""
    app.before_request(_limit)


def _limit() -> None:
    """Set the limits of the form that comes with the request, before it is read.

    Werkzeug counts the fields of an upload alone, so those of a typed form are counted here.
    """
    if request.method in origins.SAFE_METHODS:
        return
    allowed = _limits()
    request.max_content_length = request.max_form_memory_size = allowed.body
    request.max_form_parts = min(allowed.fields, MOST_PARTS)
    if request.mimetype == TYPED and request.get_data().count(b"&") >= allowed.fields:
        raise RequestEntityTooLarge


def _limits() -> BodyLimits:
    largest, sender = current_app.config["MAX_CONTENT_LENGTH"], visitor()
    if sender.is_owner and request.mimetype == UPLOAD:
        return BodyLimits(largest, OF_KNOWN.fields)
    allowed = OF_KNOWN if sender.rater_id or sender.guest_id else OF_STRANGERS
    return allowed._replace(body=min(allowed.body, largest))
