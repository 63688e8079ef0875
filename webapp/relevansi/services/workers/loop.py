"""The background loop: claim a piece of work, do it, store its outcome (docs/decisions/0024).

No transaction is open while a service outside answers. A process that dies loses the calls that
were on their way; their leases end by themselves, and others make them again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from enum import StrEnum
from logging import Logger
from threading import Condition, Thread
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct
from sqlalchemy import ColumnElement, and_, inspect, update
from sqlalchemy.orm import Session

ASKING = "asking"
"""The state of a row that a worker has; its table names the others."""
LEASE_TIME = timedelta(seconds=30)
"""A worker that did not renew its lease for so long has died."""
HEARTBEAT = LEASE_TIME / 3
"""How often a worker renews its leases."""


class LeasedRow(Protocol):
    state: str
    attempt: int
    alive_until: datetime | None


RowT = TypeVar("RowT", bound=LeasedRow)


class Lease(Struct, frozen=True):
    """The right to work on one row: its table and key, and the number of the attempt."""

    table: type[LeasedRow]
    key: tuple[object, ...]
    attempt: int


def is_leased(table: type[LeasedRow], now: datetime) -> ColumnElement[bool]:
    """Return the condition on the rows of a table that a worker has their lease."""
    columns = inspect(table).columns
    return and_(columns.state == ASKING, columns.alive_until > now)


def is_abandoned(row: LeasedRow, now: datetime) -> bool:
    """Whether the worker that had a row has died."""
    return row.state == ASKING and (row.alive_until is None or row.alive_until <= now)


def take(session: Session, row: LeasedRow, now: datetime) -> Lease | None:
    """Return the lease of a stored row, one attempt more; ``None`` while a worker has it."""
    # Of two who read it at once the second gets nothing, even where the first is done with it.
    attempt = row.attempt
    session.refresh(row, with_for_update=True)
    if row.attempt != attempt or (row.state == ASKING and not is_abandoned(row, now)):
        return None
    row.state, row.attempt, row.alive_until = ASKING, row.attempt + 1, now + LEASE_TIME
    session.flush()
    return Lease(type(row), tuple(inspect(row).identity), row.attempt)


def renew(session: Session, leases: Iterable[Lease], now: datetime) -> None:
    """Renew leases; one that another worker took over stays as it is."""
    for lease in leases:
        table = inspect(lease.table)
        key = zip(table.primary_key, lease.key, strict=True)
        session.execute(
            update(lease.table)
            .where(*(column == value for column, value in key))
            .where(table.columns.state == ASKING, table.columns.attempt == lease.attempt)
            .values(alive_until=now + LEASE_TIME)
        )


def lock_row(session: Session, table: type[RowT], lease: Lease) -> RowT | None:
    """Return the row of a lease, locked; ``None`` where the lease was lost and taken over."""
    # Read again, since the session's object may be older than the lock.
    row = session.get(table, lease.key, populate_existing=True, with_for_update=True)
    if row is None or (row.state, row.attempt) != (ASKING, lease.attempt):
        return None
    return row


def give_back(row: LeasedRow, state: str) -> None:
    """End the work on a row, which is in `state` from now on."""
    row.state, row.alive_until = str(state), None


POLL_SECONDS = 1.0
"""Seconds until a thread that waits for others' leases looks again."""


CallT = TypeVar("CallT")
"""Everything that a piece of work needs, with the ``lease`` of its row."""
OutcomeT = TypeVar("OutcomeT")


class Idle(StrEnum):
    """Why nothing was claimed: look again in a while, or this kind of work is done for now."""

    RETRY = "retry"
    DONE = "done"


class OutsideWork(ABC, Generic[CallT, OutcomeT]):
    """One kind of work: which piece is next, how it is done, and how its outcome is stored."""

    @abstractmethod
    def claim(self, session: Session, now: datetime) -> CallT | Idle:
        """Return the next call, its lease taken; else why there is none."""

    @abstractmethod
    def ask(self, call: CallT) -> OutcomeT:
        """Return the outcome of a call, also of one that failed; no transaction is open."""

    @abstractmethod
    def store(self, session: Session, call: CallT, outcome: OutcomeT, now: datetime) -> None:
        """Store an outcome, if the lease is still good."""

    @abstractmethod
    def unforeseen(self, error: Exception) -> OutcomeT:
        """Return the outcome of a call that ended with a fault of this program."""


class WorkLoop:
    """Threads of this process that do work, each a piece at a time, until there is no more."""

    def __init__(
        self,
        writing: Callable[[], AbstractContextManager[Session]],
        now: Callable[[], datetime],
        logger: Logger,
    ) -> None:
        self._writing, self._now, self._logger = writing, now, logger
        self._changed = Condition()
        self._threads: Counter[OutsideWork[Any, Any]] = Counter()
        self._leases: set[Lease] = set()
        self._wakes = 0
        self._is_beating = self._is_closing = False
        self.n_stored = 0
        """The number of outcomes that were stored."""
        self.failure: Exception | None = None
        """The latest fault of this program, which is in the log."""

    def wake(self, work: OutsideWork[Any, Any], threads: int = 1, *, most: int = 64) -> None:
        """Let so many further threads do `work`, `most` at the same time; returns at once."""
        with self._changed:
            self._wakes += 1
            new = max(0, min(threads, most - self._threads[work]))
            self._threads[work] += new
            begins_to_beat = new > 0 and not self._is_beating
            self._is_beating |= begins_to_beat
        for _ in range(new):
            Thread(target=self._run, args=(work,), name="work", daemon=True).start()
        if begins_to_beat:
            Thread(target=self._beat, name="heartbeat", daemon=True).start()

    def is_idle(self, seconds: float) -> bool:
        """Whether nothing is at work, or not any more within so many seconds."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not (self._is_beating or self._threads.total()), seconds
            )

    def close(self) -> None:
        """Let every thread end after the piece that it does now."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()

    @contextmanager
    def _storing(self) -> Iterator[Session]:
        with self._writing() as session:
            yield session
            session.commit()

    def _run(self, work: OutsideWork[Any, Any]) -> None:
        try:
            wakes_seen = -1
            while self._stays(work, wakes_seen):
                wakes_seen = self._wakes
                while self._step(work):
                    pass
        except Exception as error:
            self._logger.exception("a background thread ended")
            with self._changed:
                self.failure = error
                self._leave(work)

    def _stays(self, work: OutsideWork[Any, Any], wakes_seen: int) -> bool:
        """Whether the thread goes on: somebody woke the loop since it last found nothing to do."""
        with self._changed:
            stays = wakes_seen != self._wakes and not self._is_closing
            if not stays:
                self._leave(work)
            return stays

    def _leave(self, work: OutsideWork[Any, Any]) -> None:
        self._threads[work] -= 1
        self._changed.notify_all()

    def _step(self, work: OutsideWork[Any, Any]) -> bool:
        """Do one piece of work; return whether there may be another one."""
        if self._is_closing:
            return False
        with self._storing() as session:
            call = work.claim(session, self._now())
        if call is Idle.RETRY:
            with self._changed:
                self._changed.wait(POLL_SECONDS)
            return True
        if call is Idle.DONE:
            return False
        with self._changed:
            self._leases.add(call.lease)
        try:
            self._store(work, call, work.ask(call))
        except Exception as error:
            self._logger.exception("a call in the background failed")
            self.failure = error
            self._store(work, call, work.unforeseen(error))
        finally:
            with self._changed:
                self._leases.discard(call.lease)
                self._changed.notify_all()
        return True

    def _store(self, work: OutsideWork[Any, Any], call: Any, outcome: object) -> None:
        with self._storing() as session:
            work.store(session, call, outcome, self._now())
        with self._changed:
            self.n_stored += 1

    def _beat(self) -> None:
        """Renew the leases of all threads, until none is left."""
        while (leases := self._leases_to_renew()) is not None:
            try:
                with self._storing() as session:
                    renew(session, leases, self._now())
            except Exception:
                self._logger.exception("a lease could not be renewed")  # perhaps the next time

    def _leases_to_renew(self) -> tuple[Lease, ...] | None:
        """Return the leases held after the next heartbeat; ``None`` once no thread is left."""
        with self._changed:
            self._changed.wait_for(lambda: not self._threads.total(), HEARTBEAT.total_seconds())
            self._is_beating = self._threads.total() > 0
            self._changed.notify_all()
            return tuple(self._leases) if self._is_beating else None
