"""Access: finds out who makes a request, and whether they may.

Until a password is set or an invitation made, everybody at this machine is the owner or the
rater whom the owner chose, and other machines are refused. From then on everybody signs in
(see docs/decisions/0008); in the demo only a password ends that state. Where the house signs
people in, a trusted proxy names each of them, and nobody is anybody otherwise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from flask import current_app, g, request
from sqlalchemy.orm import Session, make_transient_to_detached
from werkzeug.exceptions import NotFound

from relevansi import labels
from relevansi.db import outages
from relevansi.db.engine import PROGRAM, Database
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.failures import Conflict, Refused
from relevansi.i18n import mark
from relevansi.records import Scale
from relevansi.services.folders import folder
from relevansi.services.folders.folder import Archived
from relevansi.services.people import raters, sign_in, tokens
from relevansi.services.phase_3 import participants
from relevansi.services.phase_3.participants import ParticipantCookie
from relevansi.services.study import studies
from relevansi.web.features import Role, is_kept_open, is_offered, is_served, role_for
from relevansi.web.frame import session_cookie
from relevansi.web.frame.origins import SAFE_METHODS, is_from_here, is_from_our_pages, need_our_page

FAILURE = "relevansi.failure"
"""The name in the environ of why a study of the folder cannot be opened; no header can have it."""
RATER = "Relevansi-Rater"
"""The header in which page and server name the person that a page or click belongs to."""
STATIC_ENDPOINTS = {"static", "joined.show"}  # their files are the same for everybody
API_PREFIX = "/api/"
METRICS_ENDPOINT = "telemetry.metrics"
"""What a program asks for by the owner's token, though its address is none of ``API_PREFIX``."""
IN_PROCESS = "relevansi.in_process"
"""The name in the environ of a request that no network carried; no header can have it."""
EVERYTHING = "everything"
"""The scope of a token that may do whatever its rater may."""
GUEST_HOME = "own_questions.index"
"""The endpoint of a participant's first page."""


class FromElsewhere(Refused):
    message = mark("This request came from another site")
    remedy = mark("Nothing was changed. Open the page here and try again.")
    program_remedy = mark(
        "Nothing was changed. Send it from a program, not from the page of another site."
    )
    status = 403


class NotFromHere(Refused):
    message = mark("Only this computer may open these pages")
    remedy = mark(
        "There is no password yet, so only the computer that runs Relevansi is answered. "
        "Open it there at its localhost address, without a proxy in between."
    )
    status = 403


class NotSignedIn(Refused):
    message = mark("You are not signed in")
    remedy = mark("Nothing was changed. Sign in or open your invite link again, then repeat it.")
    status = 401


class NoToken(Refused):
    """A program sent no token that holds; which of all reasons it is a stranger does not learn."""

    message = mark("No token lets this program in")
    remedy = mark(
        "Send one in the header: Authorization: Bearer TOKEN. It may be mistyped, too old or "
        "withdrawn; make another on the page Tokens or by `relevansi token new`."
    )
    status = 401


class OutOfScope(Refused):
    message = mark("This token is not for that")
    remedy = mark("It takes a token with one of these scopes: %(scopes)s.")
    status = 403


class NotYours(Refused):
    message = mark("This page is the owner's")
    remedy = mark("What is yours to rate is on the first page.")
    program_remedy = mark("POST /api/v1/tasks gives what is yours to rate.")
    status = 403


class NotForGuests(NotYours):
    remedy = mark("Your questions and their answers are on your own page.")


class NotTakingPart(Refused):
    message = mark("This page belongs to somebody who takes part")
    remedy = mark("Open your personal link again: everything you gave is still there.")
    status = 401


class NotOfThisKind(Refused):
    message = mark("This study has no such page")
    remedy = mark("It is for studies of another kind of items.")
    status = 404


class AnotherRater(Conflict):
    message = mark("Another person is using this browser now")
    remedy = mark("Nothing was stored in their name: it waits here for the rater who made it.")
    status = 412


class CurrentUser(NamedTuple):
    """The person who makes a request. A stranger and a participant have no ``rater_id``.

    ``rater_name`` is the name of a rater who uses a browser: the frame of every page shows it.
    ``is_local``: nobody signs in here, so the person at this machine may be any rater.
    ``is_shut_out``: the request is from another machine, and those are refused until somebody
    can sign in. ``key`` is the name under which the browser keeps a person's things: empty for a
    stranger and a program, ``None`` where the user was not looked up. ``scopes`` are what a
    program may do for its rater, by the token of ``token_id``. ``guest_name`` is the pseudonym of a
    participant.
    """

    rater_id: int | None = None
    study_id: int | None = None
    rater_name: str = ""
    is_owner: bool = False
    is_local: bool = False
    is_shut_out: bool = False
    guest_id: int | None = None
    guest_name: str = ""
    key: str | None = None
    scopes: tuple[str, ...] = ()
    token_id: int | None = None


ANONYMOUS = CurrentUser()


def database() -> Database:
    in_use: Database = current_app.extensions["database"]
    return in_use


def current_user() -> CurrentUser:
    """Return who makes this request; a stranger where the user was not looked up."""
    user: CurrentUser = g.get("user", ANONYMOUS)
    return user


@contextmanager
def reading() -> Iterator[tuple[Session, Rater]]:
    """Yield a session for reading and the rater who asks."""
    with database().reading() as session:
        yield session, rater(session)


@contextmanager
def writing() -> Iterator[tuple[Session, Rater]]:
    """Yield a session for writing and the rater who asks; what was done is committed at the end.

    A block that raises stores nothing.
    """
    need_our_page()
    need_open_study()
    with database().writing() as session:
        yield session, rater(session)
        session.commit()


def need_open_study() -> None:
    """Raise ``Archived`` where the study can only be read."""
    studies_of_folder, name = current_app.config["STUDIES"], current_app.config["STUDY"]
    if studies_of_folder is not None and folder.is_archived(studies_of_folder, name):
        raise Archived


def rater(session: Session) -> Rater:
    """Return the rater who asks, whose row is read if it is needed; raises ``NotSignedIn``."""
    user = current_user()
    if user.rater_id is None:
        raise NotSignedIn
    # Who asks was looked up in this request: a click need not read the row once more.
    rater = Rater(id=user.rater_id, study_id=user.study_id)
    make_transient_to_detached(rater)
    session.add(rater)
    session.info[PROGRAM] = user.token_id
    return rater


def study(session: Session) -> Study:
    """Return the study that pages are about, for requests without a known user."""
    return studies.open_or_make(session, now())


def now() -> datetime:
    return datetime.now(UTC)


def check_study() -> None:
    """Raise why the study that was asked for cannot be opened."""
    if failure := request.environ.get(FAILURE):
        raise failure


def check_user() -> None:
    """Look up who makes the request; raise the refusal if they may not."""
    if request.endpoint in {*STATIC_ENDPOINTS, "health.healthz"}:
        return
    if is_for_programs():
        user = g.user = _user_of_program()
    else:
        with database().reading() as session:
            user = g.user = _user_of_browser(session)
    if request.method not in SAFE_METHODS and not is_from_our_pages():
        raise FromElsewhere
    if user.key and request.headers.get(RATER, user.key) != user.key:
        raise AnotherRater
    if not is_offered(request.endpoint):
        raise NotOfThisKind
    role = role_for(request.endpoint)
    if role != Role.ANYBODY:
        _admit(user, role)
    of_folder = current_app.config["FOLDER"] is not None
    # No name has a NUL, and PostgreSQL refuses a query with one.
    if "\x00" in request.path or not is_served(request.endpoint, of_folder=of_folder):
        raise NotFound
    if request.method not in SAFE_METHODS and not is_kept_open(request.endpoint):
        need_open_study()


def _admit(user: CurrentUser, role: Role) -> None:
    """Raise the refusal of a user for whom the role of the address is not."""
    if user.is_shut_out:
        raise NotFromHere
    if role == Role.GUESTS:
        if user.guest_id is None:
            raise NotTakingPart
        return
    if user.guest_id is not None:
        raise NotForGuests
    if user.rater_id is None:
        raise NotSignedIn
    if role == Role.OWNER and not user.is_owner:
        raise NotYours


def address_of_person() -> str:
    """Return the address by which a trusted proxy names who asks; empty without one."""
    return str(request.environ.get(session_cookie.PERSON_ADDRESS, ""))


def has_sign_in(study: Study) -> bool:
    """Whether people sign in: the owner has a password, or the house names them."""
    return study.password is not None or bool(current_app.config["AUTH_HEADER"])


def _user_of_browser(session: Session) -> CurrentUser:
    """Return the user by what the browser or the house's proxy says; a guest goes by a cookie."""
    guest_cookie = session_cookie.read_guest()
    if current_app.config["AUTH_HEADER"]:
        current, owners = study(session), current_app.config["OWNERS"]
        person = sign_in.named_by_house(session, current, address_of_person(), owners, now())
        if person is not None:
            key = _key(current.id, current.created_at, "rater", person.id)
            return CurrentUser(
                person.id, current.id, person.name, is_owner=person.is_owner, key=key
            )
        return _user_of_guest(session, guest_cookie) if guest_cookie else CurrentUser(key="")
    if guest_cookie is not None:
        return _user_of_guest(session, guest_cookie)
    rater_cookie, is_demo = session_cookie.read_rater(), current_app.config["IS_DEMO"]
    signed_in = sign_in.current_user(session, rater_cookie, now(), stays_open=is_demo)
    if signed_in.is_open_house and not is_from_here():
        return CurrentUser(is_shut_out=True, key="")
    if signed_in.rater_id is None:
        return CurrentUser(key="")
    return CurrentUser(
        signed_in.rater_id,
        signed_in.study_id,
        signed_in.rater_name,
        is_owner=signed_in.is_owner,
        is_local=signed_in.is_open_house,
        key=_key(signed_in.study_id, signed_in.study_made_at, "rater", signed_in.rater_id),
    )


def _user_of_guest(session: Session, cookie: dict[str, Any]) -> CurrentUser:
    study = studies.current(session)
    assert study is not None
    participant = participants.recognise(session, study, ParticipantCookie(**cookie), now())
    if participant is None:
        return CurrentUser(key="")
    key = _key(study.id, study.created_at, session_cookie.GUEST, participant.id)
    return CurrentUser(guest_id=participant.id, guest_name=participant.pseudonym, key=key)


def is_for_programs() -> bool:
    """Whether an address is one of those that programs use, whether it is there or not."""
    return request.path.startswith(API_PREFIX) or request.endpoint == METRICS_ENDPOINT


def _user_of_program() -> CurrentUser:
    """Return the rater of the token that a program sends; browsers' cookies count for nothing."""
    if IN_PROCESS in request.environ:  # a notebook's own: it holds the database anyway
        return _owner()
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer":
        if role_for(request.endpoint) == Role.ANYBODY:
            return CurrentUser(key="")
        raise NoToken
    with database().reading() as session:
        user = tokens.recognise(session, token.strip(), now())
    if user is None:
        raise NoToken
    if user.used_at is None or user.used_at <= now() - tokens.SEEN_EVERY:
        # When a token was last used is no part of the answer, which an outage need not delay.
        with suppress(*outages.OUTAGE_ERRORS), database().writing() as session:
            tokens.note_use(session, user.id, now())
            session.commit()
    return CurrentUser(
        user.rater_id,
        user.study_id,
        is_owner=user.is_owner,
        key="",
        scopes=tuple(user.scopes.split()),
        token_id=user.id,
    )


def _owner() -> CurrentUser:
    """Return the owner, with the words of the study in force."""
    with database().reading() as session:
        owner = raters.owner(session, study(session))
        current = owner.study
        labels.use_words_of(current.kind, Scale.stored(current.scale), current.merging)
        return CurrentUser(owner.id, current.id, is_owner=True, key="", scopes=(EVERYTHING,))


def need_scope(*scopes: str) -> None:
    """Raise ``OutOfScope`` unless the program's token has one of these scopes, or all."""
    if not {EVERYTHING, *scopes} & set(current_user().scopes):
        raise OutOfScope(scopes=", ".join((*scopes, EVERYTHING)))


def _key(study_id: int, study_made_at: datetime, kind: str, number: int) -> str:
    """Return a name for one person in one study, the same wherever its database moves.

    Two copies of a study in one folder share a browser's store, so there its name counts too.
    """
    return _key_in(study_id, study_made_at, kind, number, current_app.config["STUDY"])


@lru_cache(maxsize=1024)
def _key_in(study_id: int, study_made_at: datetime, kind: str, number: int, name: str) -> str:
    created_at = study_made_at.astimezone(UTC).isoformat()
    identity = f"{study_id}/{created_at}/{kind}/{number}{name and '/'}{name}"
    return hashlib.sha256(identity.encode()).hexdigest()[:16]
