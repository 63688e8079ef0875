"""The real errors of a database that is full, locked or gone."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import pytest
from sqlalchemy import select, text

from relevansi.config import sqlite_url
from relevansi.db import patience, soundness
from relevansi.db.engine import Database
from relevansi.db.outages import Outage, WriterBusy, outage
from relevansi.db.tables.study import Study
from tests.conftest import NOW

NOBODY = "postgresql+psycopg://nobody@127.0.0.1:1/nothing"
SHORT_SECONDS = 0.05
BACKEND = text("SELECT pg_backend_pid()")


@pytest.fixture(name="impatient")
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", SHORT_SECONDS)


@pytest.fixture(name="small")
def _small(tmp_path: Path, impatient: None) -> Iterator[Database]:  # noqa: ARG001
    database = Database(sqlite_url(tmp_path / "small.sqlite"))
    database.prepare()
    yield database
    database.close()


def test_a_file_that_may_not_grow_is_full(small: Database) -> None:
    with small.writing() as session:
        session.execute(text("PRAGMA max_page_count = 1"))  # means: no page more than there are
        session.add(Study(name="x" * 100_000, created_at=NOW))

        assert outage_of(session.commit) is Outage.FULL


def test_a_file_that_finds_no_room_is_full_and_one_that_is_not_there_is_no_outage() -> None:
    assert outage(OSError(errno.ENOSPC, "No space left on device")) is Outage.FULL
    assert outage(FileNotFoundError(errno.ENOENT, "No such file or directory")) is None


def test_a_file_that_another_program_writes_is_busy(small: Database) -> None:
    with _another_writes(small), small.writing() as session:
        session.add(Study(name="waits", created_at=NOW))

        assert outage_of(session.commit) is Outage.BUSY


def test_a_writer_does_not_wait_forever_for_the_others_of_its_process(small: Database) -> None:
    with small.writing(), pytest.raises(WriterBusy) as refused, small.writing():
        pass

    assert outage(refused.value) is Outage.BUSY
    with small.writing() as session:  # and the lock is free again
        session.add(Study(name="next", created_at=NOW))
        session.commit()


def test_a_request_shares_one_deadline(small: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr(patience, "monotonic", lambda: 0.02 * next(clock))
    with patience.shared():
        waited = [patience.milliseconds_left() for _ in range(4)]
    monkeypatch.undo()

    assert waited == [30, 10, 1, 1]  # of 50: 20 pass from one look at the clock to the next
    assert patience.seconds_left() == patience.PATIENCE_SECONDS
    assert small.version() is not None


def test_few_wait_behind_a_slow_write(small: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "SLOW_SECONDS", -1.0)
    monkeypatch.setattr(patience, "MOST_BEHIND_SLOW", 0)
    monkeypatch.setattr(small._queue, "lock", _NeverWaitedFor(small._queue.lock))  # type: ignore[union-attr]

    with small.writing(), pytest.raises(WriterBusy), small.writing():
        pass


def test_a_write_grown_slow_refuses(small: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", 20.0)
    monkeypatch.setattr(patience, "SLOW_SECONDS", 0.01)
    monkeypatch.setattr(patience, "MOST_BEHIND_SLOW", 0)

    with small.writing(), patience.shared():
        with pytest.raises(WriterBusy), small.writing():
            pass
        remaining = patience.seconds_left()

    assert remaining > 0


class _NeverWaitedFor:
    def __init__(self, lock: Lock) -> None:
        self.release = lock.release
        self._lock = lock

    def acquire(self, *, blocking: bool = True, timeout: float = -1) -> bool:
        assert not blocking, f"waited for {timeout}"
        return self._lock.acquire(blocking=False)


@pytest.mark.parametrize("spoilt", ["header", "page"])
def test_a_damaged_file_is_called_damaged(tmp_path: Path, spoilt: str) -> None:
    path = tmp_path / "spoilt.sqlite"
    database = Database(sqlite_url(path))
    database.prepare()
    database.close()
    data = bytearray(path.read_bytes())
    start = 0 if spoilt == "header" else 100
    data[start : start + 100] = b"\xaa" * 100
    path.write_bytes(data)

    assert outage_of(database.version) is Outage.DAMAGED
    database.close()


def test_a_file_that_cannot_be_opened_is_away(tmp_path: Path) -> None:
    (tmp_path / "folder.sqlite").mkdir()

    assert outage_of(Database(sqlite_url(tmp_path / "folder.sqlite")).version) is Outage.AWAY


def test_a_server_that_nobody_runs_is_away() -> None:
    assert outage_of(Database(NOBODY).version) is Outage.AWAY


@pytest.mark.usefixtures("impatient")
def test_a_row_that_somebody_keeps_locked_is_busy(postgres: Database) -> None:
    locking = "LOCK TABLE studies IN EXCLUSIVE MODE"
    with postgres.writing() as holder:
        holder.execute(text(locking))
        with postgres.writing() as session:
            assert outage_of(lambda: session.execute(text(locking))) is Outage.BUSY


def test_a_connection_that_is_cut_is_away_and_the_next_one_works(postgres: Database) -> None:
    with postgres.reading() as session:
        backend = session.scalar(BACKEND)
        with postgres.reading() as second:
            second.execute(text(f"SELECT pg_terminate_backend({backend})"))
        assert outage_of(lambda: session.execute(text("SELECT 1"))) is Outage.AWAY

    with postgres.reading() as session:
        assert session.scalar(text("SELECT 1")) == 1


def test_a_read_only_server_is_away_and_its_connection_replaced(postgres: Database) -> None:
    with postgres.writing() as session:
        backend = session.scalar(BACKEND)
        session.execute(text("SET LOCAL transaction_read_only = on"))
        session.add(Study(name="standby", created_at=NOW))

        assert outage_of(session.flush) is Outage.AWAY

    with postgres.writing() as session:
        assert session.scalar(BACKEND) != backend


@pytest.mark.parametrize("question", ["SELECT * FROM nowhere", "SELEC"])
def test_a_question_of_ours_that_is_wrong_is_no_outage(database: Database, question: str) -> None:
    with database.reading() as session:
        assert outage_of(lambda: session.execute(text(question))) is None


def test_an_error_of_another_kind_is_no_outage() -> None:
    assert outage(ValueError("wrong")) is None


def outage_of(action: Callable[[], object]) -> Outage | None:
    with pytest.raises(Exception, match=r".") as failure:
        action()
    return outage(failure.value)


@contextmanager
def _another_writes(database: Database) -> Iterator[None]:
    second_database = Database(str(database.url))
    with second_database.writing() as session:
        session.execute(text("SELECT 1"))
        yield
    second_database.close()


def test_a_text_that_was_overwritten_is_damage_and_check_names_its_table(tmp_path: Path) -> None:
    path = tmp_path / "spoilt.sqlite"
    database = Database(sqlite_url(path))
    database.prepare()
    with database.writing() as session:
        session.add(Study(name="spoilt " * 2_000, created_at=NOW))
        session.commit()
    database.close()
    data = path.read_bytes()
    path.write_bytes(data.replace(b"spoilt spoilt", b"\xff\xfe\xfd\xfc\xff\xfe spoilt"))

    with database.reading() as session:
        assert outage_of(lambda: session.scalars(select(Study.name)).all()) is Outage.DAMAGED
    assert [fault.partition(":")[0] for fault in soundness.faults(database)] == ["studies"]
    database.close()
