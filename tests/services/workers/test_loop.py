"""Leases and the loop, tried on a table of pieces of work."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Barrier, Event, Thread

import pytest
from sqlalchemy import or_, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from relevansi.db.engine import Database
from relevansi.db.tables.base import Moment
from relevansi.services.workers import loop
from relevansi.services.workers.loop import (
    ASKING,
    HEARTBEAT,
    LEASE_TIME,
    Idle,
    Lease,
    OutsideWork,
    WorkLoop,
)
from tests.conftest import NOW

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
    idles: list[Idle] = field(default_factory=list)
    """The reasons that the next claims give for having nothing."""

    def claim(self, session: Session, now: datetime) -> PieceCall | Idle:
        if self.idles:
            return self.idles.pop(0)
        lost = (Piece.state == ASKING) & ~loop.is_leased(Piece, now)
        open_pieces = select(Piece).where(or_(Piece.state == WAITING, lost)).order_by(Piece.id)
        for piece in session.scalars(open_pieces):
            if (lease := loop.take(session, piece, now)) is not None:
                return PieceCall(lease)
        return Idle.DONE

    def ask(self, call: PieceCall) -> str:
        return self.answer(call)

    def store(self, session: Session, call: PieceCall, outcome: str, now: datetime) -> None:
        piece = loop.lock_row(session, Piece, call.lease)
        if piece is not None:
            assert outcome != "unfit"
            piece.outcome, piece.kept_at = outcome, now
            loop.give_back(piece, DONE)

    def unforeseen(self, error: Exception) -> str:
        return type(error).__name__


@contextmanager
def pieces(database: Database, n: int) -> Iterator[None]:
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
        rows = select(Piece).order_by(Piece.id)
        return [
            (piece.id, piece.state, piece.attempt, piece.outcome) for piece in session.scalars(rows)
        ]


WAIT = 60
N = 6


@pytest.fixture(autouse=True)
def _pieces(database: Database) -> Iterator[None]:
    with pieces(database, N):
        yield


@pytest.fixture(name="working")
def _working(database: Database) -> WorkLoop:
    return WorkLoop(database.writing, lambda: NOW, logging.getLogger(__name__))


def finish(working: WorkLoop) -> None:
    """Wait until nobody is at work."""
    assert working.is_idle(WAIT)


def test_threads_ask_about_every_piece_once(database: Database, working: WorkLoop) -> None:
    keys = []

    def answer(call: PieceCall) -> str:
        with database.writing() as session:  # as anybody may, since no transaction is open
            session.commit()
        keys.append(call.lease.key)
        return "answer"

    work = PieceWork(answer)
    working.wake(work, 3, most=3)
    working.wake(work, 3, most=3)
    finish(working)

    assert sorted(keys) == [(number,) for number in range(1, N + 1)]
    assert outcomes(database) == [(n, DONE, 1, "answer") for n in range(1, N + 1)]
    assert (working.n_stored, working.failure) == (N, None)


@pytest.mark.parametrize(
    ("fault", "outcome"), [("raise", "ValueError"), ("unfit", "AssertionError")]
)
def test_an_error_is_an_outcome_of_its_own_and_the_rest_goes_on(
    database: Database, working: WorkLoop, fault: str, outcome: str
) -> None:
    def answer(call: PieceCall) -> str:
        if call.lease.key == (2,) and fault == "raise":
            raise ValueError
        return "unfit" if call.lease.key == (2,) else "answer"

    working.wake(PieceWork(answer), most=1)
    finish(working)

    texts = [outcome for _, _, _, outcome in outcomes(database)]
    assert texts == ["answer", outcome, *["answer"] * (N - 2)]
    assert type(working.failure).__name__ == outcome


def test_closed_it_keeps_what_is_on_its_way(database: Database, working: WorkLoop) -> None:
    is_asked, may_answer = Event(), Event()

    def answer(_call: PieceCall) -> str:
        is_asked.set()
        assert may_answer.wait(WAIT)
        return "answer"

    working.wake(PieceWork(answer), most=1)
    assert is_asked.wait(WAIT)
    working.close()
    assert not working.is_idle(0)
    may_answer.set()
    finish(working)
    working.wake(PieceWork(answer), most=1)
    finish(working)

    first, *others = outcomes(database)
    assert first == (1, DONE, 1, "answer")
    assert {state for _, state, _, _ in others} == {WAITING}


def test_a_thread_that_is_woken_as_it_leaves_looks_again(working: WorkLoop) -> None:
    """A request that stores a piece while all threads work relies on one of them."""

    class LatePieces(PieceWork):
        def claim(self, session, now):  # type: ignore[no-untyped-def]
            if self.idles:
                working.wake(self, most=1)
            return super().claim(session, now)

    working.wake(LatePieces(idles=[Idle.DONE]), most=1)
    finish(working)

    assert working.n_stored == N


def test_a_piece_on_its_way_is_renewed_at_every_heartbeat_and_one_may_fail(
    database: Database, working: WorkLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    beats: list[Lease] = []
    renew, renewed = loop.renew, Event()

    def beat(session, leases, _now):  # type: ignore[no-untyped-def]
        beats.extend(leases)
        if len(beats) == 1:
            raise OSError
        renew(session, leases, NOW + HEARTBEAT)
        if len(beats) == 3:
            renewed.set()  # the transaction of the second heartbeat is over

    def answer(_call: PieceCall) -> str:
        assert renewed.wait(WAIT)
        with database.reading() as session:
            assert session.get_one(Piece, 1).alive_until == NOW + HEARTBEAT + LEASE_TIME
        working.close()
        return "answer"

    monkeypatch.setattr(loop, "HEARTBEAT", timedelta(milliseconds=1))
    monkeypatch.setattr(loop, "renew", beat)
    working.wake(PieceWork(answer), most=1)
    finish(working)

    assert {lease.key for lease in beats} == {(1,)}
    assert outcomes(database)[0] == (1, DONE, 1, "answer")
    assert working.failure is None


SECOND = timedelta(seconds=1)


def lease_of_first(database: Database, now: datetime = NOW) -> Lease | None:
    with database.writing() as session:
        lease = loop.take(session, session.get_one(Piece, 1), now)
        session.commit()
    return lease


def test_of_many_who_want_a_piece_one_gets_it(database: Database) -> None:
    barrier = Barrier(4)

    def take(_number: int) -> Lease | None:
        barrier.wait()
        return lease_of_first(database)

    with ThreadPoolExecutor(4) as threads:
        leases = [*threads.map(take, range(4))]
    assert leases.count(None) == 3
    assert Lease(Piece, (1,), 1) in leases


def test_who_asks_meanwhile_gets_nothing(database: Database) -> None:
    result: list[Lease | None] = []
    with database.writing() as session:
        first = loop.take(session, session.get_one(Piece, 1), NOW)
        late = Thread(target=lambda: result.append(lease_of_first(database)))
        late.start()
        session.commit()
    late.join()

    assert first is not None
    assert result == [None]


def test_a_dead_holder_s_lease_is_taken_over(database: Database) -> None:
    first = lease_of_first(database)
    assert first is not None
    assert lease_of_first(database, NOW + LEASE_TIME - SECOND) is None
    second = lease_of_first(database, NOW + LEASE_TIME)
    assert second == Lease(Piece, (1,), 2)

    with database.writing() as session:
        loop.renew(session, [first], NOW + 9 * LEASE_TIME)
        assert loop.lock_row(session, Piece, first) is None
        row = loop.lock_row(session, Piece, second)
        assert row is not None
        assert row.alive_until == NOW + 2 * LEASE_TIME
        assert loop.is_abandoned(row, NOW + 2 * LEASE_TIME)
        assert not loop.is_abandoned(row, NOW + 2 * LEASE_TIME - SECOND)


def test_a_piece_that_was_finished_since_is_not_leased(database: Database) -> None:
    with database.reading() as earlier:
        read = earlier.get_one(Piece, 1)
    lease = lease_of_first(database)
    assert lease is not None
    with database.writing() as session:
        piece = loop.lock_row(session, Piece, lease)
        assert piece is not None
        loop.give_back(piece, DONE)
        session.commit()

    with database.writing() as session:
        session.add(read)
        assert loop.take(session, read, NOW) is None
