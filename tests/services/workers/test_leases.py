"""A piece of work has one holder at a time, on SQLite and PostgreSQL, as long as it lives."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from threading import Barrier, Thread

import pytest

from tests.conftest import NOW
from tests.services.workers import pieces
from tests.services.workers.pieces import DONE, WAITING, Piece
from webapp.db.engine import Database
from webapp.services.workers import loop
from webapp.services.workers.loop import ALIVE, Lease

SECOND = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def _one_piece(database: Database) -> Iterator[None]:
    with pieces.made(database, 1):
        yield


def taken(database: Database, now: datetime = NOW) -> Lease | None:
    """Return the lease of the piece, if it is to be had."""
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


def test_who_asks_while_another_takes_it_waits_and_gets_nothing(database: Database) -> None:
    found: list[Lease | None] = []
    with database.writing() as session:
        first = loop.take(session, session.get_one(Piece, 1), NOW)
        late = Thread(target=lambda: found.append(taken(database)))
        late.start()
        session.commit()
    late.join()

    assert first is not None
    assert found == [None]


def test_a_lease_whose_holder_died_is_taken_over_and_is_not_the_first_one_s_any_more(
    database: Database,
) -> None:
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


def test_a_lease_lasts_as_long_as_it_is_renewed(database: Database) -> None:
    lease = taken(database)
    assert lease is not None
    with database.writing() as session:
        loop.renew(session, [lease], NOW + ALIVE / 2)
        session.commit()

    assert taken(database, NOW + ALIVE) is None
    with database.reading() as session:
        for later, n in ((ALIVE, 1), (ALIVE * 1.5, 0)):
            held = session.query(Piece).where(loop.are_held(Piece, NOW + later))
            assert held.count() == n


def test_what_another_one_took_and_gave_back_since_it_was_read_is_not_taken_again(
    database: Database,
) -> None:
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


@pytest.mark.parametrize("state", [DONE, WAITING])
def test_what_was_given_back_is_nobody_s(database: Database, state: str) -> None:
    lease = taken(database)
    assert lease is not None
    with database.writing() as session:
        piece = loop.own(session, Piece, lease)
        assert piece is not None
        loop.give_back(piece, state)
        session.commit()
        assert loop.own(session, Piece, lease) is None

    assert pieces.outcomes(database) == [(1, state, 1, None)]
    assert taken(database) == Lease(Piece, (1,), 2)
