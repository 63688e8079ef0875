"""Adjudications: tables."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import (
    ForeignKey,
    String,
    Text,
)
from sqlalchemy.orm import Mapped, mapped_column

from webapp.db.tables.base import Base


class Adjudication(Base):
    """The verdict that settles a disputed judged thing, by whom and why."""

    __tablename__ = "adjudications"

    judged_thing_id: Mapped[int] = mapped_column(ForeignKey("judged_things.id"), primary_key=True)
    verdict: Mapped[str] = mapped_column(String(16))
    reason: Mapped[str] = mapped_column(Text)
    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"), index=True)
    at: Mapped[datetime]
