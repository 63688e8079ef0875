"""Gold questions and decisions by hand: tables."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    ForeignKey,
    Index,
    String,
    Text,
)
from sqlalchemy.orm import Mapped, mapped_column, relationship

from webapp.db.tables.base import Base

if TYPE_CHECKING:
    from webapp.db.tables.people import Rater
    from webapp.db.tables.runs import Query


class GoldVersion(Base):
    """One saved version of a question set's gold questions; the newest is in force.

    ``document`` is a whole gold file. ``name`` is the file it came from, or the editor's name
    for it. Versions are never altered, so that every figure can be shown with its version.
    """

    __tablename__ = "gold_versions"

    id: Mapped[int] = mapped_column(primary_key=True)
    question_set_id: Mapped[int] = mapped_column(ForeignKey("question_sets.id"), index=True)
    name: Mapped[str] = mapped_column(Text)
    document: Mapped[dict[str, Any]]
    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"), index=True)
    at: Mapped[datetime]

    rater: Mapped[Rater] = relationship()


class CardDecision(Base):
    """One decision of a person on a card of a query, never altered: the last one counts.

    ``card`` counts the listed properties from 0. ``subject`` is a constraint, whose outcome
    is overridden, or "card" for the whole card. A null ``outcome`` takes the earlier decision back.
    ``reason`` is the override's reason or the comment on the card. ``cause`` is "click",
    "pooled" (while rating blind, for every run that lists the card), "import" or "undo".
    """

    __tablename__ = "card_decisions"
    __table_args__ = (Index(None, "query_key", "card", "subject"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    query_key: Mapped[int] = mapped_column(ForeignKey("queries.id", ondelete="CASCADE"))
    card: Mapped[int]
    subject: Mapped[str] = mapped_column(String(16))
    outcome: Mapped[str | None] = mapped_column(String(8))
    reason: Mapped[str] = mapped_column(Text, default="")
    cause: Mapped[str] = mapped_column(String(8))
    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"), index=True)
    at: Mapped[datetime]

    query: Mapped[Query] = relationship()
    rater: Mapped[Rater] = relationship()
