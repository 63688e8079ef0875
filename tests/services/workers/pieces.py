"""A table of pieces of work, on which leases and the loop are tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import or_, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from webapp.db.engine import Database
from webapp.db.tables.base import Moment
from webapp.services.workers import loop
from webapp.services.workers.loop import ASKING, Lease, Nothing, OutsideWork

WAITING, DONE = "waiting", "done"


class PieceBase(DeclarativeBase):
    """The tables of these tests."""


class Piece(PieceBase):
    __tablename__ = "pieces"

    id: Mapped[int] = mapped_column(primary_key=True)
    state: Mapped[str] = mapped_column(default=WAITING)
    attempt: Mapped[int] = mapped_column(default=0)
    alive_until: Mapped[datetime | None] = mapped_column(Moment)
    outcome: Mapped[str | None]
    kept_at: Mapped[datetime | None] = mapped_column(Moment)


@dataclass(frozen=True, slots=True)
class PieceCall:
    lease: Lease


@dataclass(eq=False)
class PieceWork(OutsideWork[PieceCall, str]):
    """Asks about every piece that waits or whose holder died, in order."""

    answer: Callable[[PieceCall], str] = lambda _call: "answer"
    found: list[Nothing] = field(default_factory=list)
    """The reasons that the next claims give for having nothing."""

    def claim(self, session: Session, now: datetime) -> PieceCall | Nothing:
        if self.found:
            return self.found.pop(0)
        lost = (Piece.state == ASKING) & ~loop.are_held(Piece, now)
        wanted = select(Piece).where(or_(Piece.state == WAITING, lost)).order_by(Piece.id)
        for piece in session.scalars(wanted):
            if (lease := loop.take(session, piece, now)) is not None:
                return PieceCall(lease)
        return Nothing.MORE

    def ask(self, call: PieceCall) -> str:
        return self.answer(call)

    def keep(self, session: Session, call: PieceCall, outcome: str, now: datetime) -> None:
        piece = loop.own(session, Piece, call.lease)
        if piece is not None:
            assert outcome != "unfit"
            piece.outcome, piece.kept_at = outcome, now
            loop.give_back(piece, DONE)

    def unforeseen(self, error: Exception) -> str:
        return type(error).__name__


@contextmanager
def made(database: Database, n: int) -> Iterator[None]:
    """Let a database have so many pieces."""
    PieceBase.metadata.create_all(database.engine)
    try:
        with database.writing() as session:
            session.add_all(Piece(id=number) for number in range(1, n + 1))
            session.commit()
        yield
    finally:
        PieceBase.metadata.drop_all(database.engine)


def outcomes(database: Database) -> list[tuple[int, str, int, str | None]]:
    with database.reading() as session:
        wanted = select(Piece).order_by(Piece.id)
        return [(one.id, one.state, one.attempt, one.outcome) for one in session.scalars(wanted)]
