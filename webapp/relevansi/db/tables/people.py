"""Raters, invitations, tokens, tries to sign in, the log: tables."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import Index, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column, relationship

from relevansi.db.tables.base import Base, reference

if TYPE_CHECKING:
    from relevansi.db.tables.study import Study


class Rater(Base):
    """A person or machine that judges. A local study has one without login, its owner.

    A removed rater cannot judge any more; the judgments stay unless they were deleted too. A
    machine has its model and prompt in ``machine_judges``; one cannot sign in as a machine, and
    its verdicts count in no figure of people.
    """

    __tablename__ = "raters"
    __table_args__ = (UniqueConstraint("study_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = reference("studies.id")
    name: Mapped[str] = mapped_column(Text)
    is_owner: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime]
    removed_at: Mapped[datetime | None]
    is_machine: Mapped[bool] = mapped_column(default=False, server_default=false())

    study: Mapped[Study] = relationship()


class Invitation(Base):
    """A link that signs a rater in, on any number of devices; only its hash is kept."""

    __tablename__ = "invitations"

    id: Mapped[int] = mapped_column(primary_key=True)
    rater_id: Mapped[int] = reference("raters.id", index=True)
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    withdrawn_at: Mapped[datetime | None]

    rater: Mapped[Rater] = relationship()


class Token(Base):
    """What lets a program in as its rater; only its hash is kept.

    ``scopes`` are those of ``services.people.tokens.SCOPES`` that it has, with blanks between.
    """

    __tablename__ = "tokens"

    id: Mapped[int] = mapped_column(primary_key=True)
    rater_id: Mapped[int] = reference("raters.id", index=True)
    name: Mapped[str] = mapped_column(Text)
    scopes: Mapped[str] = mapped_column(String(64))
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    withdrawn_at: Mapped[datetime | None]

    rater: Mapped[Rater] = relationship()


class Attempt(Base):
    """One try that is counted, to limit how many follow."""

    __tablename__ = "attempts"
    __table_args__ = (Index(None, "source", "at"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    source: Mapped[str] = mapped_column(String(128))
    at: Mapped[datetime]


class SignedOut(Base):
    """A sign-in that was ended; its badges carry ``id``."""

    __tablename__ = "signed_out"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    at: Mapped[datetime] = mapped_column(index=True)


class LogEntry(Base):
    """A change that the owner made apart from ratings: labels, switches, deletions.

    ``token_id`` is of the token by which a program made it.
    """

    __tablename__ = "log_entries"

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = reference("studies.id", index=True)
    at: Mapped[datetime]
    action: Mapped[str] = mapped_column(String(32))
    subject: Mapped[str] = mapped_column(Text)
    old: Mapped[str | None] = mapped_column(Text)
    new: Mapped[str | None] = mapped_column(Text)
    token_id: Mapped[int | None]
