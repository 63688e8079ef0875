"""A SQLite database as a file: copied while it is open, put in place, and kept from others."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from webapp.db import sqlite_files


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    path = tmp_path / "study.sqlite"
    write(path, "CREATE TABLE said (word TEXT)", "INSERT INTO said VALUES ('here')")
    return path


def test_a_copy_has_what_was_written_while_somebody_has_the_file_open(
    file: Path, tmp_path: Path
) -> None:
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


def test_the_earlier_database_is_kept_beside_the_one_put_in_its_place(
    file: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.sqlite"
    write(other, "CREATE TABLE said (word TEXT)", "INSERT INTO said VALUES ('there')")
    kept = tmp_path / f"study.{sqlite_files.KEPT}-1.sqlite"

    sqlite_files.put(other, file, kept)

    assert (words(file), words(kept)) == (["there"], ["here"])
    assert sqlite_files.kept_beside(file) == [kept]


def test_a_file_that_somebody_has_open_is_not_replaced(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    write(other, "CREATE TABLE said (word TEXT)")
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("SELECT * FROM said").fetchall()
        with pytest.raises(sqlite_files.DatabaseInUse):
            sqlite_files.put(other, file, None)

    assert words(file) == ["here"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_a_new_file_is_closed_to_other_users(tmp_path: Path) -> None:
    path = tmp_path / "study.sqlite"
    sqlite_files.make_private(path)
    assert path.stat().st_mode & 0o777 == 0o600

    path.chmod(0o644)
    sqlite_files.make_private(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_database_is_deleted_with_its_companions(file: Path) -> None:
    for ending in sqlite_files.COMPANIONS:
        Path(f"{file}{ending}").touch()

    sqlite_files.delete(file)

    assert list(file.parent.iterdir()) == []


def test_folders_of_work_that_was_cut_off_are_found(file: Path, tmp_path: Path) -> None:
    assert sqlite_files.cut_off_beside(file) == []
    (tmp_path / f".{file.name}.x1").mkdir()

    assert sqlite_files.cut_off_beside(file) == [tmp_path / f".{file.name}.x1"]


def write(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def words(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return [row[0] for row in connection.execute("SELECT word FROM said")]
