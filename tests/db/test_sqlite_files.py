"""A SQLite database as a file: copied while it is open, put in place, and kept from others."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select

from relevansi.config import sqlite_url
from relevansi.db import sqlite_files
from relevansi.db.engine import Database
from relevansi.db.sqlite_files import FileReplaced
from relevansi.db.tables.judging import StoredItem


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    path = tmp_path / "study.sqlite"
    write(path, "CREATE TABLE said (word TEXT)", "INSERT INTO said VALUES ('here')")
    return path


def test_a_copy_has_what_was_written_while_it_is_open(file: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("INSERT INTO said VALUES ('and in the journal')")
        connection.commit()
        sqlite_files.take(file, tmp_path / "copy.sqlite")

    assert words(tmp_path / "copy.sqlite") == ["here", "and in the journal"]
    assert not list(tmp_path.glob("copy.sqlite-*"))


def test_a_mark_goes_with_every_copy(file: Path, tmp_path: Path) -> None:
    assert sqlite_files.marked(file) == 0
    sqlite_files.set_mark(file, 2**31 - 1)
    sqlite_files.take(file, tmp_path / "copy.sqlite")

    assert sqlite_files.marked(tmp_path / "copy.sqlite") == 2**31 - 1


def test_a_file_that_is_no_database_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "study.sqlite"
    path.write_bytes(b"no database, " * 100)

    with pytest.raises(sqlite_files.DamagedDatabase):
        sqlite_files.check(path)
    assert len(sqlite_files.faults(path, most=5)) == 1


def test_the_earlier_database_stays_beside_the_new(file: Path, tmp_path: Path) -> None:
    newer = tmp_path / "other.sqlite"
    write(newer, "CREATE TABLE said (word TEXT)", "INSERT INTO said VALUES ('there')")
    earlier = tmp_path / f"study.{sqlite_files.KEPT}-1.sqlite"

    sqlite_files.replace_database(newer, file, earlier)

    assert (words(file), words(earlier)) == (["there"], ["here"])
    assert sqlite_files.kept_beside(file) == [earlier]


def test_a_file_that_somebody_has_open_is_not_replaced(file: Path, tmp_path: Path) -> None:
    newer = tmp_path / "other.sqlite"
    write(newer, "CREATE TABLE said (word TEXT)")
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("SELECT * FROM said").fetchall()
        with pytest.raises(sqlite_files.DatabaseInUse):
            sqlite_files.replace_database(newer, file, None)

    assert words(file) == ["here"]


def write(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def words(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return [row[0] for row in connection.execute("SELECT word FROM said")]


@pytest.fixture(name="opened")
def _opened(tmp_path: Path) -> Iterator[Database]:
    database = Database(sqlite_url(tmp_path / "study.sqlite"))
    database.prepare()
    _add(database, "first")
    yield database
    database.close()


def _add(database: Database, identity: str) -> None:
    with database.writing() as session:
        session.add(StoredItem(identity=identity))
        session.commit()


def _identities(database: Database) -> list[str]:
    with database.reading() as session:
        return list(session.scalars(select(StoredItem.identity).order_by(StoredItem.id)))


def _remove(path: Path) -> None:
    for part in ("", "-wal", "-shm"):
        Path(f"{path}{part}").unlink()


def _replace(path: Path) -> None:
    older = path.with_name("older.sqlite")
    shutil.copy(path, older)
    older.replace(path)


def _remove_journal(path: Path) -> None:
    Path(f"{path}-wal").unlink()


@pytest.mark.skipif(os.name != "posix", reason="Windows keeps rights in other ways")
def test_file_journals_and_folder_are_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        database = Database(sqlite_url(tmp_path / "srv" / "deep" / "study.sqlite"))
        database.prepare()
        _add(database, "first")
    finally:
        os.umask(before)
    path = Path(database.description)

    modes = {part.name: part.stat().st_mode & 0o777 for part in path.parent.iterdir()}
    assert modes == {f"study.sqlite{part}": 0o600 for part in ("", "-wal", "-shm")}
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.parent.parent.stat().st_mode & 0o777 == 0o700
    database.close()


@pytest.mark.skipif(os.name != "posix", reason="Windows keeps rights in other ways")
def test_a_file_that_others_could_read_is_closed_to_them_when_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "study.sqlite"
    path.touch(mode=0o644)
    path.chmod(0o644)

    database = Database(sqlite_url(path))
    database.prepare()
    database.close()

    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name != "posix", reason="Windows keeps an open file where it is")
@pytest.mark.parametrize("change", [_remove, _replace, _remove_journal])
def test_a_moved_file_is_not_written(opened: Database, change: Callable[[Path], None]) -> None:
    change(Path(opened.description))

    with pytest.raises(FileReplaced, match=r"study\.sqlite"):
        _add(opened, "second")


@pytest.mark.skipif(os.name != "posix", reason="Windows keeps an open file where it is")
def test_a_file_replaced_while_written_is_noticed(opened: Database) -> None:
    steps: list[str] = []

    def write() -> None:
        with opened.writing() as session:
            session.add(StoredItem(identity="second"))
            session.commit()
            _replace(Path(opened.description))
            steps.append("written")

    with pytest.raises(FileReplaced):
        write()

    assert steps == ["written"]  # so only the look after the commit can have refused


@pytest.mark.skipif(os.name != "posix", reason="Windows keeps an open file where it is")
def test_after_a_restart_the_file_that_is_there_is_used(opened: Database) -> None:
    path = Path(opened.description)
    opened.empty_journal()
    _replace(path)
    opened.close()
    for part in ("-wal", "-shm"):
        Path(f"{path}{part}").unlink(missing_ok=True)

    _add(opened, "second")

    assert _identities(opened) == ["first", "second"]


def test_new_connections_to_the_same_file_are_accepted(opened: Database) -> None:
    for number in range(3):
        opened.engine.dispose()
        _add(opened, f"again {number}")

    assert len(_identities(opened)) == 4
