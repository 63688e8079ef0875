"""Of a backup of unknown origin only rows that fit our tables come back."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from relevansi.config import sqlite_url
from relevansi.db import soundness, sqlite_files
from relevansi.db.engine import Database
from relevansi.db.migrations import HEAD
from relevansi.db.tables.judging import Judgment, StoredItem
from relevansi.db.tables.people import Attempt
from relevansi.db.tables.study import Assignment, Study
from relevansi.services.backups import backups, moves
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.judging.rated_studies import rated_study

RUNS = "INSERT INTO attempts (source, at) VALUES ('ran by the file', '2026-01-01 00:00:00')"
SCHEMA = "PRAGMA writable_schema = ON; {}; PRAGMA writable_schema = RESET"
LEFT_BEHIND = {
    "a generated column more": (
        "ALTER TABLE judgments ADD COLUMN evil TEXT AS (upper(verdict)) VIRTUAL"
    ),
    "a null that ours does not allow": SCHEMA.format(
        "UPDATE sqlite_schema SET sql = replace(sql, 'name TEXT NOT NULL', 'name TEXT') "
        "WHERE name = 'raters'"
    ),
    "an index that is missing": "DROP INDEX {index}",
    "a unique index that refuses later rows": "CREATE UNIQUE INDEX evil ON log_entries (subject)",
    "a virtual table": "CREATE VIRTUAL TABLE words USING fts5(body)",
    "a view": "CREATE VIEW people AS SELECT * FROM raters",
    "a trigger that falsifies later verdicts": (
        "CREATE TRIGGER falsify AFTER INSERT ON judgments "
        "BEGIN UPDATE judgments SET verdict = '1' WHERE id = new.id; END"
    ),
    "a trigger that looks like SQLite's own": (
        f"CREATE TRIGGER own AFTER UPDATE ON alembic_version BEGIN {RUNS}; END; "
        + SCHEMA.format(
            "UPDATE sqlite_schema SET name = 'sqlite_stat_zz', "
            "sql = replace(sql, 'own', 'sqlite_stat_zz') WHERE name = 'own'"
        )
    ),
}
REFUSED = {
    "a virtual table in the place of a table": (
        "DROP TABLE assignments; CREATE VIRTUAL TABLE assignments USING fts5("
        + ", ".join(column.name for column in Assignment.__table__.columns)
        + ")"
    ),
    "a column less": "ALTER TABLE studies DROP COLUMN guidelines",
    "a computed column in the place of a stored one": (
        "ALTER TABLE studies DROP COLUMN guidelines; "
        "ALTER TABLE studies ADD COLUMN guidelines TEXT AS (upper(name)) VIRTUAL"
    ),
    "a value that every row shares": (
        "ALTER TABLE results DROP COLUMN card; "
        f"""ALTER TABLE results ADD COLUMN card JSON NOT NULL DEFAULT '"{"x" * 200_000}"'"""
    ),
    "a verdict that is none": "UPDATE judgments SET verdict = 'yes'",
    "a text in the place of a number": "UPDATE results SET rank = 'first' WHERE id = 1",
    "a text longer than its column": "UPDATE events SET event_id = event_id || hex(zeroblob(99))",
    "a text that is none": "UPDATE studies SET guidelines = CAST(x'ff' AS TEXT)",
    "a moment that is none": "UPDATE studies SET created_at = 'soon'",
    "a reference to nothing": (
        "PRAGMA foreign_keys = OFF; "
        "UPDATE judgments SET rater_id = 12345 WHERE rowid = (SELECT min(rowid) FROM judgments)"
    ),
    "no version of the tables": "DELETE FROM alembic_version",
    "a JSON text that is none": "UPDATE judged_items SET card = '{' WHERE card IS NOT NULL",
    "a null where there is a value": SCHEMA.format(
        "UPDATE sqlite_schema SET sql = replace(sql, 'name TEXT NOT NULL', 'name TEXT') "
        "WHERE name = 'raters'"
    )
    + "; UPDATE raters SET name = NULL",
}


@pytest.fixture(name="study_file", scope="module")
def _study_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "study.sqlite"
    second_database = Database(sqlite_url(path))
    second_database.prepare()
    with second_database.writing() as session:
        rated_study(session, studies.open_or_make(session, NOW))
        session.commit()
    second_database.close()
    sqlite_files.close(path)
    return path


@pytest.fixture(name="content")
def _content(study_file: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(study_file, tmp_path / "content.sqlite"))


def test_of_a_backup_only_rows_come_back_and_nothing_in_it_runs(
    database: Database, content: Path
) -> None:
    for script in LEFT_BEHIND.values():
        forge(content, script)
    file = written(content.with_name("forged.backup"), content)

    backups.restore(database, file, NOW, replace=True, as_superuser=True)

    assert soundness.faults(database) == []
    with database.reading() as session:
        assert session.query(Judgment).count() > 0
        assert session.query(Attempt).count() == 0
    if database.is_sqlite:
        assert schema(Path(database.description)) == schema_of_ours(content.with_name("x.sqlite"))


@pytest.mark.parametrize("forgery", REFUSED)
def test_a_backup_with_what_no_table_of_ours_holds_is_refused(content: Path, forgery: str) -> None:
    """It is refused by what is in it, so the engine that it would go into does not matter."""
    forge(content, REFUSED[forgery])
    file = written(content.with_name("forged.backup"), content)
    here = content.with_name("here.sqlite")
    here.write_bytes(b"the database that is here")
    database = Database(sqlite_url(here))

    with pytest.raises(backups.DamagedBackup):
        backups.restore(database, file, NOW, replace=True)

    assert here.read_bytes() == b"the database that is here"
    assert sorted(path.name for path in here.parent.iterdir()) == [
        "content.sqlite", "forged.backup", "here.sqlite"
    ]  # fmt: skip


def test_what_an_older_backup_holds_comes_through_the_migrations(
    database: Database, tmp_path: Path
) -> None:
    """Its rows go into tables of its own version, without a column that came later.

    One of them has another name now, and is counted by the one it had.
    """
    content = tmp_path / "older.sqlite"
    older = Database(sqlite_url(content))
    older.upgrade("0029")
    older.close()
    with closing(sqlite3.connect(content)) as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(studies)")]
        assert "kind" not in columns
        connection.execute(
            "INSERT INTO studies (id, name, allow_bulk, show_pictures, order_seed,"
            " shuffle_questions, figures, repeat_percent, guidelines, created_at)"
            " VALUES (7, 'Older', 0, 0, 0, 0, 'all', 5, '', '2026-01-01 00:00:00')"
        )
        connection.execute("INSERT INTO properties (id, identity) VALUES (1, 'slug:a')")
        connection.commit()
    forge(content, f"CREATE TRIGGER evil AFTER UPDATE ON alembic_version BEGIN {RUNS}; END")
    counts = {"studies": 1, "properties": 1}
    file = written(tmp_path / "older.backup", content, schema_version="0029", counts=counts)

    backups.restore(database, file, NOW, replace=True, as_superuser=True)

    with database.reading() as session:
        study = session.get_one(Study, 7)
        assert (study.name, session.query(Attempt).count()) == ("Older", 0)
        assert session.query(StoredItem).count() == 1


def written(file: Path, content: Path, **statement: Any) -> Path:
    opened = Database(sqlite_url(content))
    with opened.reading() as session:
        counts = moves.counts(session)
    opened.close()
    data = content.read_bytes()
    about = {
        "kind": backups.KIND,
        "product": "1.0",
        "engine": "sqlite",
        "schema_version": HEAD,
        "created_at": NOW.isoformat(),
        "size": len(data),
        "counts": counts,
    }
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(backups.ABOUT, json.dumps(about | statement))
        archive.writestr(backups.CONTENT, data)
    return file


def forge(content: Path, script: str) -> None:
    with closing(sqlite3.connect(content)) as connection:
        (index,) = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
        ).fetchone()
        before = connection.total_changes
        connection.executescript(script.replace("{index}", index))
        connection.commit()
        assert connection.total_changes > before or not script.startswith("UPDATE")


def schema(file: Path) -> set[tuple[str, str, str]]:
    with closing(sqlite3.connect(file)) as connection:
        return set(connection.execute("SELECT type, name, sql FROM sqlite_schema"))


def schema_of_ours(file: Path) -> set[tuple[str, str, str]]:
    second_database = Database(sqlite_url(file))
    second_database.prepare()
    second_database.close()
    return schema(file)


@pytest.mark.parametrize("step", ["link", "replace"])
def test_a_restore_cut_off_at_any_step_leaves_a_whole_database(
    tmp_path: Path, content: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    class Cut(BaseException):
        """The power goes."""

    def cut(*_arguments: object) -> None:
        raise Cut

    database = Database(sqlite_url(tmp_path / "study.sqlite"))
    database.prepare()
    with database.writing() as session:
        session.add(StoredItem(identity="slug:here"))
        session.commit()
    database.close()
    file = written(tmp_path / "sound.backup", content)
    target = os if step == "link" else Path
    monkeypatch.setattr(target, step, cut)
    with pytest.raises(Cut):
        backups.restore(database, file, NOW, replace=True)
    monkeypatch.undo()

    database.prepare()
    with database.reading() as session:
        assert session.scalars(select(StoredItem.identity)).all() == ["slug:here"]
    database.close()
