"""Tasks and repeated questions of blind raters, answers they read as written: tables."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import (
    ForeignKey,
    Index,
    String,
    Text,
    false,
    func,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column, relationship

from webapp.db.tables.base import Base

if TYPE_CHECKING:
    from webapp.db.tables.people import Rater
    from webapp.db.tables.study import Question


class Task(Base):
    """One question given to one blind rater: everything to judge about it, of all runs.

    The id is random and without meaning. ``run_id`` is set where the question depends on its
    conversation. A task of kind "repeat" asks the rater a question a second time.
    ``postponed_at`` is when its rater last put it off, to come back to it after the others.
    ``asked_again_at`` is when the owner last had it asked again: what was given on a run's page
    by then counts, but the task shows it as not yet given.
    ``keeps_seed_order`` is true of tasks that were given before studies had a secret.
    """

    __tablename__ = "tasks"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"), index=True)
    question_id: Mapped[int] = mapped_column(ForeignKey("questions.id"), index=True)
    run_id: Mapped[str | None] = mapped_column(
        ForeignKey("runs.id", ondelete="CASCADE"), index=True
    )
    kind: Mapped[str] = mapped_column(String(8), default="pool")
    claimed_at: Mapped[datetime]
    postponed_at: Mapped[datetime | None]
    asked_again_at: Mapped[datetime | None]
    keeps_seed_order: Mapped[bool] = mapped_column(default=False, server_default=false())

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
    """A rater's second verdict on a judged thing: for their consistency, never the verdict."""

    __tablename__ = "repeats"

    task_id: Mapped[str] = mapped_column(
        ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True
    )
    judged_thing_id: Mapped[int] = mapped_column(
        ForeignKey("judged_things.id"), primary_key=True, index=True
    )
    verdict: Mapped[str | None] = mapped_column(String(16))
    changed_at: Mapped[datetime | None]


class RepeatRating(Base):
    """A rater's second quality and notes for an answer: for their consistency alone."""

    __tablename__ = "repeat_ratings"

    task_id: Mapped[str] = mapped_column(
        ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True
    )
    query_key: Mapped[int] = mapped_column(
        ForeignKey("queries.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    quality: Mapped[int | None]
    notes: Mapped[str] = mapped_column(Text, default="")
    changed_at: Mapped[datetime | None]


class WordingOpened(Base):
    """A blind rater opened an answer as its chatbot wrote it, for the first time."""

    __tablename__ = "wordings_opened"

    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"), primary_key=True)
    query_key: Mapped[int] = mapped_column(
        ForeignKey("queries.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    at: Mapped[datetime]
