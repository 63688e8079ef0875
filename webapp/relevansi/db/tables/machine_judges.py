"""Machine judges, their sessions and calls: tables."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Double, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from relevansi.db.tables.base import Base, reference

if TYPE_CHECKING:
    from relevansi.db.tables.people import Rater


class MachineJudge(Base):
    """A model with a prompt, which judges as the rater of its row; never altered once made.

    ``endpoint`` is the address without the parts that may be secret; the key is never stored.
    ``prompt`` has the places {question}, {earlier} and {card}, whose words are in
    ``language``: English, before 2.0.0 also Indonesian. ``released_at`` is when the owner allowed
    its figures to be chosen.
    """

    __tablename__ = "machine_judges"

    rater_id: Mapped[int] = reference("raters.id", primary_key=True)
    endpoint: Mapped[str] = mapped_column(Text)
    model: Mapped[str] = mapped_column(Text)
    language: Mapped[str] = mapped_column(String(8), default="en")
    prompt: Mapped[str] = mapped_column(Text)
    prompt_sha256: Mapped[str] = mapped_column(String(64))
    temperature: Mapped[float] = mapped_column(Double, default=0.0)
    created_at: Mapped[datetime]
    released_at: Mapped[datetime | None]

    rater: Mapped[Rater] = relationship()


class MachineSession(Base):
    """One start of a machine judge: its estimated cost, its budget and its actual cost.

    ``state``: "running", "finished", "stopped" (by the owner), "capped" (the budget is used up) or
    "failing" (too many calls failed in a row; ``why``). Prices are for a million tokens. ``calls``
    counts every try, ``uncounted`` the answers whose tokens are estimated, ``failed`` the cards.
    """

    __tablename__ = "machine_sessions"

    id: Mapped[int] = mapped_column(primary_key=True)
    rater_id: Mapped[int] = reference("raters.id", index=True)
    state: Mapped[str] = mapped_column(String(16), default="running")
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    judged_items: Mapped[int]
    estimated_prompt_tokens: Mapped[int] = mapped_column(BigInteger)
    estimated_completion_tokens: Mapped[int] = mapped_column(BigInteger)
    prompt_price: Mapped[float | None] = mapped_column(Double)
    completion_price: Mapped[float | None] = mapped_column(Double)
    currency: Mapped[str] = mapped_column(String(8), default="")
    most_calls: Mapped[int | None]
    at_once: Mapped[int] = mapped_column(default=2)
    calls: Mapped[int] = mapped_column(default=0)
    prompt_tokens: Mapped[int] = mapped_column(BigInteger, default=0)
    completion_tokens: Mapped[int] = mapped_column(BigInteger, default=0)
    uncounted: Mapped[int] = mapped_column(default=0)
    failed: Mapped[int] = mapped_column(default=0, server_default="0")
    failed_in_a_row: Mapped[int] = mapped_column(default=0)
    why: Mapped[str | None] = mapped_column(Text)


Index(
    "uq_machine_sessions_open",
    MachineSession.rater_id,
    unique=True,
    sqlite_where=MachineSession.ended_at.is_(None),
    postgresql_where=MachineSession.ended_at.is_(None),
)


class MachineCall(Base):
    """A machine judge's last call about one judged item, and its outcome.

    ``state``: "asking", "judged" (with ``verdict`` and ``reason``; the judgment itself is a
    ``Judgment`` with its event) or "failed" (with ``error``, its code and how the unusable
    answer began). A call that died is known by ``alive_until``; until then it reserves
    ``reserved_calls`` of the session's limit. Tokens are null where none were stated.
    """

    __tablename__ = "machine_calls"

    rater_id: Mapped[int] = reference("raters.id", primary_key=True)
    judged_item_id: Mapped[int] = reference("judged_items.id", primary_key=True, index=True)
    session_id: Mapped[int] = reference("machine_sessions.id", index=True)
    state: Mapped[str] = mapped_column(String(8))
    attempt: Mapped[int] = mapped_column(default=1)
    verdict: Mapped[str | None] = mapped_column(String(16))
    reason: Mapped[str] = mapped_column(Text, default="")
    error_code: Mapped[str | None] = mapped_column(String(32))
    error: Mapped[str | None] = mapped_column(Text)
    excerpt: Mapped[str | None] = mapped_column(Text)
    prompt_characters: Mapped[int]
    prompt_tokens: Mapped[int | None] = mapped_column(BigInteger)
    completion_tokens: Mapped[int | None] = mapped_column(BigInteger)
    reserved_calls: Mapped[int] = mapped_column(default=0)
    alive_until: Mapped[datetime | None]
    at: Mapped[datetime]
