"""The loop claims, asks outside a transaction and keeps; it stops, and goes on after errors."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import timedelta
from threading import Event

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


def test_every_piece_is_asked_about_once_however_many_threads_there_are(
    database: Database, working: WorkLoop
) -> None:
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


def test_closed_it_claims_nothing_more_and_keeps_what_is_on_its_way(
    database: Database, working: WorkLoop
) -> None:
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


def test_what_may_not_be_asked_yet_is_asked_later(
    working: WorkLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "GLANCE", 0)
    working.wake(PieceWork(found=[Nothing.YET, Nothing.YET]), most=1)
    finish(working)

    assert working.kept == N


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


def test_a_process_that_died_leaves_its_piece_to_the_next(database: Database) -> None:
    with database.writing() as session:
        died = PieceWork().claim(session, NOW)
        session.commit()
    assert isinstance(died, PieceCall)
    following = WorkLoop(database.writing, lambda: NOW + ALIVE, logging.getLogger(__name__))
    following.wake(PieceWork(), most=1)
    finish(following)

    assert pieces.outcomes(database)[:2] == [(1, DONE, 2, "answer"), (2, DONE, 1, "answer")]
