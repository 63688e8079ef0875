"""The loop claims, asks outside a transaction and keeps; it stops, and goes on after errors."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from threading import Barrier, Event, Thread

import pytest

from tests.conftest import NOW
from tests.services.workers import pieces
from tests.services.workers.pieces import DONE, WAITING, Piece, PieceCall, PieceWork
from webapp.db.engine import Database
from webapp.services.workers import loop
from webapp.services.workers.loop import ALIVE, HEARTBEAT, Lease, Nothing, WorkLoop

WAIT = 60
N = 6


@pytest.fixture(autouse=True)
def _pieces(database: Database) -> Iterator[None]:
    with pieces.made(database, N):
        yield


@pytest.fixture(name="working")
def _working(database: Database) -> WorkLoop:
    return WorkLoop(database.writing, lambda: NOW, logging.getLogger(__name__))


def finish(working: WorkLoop) -> None:
    """Wait until nobody is at work."""
    assert working.is_idle(WAIT)


def test_threads_ask_about_every_piece_once(database: Database, working: WorkLoop) -> None:
    asked = []

    def answer(call: PieceCall) -> str:
        with database.writing() as session:  # as anybody may, since no transaction is open
            session.commit()
        asked.append(call.lease.key)
        return "answer"

    work = PieceWork(answer)
    working.wake(work, 3, most=3)
    working.wake(work, 3, most=3)
    finish(working)

    assert sorted(asked) == [(number,) for number in range(1, N + 1)]
    assert pieces.outcomes(database) == [(n, DONE, 1, "answer") for n in range(1, N + 1)]
    assert (working.kept, working.failure) == (N, None)


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

    told = [outcome for _, _, _, outcome in pieces.outcomes(database)]
    assert told == ["answer", outcome, *["answer"] * (N - 2)]
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

    done, *others = pieces.outcomes(database)
    assert done == (1, DONE, 1, "answer")
    assert {state for _, state, _, _ in others} == {WAITING}


def test_a_thread_that_is_woken_as_it_leaves_looks_again(working: WorkLoop) -> None:
    """A request that stores a piece while all threads work relies on one of them."""

    class LatePieces(PieceWork):
        def claim(self, session, now):  # type: ignore[no-untyped-def]
            if self.found:
                working.wake(self, most=1)
            return super().claim(session, now)

    working.wake(LatePieces(found=[Nothing.MORE]), most=1)
    finish(working)

    assert working.kept == N


def test_a_piece_on_its_way_is_renewed_at_every_heartbeat_and_one_may_fail(
    database: Database, working: WorkLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    beats: list[Lease] = []
    renew, renewed = loop.renew, Event()

    def beat(session, held, _now):  # type: ignore[no-untyped-def]
        beats.extend(held)
        if len(beats) == 1:
            raise OSError
        renew(session, held, NOW + HEARTBEAT)
        if len(beats) == 3:
            renewed.set()  # the transaction of the second heartbeat is over

    def answer(_call: PieceCall) -> str:
        assert renewed.wait(WAIT)
        with database.reading() as session:
            assert session.get_one(Piece, 1).alive_until == NOW + HEARTBEAT + ALIVE
        working.close()
        return "answer"

    monkeypatch.setattr(loop, "HEARTBEAT", timedelta(milliseconds=1))
    monkeypatch.setattr(loop, "renew", beat)
    working.wake(PieceWork(answer), most=1)
    finish(working)

    assert {lease.key for lease in beats} == {(1,)}
    assert pieces.outcomes(database)[0] == (1, DONE, 1, "answer")
    assert working.failure is None


SECOND = timedelta(seconds=1)


def taken(database: Database, now: datetime = NOW) -> Lease | None:
    with database.writing() as session:
        lease = loop.take(session, session.get_one(Piece, 1), now)
        session.commit()
    return lease


def test_of_many_who_want_a_piece_one_gets_it(database: Database) -> None:
    barrier, found = Barrier(4), []

    def take() -> None:
        barrier.wait()
        found.append(taken(database))

    threads = [Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(lease is None for lease in found) == [False, True, True, True]
    assert Lease(Piece, (1,), 1) in found


def test_who_asks_meanwhile_gets_nothing(database: Database) -> None:
    found: list[Lease | None] = []
    with database.writing() as session:
        first = loop.take(session, session.get_one(Piece, 1), NOW)
        late = Thread(target=lambda: found.append(taken(database)))
        late.start()
        session.commit()
    late.join()

    assert first is not None
    assert found == [None]


def test_a_dead_holder_s_lease_is_taken_over(database: Database) -> None:
    first = taken(database)
    assert first is not None
    assert taken(database, NOW + ALIVE - SECOND) is None
    second = taken(database, NOW + ALIVE)
    assert second == Lease(Piece, (1,), 2)

    with database.writing() as session:
        loop.renew(session, [first], NOW + 9 * ALIVE)
        assert loop.own(session, Piece, first) is None
        held = loop.own(session, Piece, second)
        assert held is not None
        assert held.alive_until == NOW + 2 * ALIVE
        assert loop.is_lost(held, NOW + 2 * ALIVE)
        assert not loop.is_lost(held, NOW + 2 * ALIVE - SECOND)


def test_what_was_given_back_since_is_not_taken(database: Database) -> None:
    with database.reading() as earlier:
        read = earlier.get_one(Piece, 1)
    lease = taken(database)
    assert lease is not None
    with database.writing() as session:
        piece = loop.own(session, Piece, lease)
        assert piece is not None
        loop.give_back(piece, DONE)
        session.commit()

    with database.writing() as session:
        session.add(read)
        assert loop.take(session, read, NOW) is None
