"""Judged items, verdicts, the log of clicks, figures of questions: tables."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Index,
    String,
    Text,
    UniqueConstraint,
    false,
    func,
    text,
    true,
)
from sqlalchemy.orm import Mapped, mapped_column, relationship

from relevansi.db.tables.base import Base, index_of, reference

if TYPE_CHECKING:
    from relevansi.db.tables.people import Rater
    from relevansi.db.tables.study import Question


class StoredItem(Base):
    """The item shown on a card, by any run; of whatever kind."""

    __tablename__ = "items"

    id: Mapped[int] = mapped_column(primary_key=True)
    identity: Mapped[str] = mapped_column(Text, unique=True)


class JudgedItem(Base):
    """The subject of one verdict: (question, item, content) or a question's emptiness.

    ``content`` numbers the versions of the item that differ in content, from 1. ``run_id``
    is set only where the answer depends on its own conversation. ``card`` is the fullest
    version seen; null for emptiness.
    """

    __tablename__ = "judged_items"
    __table_args__ = (index_of("run_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    question_id: Mapped[int] = reference("questions.id")
    item_id: Mapped[int | None] = reference("items.id", index=True)
    content: Mapped[int] = mapped_column(default=1)
    run_id: Mapped[str | None] = reference("runs.id")
    card: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))

    item: Mapped[StoredItem | None] = relationship()


Index(
    "uq_judged_items",
    JudgedItem.question_id,
    func.coalesce(JudgedItem.run_id, text("''")),
    func.coalesce(JudgedItem.item_id, text("0")),
    JudgedItem.content,
    unique=True,
)


class Judgment(Base):
    """One rater's current verdict on one judged item; null once it was cleared.

    The verdict is a ``records.Relevance``, or a ``records.EmptyOutcome`` for emptiness. ``reason``
    says why the item is not relevant, a key of the study's list or words; it counts only beside
    such a verdict. ``is_evidence``: the rater looked the item up, and it fits the question.
    """

    __tablename__ = "judgments"

    rater_id: Mapped[int] = reference("raters.id", primary_key=True)
    judged_item_id: Mapped[int] = reference("judged_items.id", primary_key=True, index=True)
    verdict: Mapped[str | None] = mapped_column(String(16))
    reason: Mapped[str | None] = mapped_column(Text)
    is_evidence: Mapped[bool] = mapped_column(default=False, server_default=false())
    changed_at: Mapped[datetime]


class QueryRating(Base):
    """One rater's response quality (0-5) and notes for one answer."""

    __tablename__ = "query_ratings"

    rater_id: Mapped[int] = reference("raters.id", primary_key=True)
    query_key: Mapped[int] = reference("queries.id", "CASCADE", primary_key=True, index=True)
    quality: Mapped[int | None]
    notes: Mapped[str] = mapped_column(Text, default="")
    changed_at: Mapped[datetime]


class Event(Base):
    """One change a rater asked for, never altered: old, new, who, when, from where.

    ``field`` is "verdict", "reason" or "evidence" (of ``judged_item_id``), "quality" or "notes"
    (of ``query_key``, which for the others names the place of the click; a blind rater's clicks
    name their ``task_id`` instead), or in a repeat "repeat", "repeat quality", "repeat notes".
    ``cause`` is "click", "bulk", "import" (from a file), "machine" or "undo"; ``token_id`` is of
    the token by which a program wrote it. An event that lost to a later one is here too.
    """

    __tablename__ = "events"
    __table_args__ = (
        UniqueConstraint("rater_id", "event_id", "field"),
        # The keys that the row depends on come first, so that deletions there find it too, and
        # rows without such keys are in no index: one index less is a page less for every click.
        Index(None, "judged_item_id", "rater_id"),
        index_of("query_key", "rater_id", "field"),
        index_of("task_id", "rater_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    rater_id: Mapped[int] = reference("raters.id")
    event_id: Mapped[str] = mapped_column(String(80))
    field: Mapped[str] = mapped_column(String(16))
    judged_item_id: Mapped[int | None] = reference("judged_items.id", "SET NULL")
    query_key: Mapped[int | None] = reference("queries.id", "SET NULL")
    task_id: Mapped[str | None] = reference("tasks.id", "SET NULL")
    old: Mapped[str | None] = mapped_column(Text)
    new: Mapped[str | None] = mapped_column(Text)
    cause: Mapped[str] = mapped_column(String(16))
    undoes_id: Mapped[int | None] = reference("events.id", unique=True)
    # No reference, whose index every click would pay for: a token goes only with its rater.
    token_id: Mapped[int | None]
    device: Mapped[str] = mapped_column(String(64))
    sequence: Mapped[int] = mapped_column(BigInteger)
    client_time: Mapped[datetime | None]
    received_at: Mapped[datetime]


class StoredSummary(Base):
    """The summary of one rater's judgments of one query, updated by every click.

    The counts and figures are those of ``metrics.judging.queries.QuerySummary``; ``figures`` has,
    by name, the value and the two bounds that the finished rating can still reach.
    ``open_judgments`` counts the verdicts still to give: an item listed twice asks for one, one
    below the depth of the study's pool for none.
    """

    __tablename__ = "query_summaries"
    __table_args__ = (Index(None, "rater_id", "run_id"),)

    rater_id: Mapped[int] = reference("raters.id", primary_key=True)
    query_key: Mapped[int] = reference("queries.id", "CASCADE", primary_key=True, index=True)
    run_id: Mapped[str] = reference("runs.id", "CASCADE", index=True)
    state: Mapped[str] = mapped_column(String(16))
    results_count: Mapped[int]
    judged_count: Mapped[int]
    relevant_count: Mapped[int]
    not_relevant_count: Mapped[int]
    unsure_count: Mapped[int]
    first_relevant_rank: Mapped[int | None]
    open_judgments: Mapped[int]
    complete: Mapped[bool]
    asks_quality: Mapped[bool] = mapped_column(default=True, server_default=true())
    figures: Mapped[dict[str, Any]]
    empty_outcome: Mapped[str | None] = mapped_column(String(16))
    quality: Mapped[float | None]


class Adjudication(Base):
    """The verdict that settles a disputed judged item, by whom and why."""

    __tablename__ = "adjudications"

    judged_item_id: Mapped[int] = reference("judged_items.id", primary_key=True)
    verdict: Mapped[str] = mapped_column(String(16))
    reason: Mapped[str] = mapped_column(Text)
    rater_id: Mapped[int] = reference("raters.id", index=True)
    at: Mapped[datetime]


class Task(Base):
    """One question given to one blind rater: everything to judge about it, of all runs.

    ``run_id`` is set where the question depends on its conversation. Kind "repeat" asks a second
    time. ``postponed_at`` is when its rater last put it off. ``asked_again_at`` is when the owner
    last had it asked again: what was given on a run's page by then counts, but the task shows it as
    not yet given.
    """

    __tablename__ = "tasks"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    rater_id: Mapped[int] = reference("raters.id", index=True)
    question_id: Mapped[int] = reference("questions.id", index=True)
    run_id: Mapped[str | None] = reference("runs.id", "CASCADE", index=True)
    kind: Mapped[str] = mapped_column(String(8), default="pool")
    claimed_at: Mapped[datetime]
    postponed_at: Mapped[datetime | None]
    asked_again_at: Mapped[datetime | None]

    rater: Mapped[Rater] = relationship()
    question: Mapped[Question] = relationship()


Index(
    "uq_tasks",
    Task.rater_id,
    Task.question_id,
    func.coalesce(Task.run_id, text("''")),
    Task.kind,
    unique=True,
)


class Repeat(Base):
    """A rater's second verdict on a judged item: for their consistency, never the verdict."""

    __tablename__ = "repeats"

    task_id: Mapped[str] = reference("tasks.id", "CASCADE", primary_key=True)
    judged_item_id: Mapped[int] = reference("judged_items.id", primary_key=True, index=True)
    verdict: Mapped[str | None] = mapped_column(String(16))
    changed_at: Mapped[datetime | None]


class RepeatRating(Base):
    """A rater's second quality and notes for an answer: for their consistency alone."""

    __tablename__ = "repeat_ratings"

    task_id: Mapped[str] = reference("tasks.id", "CASCADE", primary_key=True)
    query_key: Mapped[int] = reference("queries.id", "CASCADE", primary_key=True, index=True)
    quality: Mapped[int | None]
    notes: Mapped[str] = mapped_column(Text, default="")
    changed_at: Mapped[datetime | None]


class WordingOpened(Base):
    """A blind rater opened an answer as its chatbot wrote it, for the first time."""

    __tablename__ = "wordings_opened"

    rater_id: Mapped[int] = reference("raters.id", primary_key=True)
    query_key: Mapped[int] = reference("queries.id", "CASCADE", primary_key=True, index=True)
    at: Mapped[datetime]
