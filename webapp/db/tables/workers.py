"""Long work that a server does beside the requests: tables."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from webapp.db.tables.base import Base


class LongWork(Base):
    """Work that takes long: how far it is, then its result or why there is none.

    ``kind`` names what is done, ``wanted`` of what. ``state``: "waiting", "asking" (somebody
    does it), "done" (``data`` is the file that was made, or ``result`` says what was stored) or
    "failed" (``failure`` and ``remedy`` are message ids, ``about`` the name in them).
    ``steps_done`` of ``steps`` are done; 0 steps are not counted yet. ``study_state`` names the
    study as it was when the work began.
    """

    __tablename__ = "long_works"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"), index=True)
    kind: Mapped[str] = mapped_column(String(32))
    wanted: Mapped[dict[str, Any]]
    study_state: Mapped[str | None] = mapped_column(Text)
    put_down_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    state: Mapped[str] = mapped_column(String(8))
    attempt: Mapped[int] = mapped_column(default=0)
    alive_until: Mapped[datetime | None]
    steps_done: Mapped[int] = mapped_column(default=0)
    steps: Mapped[int] = mapped_column(default=0)
    failure: Mapped[str | None] = mapped_column(Text)
    remedy: Mapped[str | None] = mapped_column(Text)
    about: Mapped[str] = mapped_column(Text, default="")
    file_name: Mapped[str | None] = mapped_column(Text)
    media_type: Mapped[str | None] = mapped_column(Text)
    result: Mapped[dict[str, Any] | None]
    data: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
