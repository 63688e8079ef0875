"""Evaluations of files and their items: tables."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from relevansi.db.tables.base import Base, reference

if TYPE_CHECKING:
    from relevansi.db.tables.people import Rater
    from relevansi.db.tables.runs import Query


class Evaluation(Base):
    """Files that were scored automatically, kept so that people can read the items.

    ``kind`` is "answers", "chunks" or "json-v2". ``sha256`` covers all files and the settings.
    ``head`` is what the command line writes above the items.
    """

    __tablename__ = "evaluations"
    __table_args__ = (UniqueConstraint("study_id", "sha256"),)

    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    study_id: Mapped[int] = reference("studies.id")
    kind: Mapped[str] = mapped_column(String(16))
    name: Mapped[str] = mapped_column(Text)
    files: Mapped[list[dict[str, Any]]]
    sha256: Mapped[str] = mapped_column(String(64))
    settings: Mapped[dict[str, Any]]
    provenance: Mapped[dict[str, Any]]
    head: Mapped[dict[str, Any]]
    figures: Mapped[list[dict[str, Any]]]
    problems: Mapped[list[dict[str, Any]]]
    n_problems: Mapped[int]
    n_items: Mapped[int]
    created_at: Mapped[datetime]


class EvaluationItem(Base):
    """One scored row of an evaluation, at its position from 1; ``item_id`` is the file's own.

    ``row`` is the scored input, ``result`` the item as the command line writes it. ``parts`` are
    its sentences, chunks or fields, each with its outcome.
    """

    __tablename__ = "evaluation_items"
    __table_args__ = (
        UniqueConstraint("evaluation_id", "position"),
        Index(None, "evaluation_id", "failed", "position"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    evaluation_id: Mapped[str] = reference("evaluations.id", "CASCADE")
    position: Mapped[int]
    item_id: Mapped[str] = mapped_column(Text)
    row: Mapped[dict[str, Any]]
    result: Mapped[dict[str, Any]]
    parts: Mapped[list[dict[str, Any]]]
    failed: Mapped[bool]


class GoldVersion(Base):
    """One saved version of a question set's gold questions; the newest is in force.

    ``document`` is a whole gold file. ``name`` is the file it came from, or the editor's name
    for it. Versions are never altered, so that every figure can be shown with its version.
    """

    __tablename__ = "gold_versions"

    id: Mapped[int] = mapped_column(primary_key=True)
    question_set_id: Mapped[int] = reference("question_sets.id", index=True)
    name: Mapped[str] = mapped_column(Text)
    document: Mapped[dict[str, Any]]
    rater_id: Mapped[int] = reference("raters.id", index=True)
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
    query_key: Mapped[int] = reference("queries.id", "CASCADE")
    card: Mapped[int]
    subject: Mapped[str] = mapped_column(String(16))
    outcome: Mapped[str | None] = mapped_column(String(8))
    reason: Mapped[str] = mapped_column(Text, default="")
    cause: Mapped[str] = mapped_column(String(8))
    rater_id: Mapped[int] = reference("raters.id", index=True)
    at: Mapped[datetime]

    query: Mapped[Query] = relationship()
    rater: Mapped[Rater] = relationship()
