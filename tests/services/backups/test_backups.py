"""What a backup holds comes back whole; what is no backup, or a damaged one, changes nothing."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from sqlalchemy import func, select, text

from relevansi.config import sqlite_url
from relevansi.db import sqlite_files
from relevansi.db.engine import Database
from relevansi.db.migrations import HEAD
from relevansi.db.tables.base import Base
from relevansi.db.tables.judging import StoredItem
from relevansi.services.backups import backups, moves
from tests.conftest import NOW
from tests.services.backups.full_database import ROWS, fill, fill_catalogue, judged, matches
from tests.services.other_database import on_postgres, on_sqlite


@pytest.fixture(name="second")
def _second(database: Database, tmp_path: Path) -> Iterator[Database]:
    (tmp_path / "elsewhere").mkdir()
    second = on_sqlite(tmp_path / "elsewhere") if database.is_sqlite else on_postgres(database)
    second.close()
    yield second
    second.close()


def restore(
    database: Database, file: Path, now: datetime, *, replace: bool = False
) -> tuple[backups.About, str | None]:
    return backups.restore(database, file, now, replace=replace, as_superuser=True)


def add(database: Database, identity: str) -> None:
    with database.writing() as session:
        session.add(StoredItem(identity=identity))
        session.commit()


def count(database: Database) -> int:
    with database.reading() as session:
        return session.scalar(select(func.count()).select_from(StoredItem)) or 0


def altered(file: Path, **about: Any) -> None:
    with zipfile.ZipFile(file) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files["backup.json"] = json.dumps(json.loads(files["backup.json"]) | about).encode()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def test_a_backup_says_what_it_holds_and_is_for_its_owner_alone(
    database: Database, second: Database, tmp_path: Path
) -> None:
    judged(database)
    file = tmp_path / "study.backup"
    about = backups.back_up(database, file, NOW)

    assert restore(second, file, NOW) == (about, None)

    assert second.version() == HEAD
    assert backups.read(file) == about
    assert (about.schema_version, about.created_at) == (HEAD, NOW)
    assert about.engine == database.url.get_backend_name()
    assert (about.counts["runs"], about.counts["raters"]) == (2, 2)
    if os.name == "posix":
        assert file.stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("crossed", [False, True], ids=["same engine", "other engine"])
def test_every_row_of_every_table_comes_back_and_new_ones_are_numbered_on(
    database: Database, postgres: Database, tmp_path: Path, crossed: bool
) -> None:
    with database.writing() as session:
        fill(session)
        session.commit()
    file = tmp_path / "full.backup"
    about = backups.back_up(database, file, NOW, with_catalogue=True)
    (tmp_path / "elsewhere").mkdir()
    is_sqlite = database.is_sqlite is not crossed
    second = on_sqlite(tmp_path / "elsewhere") if is_sqlite else on_postgres(postgres, "restored")

    restore(second, file, NOW)

    assert about.counts == dict.fromkeys(Base.metadata.tables, ROWS)
    with database.reading() as old, second.reading() as new:
        for table in moves.tables():
            rows = select(table).order_by(*table.primary_key)
            assert new.execute(rows).all() == old.execute(rows).all()
    add(second, "slug:new")
    second.close()


def test_it_is_taken_while_others_write_and_holds_one_moment(
    database: Database, second: Database, tmp_path: Path
) -> None:
    """A writer adds properties in pairs; a backup never holds half a pair."""
    stop = Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            with database.writing() as session:
                session.add(StoredItem(identity=f"a{number}"))
                session.flush()
                session.add(StoredItem(identity=f"b{number}"))
                session.commit()

    writer = Thread(target=write)
    writer.start()
    try:
        files = [tmp_path / f"{number}.backup" for number in range(3)]
        abouts = [backups.back_up(database, file, NOW) for file in files]
    finally:
        stop.set()
        writer.join()
    counts = [about.counts["items"] for about in abouts]

    assert [number % 2 for number in counts] == [0, 0, 0]
    assert counts == sorted(counts)
    assert counts[-1] > 0
    restore(second, files[-1], NOW)
    assert count(second) == counts[-1]


def test_a_database_with_rows_is_kept_beside_when_it_is_replaced(
    database: Database, second: Database, tmp_path: Path
) -> None:
    add(database, "slug:old")
    file = tmp_path / "study.backup"
    backups.back_up(database, file, NOW)
    add(second, "slug:here")
    add(second, "slug:too")
    second.close()
    with pytest.raises(backups.DatabaseNotEmpty):
        restore(second, file, NOW)
    assert count(second) == 2
    second.close()

    _, place = restore(second, file, NOW + timedelta(days=1), replace=True)

    assert count(second) == 1
    assert place is not None
    assert "before-restore-20260302T090000" in place
    if second.is_sqlite:
        old = Database(sqlite_url(Path(place)))
        assert count(old) == 2
        old.close()
    else:
        with second.engine.connect() as connection:
            assert connection.scalar(text(f'SELECT count(*) FROM "{place}".items')) == 2


@pytest.mark.parametrize(
    "data",
    [b"", b"SQLite format 3\0", b"PK\x05\x06" + bytes(18)],
    ids=["empty", "a database", "an empty zip"],
)
def test_another_file_is_no_backup(database: Database, tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "other.zip"
    file.write_bytes(data)

    with pytest.raises(backups.NotABackup):
        restore(database, file, NOW)


@pytest.mark.parametrize("change", ["flipped", "cut", "lying", "changed inside"])
def test_a_damaged_backup_is_refused_and_changes_nothing(
    database: Database, second: Database, tmp_path: Path, change: str
) -> None:
    add(database, "slug:old")
    file = tmp_path / "study.backup"
    backups.back_up(database, file, NOW)
    add(second, "slug:here")
    second.close()
    data = bytearray(file.read_bytes())
    if change == "flipped":
        data[len(data) // 2] ^= 0xFF
        file.write_bytes(data)
    elif change == "cut":
        file.write_bytes(data[: len(data) // 2])
    elif change == "lying":
        altered(file, counts={"runs": 99})
    else:
        altered(file, size=1)

    with pytest.raises((backups.DamagedBackup, backups.NotABackup)):
        restore(second, file, NOW, replace=True)
    assert count(second) == 1
    assert second.version() == HEAD


def test_a_backup_of_a_newer_version_is_refused(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "study.backup"
    backups.back_up(database, file, NOW)
    altered(file, schema_version="9999", product="99.0")

    with pytest.raises(backups.NewerBackup, match=r"99\.0"):
        restore(database, file, NOW, replace=True)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_sqlite_is_not_replaced_under_a_process_that_has_it_open(
    database: Database, tmp_path: Path
) -> None:
    file = tmp_path / "study.backup"
    backups.back_up(database, file, NOW)
    add(database, "slug:here")
    another = Database(sqlite_url(Path(database.description)))
    assert count(another) == 1  # its connection is idle from now on

    with pytest.raises(sqlite_files.DatabaseInUse):
        restore(database, file, NOW, replace=True)
    assert count(another) == 1
    another.close()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_database_too_damaged_to_open_is_kept_and_replaced(
    database: Database, tmp_path: Path
) -> None:
    file = tmp_path / "study.backup"
    backups.back_up(database, file, NOW)
    broken = Database(sqlite_url(tmp_path / "broken.sqlite"))
    Path(broken.description).write_bytes(b"no database at all" * 300)
    with pytest.raises(backups.DatabaseNotEmpty):
        restore(broken, file, NOW)

    _, place = restore(broken, file, NOW, replace=True)

    assert place is not None
    assert Path(place).read_bytes().startswith(b"no database at all")
    assert broken.version() == HEAD
    broken.close()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_damaged_database_is_not_backed_up(database: Database, tmp_path: Path) -> None:
    with database.writing() as session:
        session.add_all(StoredItem(identity=f"slug:{number}" * 20) for number in range(500))
        session.commit()
    database.close()
    damaged = tmp_path / "damaged.sqlite"
    data = bytearray(Path(database.description).read_bytes())
    data[4096 * 20 : 4096 * 200] = os.urandom(4096 * 180)
    damaged.write_bytes(data)
    opened = Database(sqlite_url(damaged))

    with pytest.raises(sqlite_files.DamagedDatabase):
        backups.back_up(opened, tmp_path / "x.backup", NOW)
    assert not (tmp_path / "x.backup").exists()
    opened.close()


@pytest.mark.parametrize("is_stated", [False, True])
def test_a_zip_bomb_fills_no_disk(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_stated: bool
) -> None:
    """Three megabytes do not become three gigabytes, even where the file says so itself."""
    monkeypatch.setattr(backups, "ALWAYS_UNPACKED", backups.PIECE)
    file = tmp_path / "study.backup"
    backups.back_up(database, file, NOW)
    about = json.loads(zipfile.ZipFile(file).read("backup.json"))
    bomb = bytes(backups.ALWAYS_UNPACKED + 2 * backups.PIECE)
    size = {"size": len(bomb) if is_stated else 10}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("backup.json", json.dumps(about | size))
        archive.writestr(backups.CONTENT, bomb)

    with pytest.raises(backups.DamagedBackup, match=r"study\.backup"):
        restore(database, file, NOW, replace=True)


def test_a_superuser_of_postgresql_restores_only_when_told_to(
    postgres: Database, tmp_path: Path
) -> None:
    second = on_postgres(postgres)
    file = tmp_path / "study.backup"
    backups.back_up(second, file, NOW)

    with pytest.raises(backups.RestoresAsSuperuser):
        backups.restore(second, file, NOW, replace=True)
    second.close()


@pytest.mark.parametrize("with_catalogue", [False, True])
def test_a_backup_has_the_catalogue_only_where_that_is_asked(
    database: Database, second: Database, tmp_path: Path, *, with_catalogue: bool
) -> None:
    fill_catalogue(database)
    file = tmp_path / "study.backup"

    backups.back_up(database, file, NOW, with_catalogue=with_catalogue)
    restore(second, file, NOW)

    assert matches(second, "dress") == with_catalogue
    assert matches(database, "dress") == 1
