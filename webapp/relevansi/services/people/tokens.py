"""Tokens by which programs sign in: of one rater, with some scopes, shown once, stored hashed."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Literal, NamedTuple, get_args

from msgspec import Struct
from sqlalchemy import Select, bindparam, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from relevansi import labels
from relevansi.db.rows import core
from relevansi.db.tables.people import Rater, Token
from relevansi.db.tables.study import Study
from relevansi.failures import Conflict, Missing
from relevansi.i18n import mark
from relevansi.records import Scale
from relevansi.services.people.raters import hashed, state_of
from relevansi.services.study import studies

Scope = Literal["read", "gate", "import", "judge", "everything"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
MEANINGS: dict[Scope, str] = {
    "read": mark("read what your pages show"),
    "gate": mark("hold a run against another one, of which nothing is stored"),
    "import": mark("the same, and import new runs and the grades of new raters"),
    "judge": mark("judge in your name, and take your next question"),
    "everything": mark("all of it, and change what others gave, and delete runs"),
}
"""What a program may do with each scope, as message ids."""
DAYS, MOST_DAYS = 90, 3650
LONGEST_NAME = 80
PREFIX = "rlv_"
SEEN_EVERY = timedelta(minutes=1)
"""How exactly the last use is stored: one write a minute at most."""


class UnknownToken(Missing):
    message = mark("There is no such token")
    remedy = mark("It may be somebody else's, or gone. The list shows those that are yours.")


class NoTokenForIt(Conflict):
    message = mark("%(name)s cannot have a token")
    remedy = mark(
        "A token is a person's who takes part, neither a machine's nor a removed rater's."
    )


class NewToken(Struct, frozen=True):
    """A token just made; ``token`` is nowhere else."""

    id: int
    token: str
    expires_at: datetime


class TokenLine(Struct, frozen=True):
    """One token in a list; ``state`` is "open", "expired" or "withdrawn"."""

    id: int
    rater: str
    name: str
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None
    state: str


def make(
    session: Session,
    rater: Rater,
    name: str,
    scopes: Iterable[Scope],
    now: datetime,
    *,
    days: int = DAYS,
) -> NewToken:
    """Return a new token of a rater that holds for some `days`; logged."""
    if rater.is_machine or rater.removed_at is not None:
        raise NoTokenForIt(rater.name)
    text = PREFIX + secrets.token_urlsafe(32)
    chosen = set(scopes)
    in_order = " ".join(scope for scope in SCOPES if scope in chosen)
    token = Token(rater_id=rater.id, name=name[:LONGEST_NAME], scopes=in_order)
    token.token_hash, token.created_at = hashed(text), now
    token.expires_at = now + timedelta(days=days)
    session.add(token)
    session.flush()
    _log(session, token, "make token", now)
    return NewToken(token.id, text, token.expires_at)


def lines(session: Session, rater: Rater, now: datetime) -> list[TokenLine]:
    """Return the tokens of a rater, the newest first; to the owner those of everybody."""
    rows = session.scalars(of(rater).order_by(Token.id.desc()))
    return [
        TokenLine(
            *(token.id, studies.rater_name(token.rater), token.name, tuple(token.scopes.split())),
            *(token.created_at, token.expires_at, token.used_at),
            state_of(token.withdrawn_at, token.expires_at, now),
        )
        for token in rows
    ]


def withdraw(session: Session, rater: Rater, token_id: int, now: datetime) -> None:
    """End a token of a rater, for the owner anybody's; logged. Raises ``UnknownToken``."""
    token = session.scalar(of(rater).where(Token.id == token_id))
    if token is None:
        raise UnknownToken(token_id)
    if token.withdrawn_at is None:
        token.withdrawn_at = now
        _log(session, token, "withdraw token", now)


def open_ones(session: Session, rater: Rater, now: datetime) -> Sequence[Token]:
    """Return the rater's own tokens that let programs in now."""
    unwithdrawn = select(Token).where(Token.rater_id == rater.id, Token.withdrawn_at.is_(None))
    return session.scalars(unwithdrawn.where(Token.expires_at > now)).all()


class KnownToken(NamedTuple):
    """A token that lets a program in now, and the rater whom it acts for."""

    id: int
    scopes: str
    used_at: datetime | None
    rater_id: int
    study_id: int
    is_owner: bool


def recognise(session: Session, text: str, now: datetime) -> KnownToken | None:
    """Return the token of a program, its rater and study, in one statement; else ``None``.

    The study is the one that is open; pages and numbers speak in its words from then on.
    """
    values = {"token_hash": hashed(text), "now": now}
    row = core(session).execute(_token_query(), values).first()
    if row is None:
        return None
    *token, kind, scale, merging = row
    labels.use_words_of(kind, Scale.stored(scale), merging)
    return KnownToken(*token)


def note_use(session: Session, token_id: int, now: datetime) -> None:
    """Store when a token was used last, to the minute."""
    # A write for each request would make every read of a program wait for the database.
    is_due = or_(Token.used_at.is_(None), Token.used_at <= now - SEEN_EVERY)
    session.execute(update(Token).where(Token.id == token_id, is_due).values(used_at=now))


def of(rater: Rater) -> Select[Token]:
    """Return the statement over a rater's tokens, for the owner over everybody's."""
    rows = select(Token).join(Rater)
    if rater.is_owner:
        return rows.where(Rater.study_id == rater.study_id)
    return rows.where(Token.rater_id == rater.id)


def _log(session: Session, token: Token, action: str, now: datetime) -> None:
    rater = session.get_one(Rater, token.rater_id)
    subject = studies.rater_subject(rater)
    studies.log(session, rater.study, action, subject, None, f"{token.id}: {token.scopes}", now)


@cache
def _token_query() -> Select[Any]:
    first = select(func.min(aliased(Study).id)).scalar_subquery()
    is_open = Token.expires_at > bindparam("now", type_=Token.expires_at.type)
    return (
        select(Token.id, Token.scopes, Token.used_at, Rater.id, Rater.study_id, Rater.is_owner)
        .add_columns(Study.kind, Study.scale, Study.merging)
        .join_from(Token, Rater, Rater.id == Token.rater_id)
        .join(Study, Study.id == Rater.study_id)
        .where(Token.token_hash == bindparam("token_hash"), Token.withdrawn_at.is_(None), is_open)
        .where(Rater.removed_at.is_(None), ~Rater.is_machine, Study.id == first)
    )
