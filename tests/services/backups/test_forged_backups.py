"""A backup that was changed by somebody who means harm is refused, and nothing is replaced."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import NOW
from tests.services.backups.backup_files import written
from tests.services.backups.full_database import fill
from tests.services.judging.rated_studies import rated_study
from webapp.config import sqlite_url
from webapp.db import sqlite_files
from webapp.db.engine import Database
from webapp.db.tables.judging import Property
from webapp.services.backups import backups, refusals
from webapp.services.study import studies

FORGERIES = {
    "a trigger that falsifies later verdicts": (
        "CREATE TRIGGER evil AFTER INSERT ON judgments "
        "BEGIN UPDATE judgments SET verdict = '1' WHERE id = new.id; END"
    ),
    "a trigger with one of our own names": (
        "CREATE TRIGGER judgments_check BEFORE DELETE ON events BEGIN SELECT RAISE(IGNORE); END"
    ),
    "a view": "CREATE VIEW evil AS SELECT * FROM raters",
    "a view in the place of a table": (
        "ALTER TABLE assignments RENAME TO kept; CREATE VIEW assignments AS SELECT * FROM kept"
    ),
    "a table of somebody else": "CREATE TABLE evil (id INTEGER PRIMARY KEY)",
    "a virtual table": "CREATE VIRTUAL TABLE evil USING fts5(words)",
    "an index on an expression": "CREATE INDEX evil ON raters (abs(id))",
    "a unique index that refuses later rows": ("CREATE UNIQUE INDEX evil ON log_entries (subject)"),
    "an index that is missing": "DROP INDEX {index}",
    "a column more": "ALTER TABLE studies ADD COLUMN evil TEXT",
    "a column less": "ALTER TABLE studies DROP COLUMN guidelines",
    "a default that is another": (
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, "
        "'VARCHAR(16)', 'VARCHAR(16) DEFAULT 1') WHERE name = 'judgments'; "
        "PRAGMA writable_schema = RESET"
    ),
    "a generated column": (
        "ALTER TABLE judgments ADD COLUMN evil TEXT AS (upper(verdict)) VIRTUAL"
    ),
    "a verdict that is none": "UPDATE judgments SET verdict = 'yes'",
    "a state that is none": "UPDATE queries SET state = 'fine'",
    "a quality outside 0 to 5": "UPDATE query_ratings SET quality = 9",
    "a text in the place of a number": "UPDATE results SET rank = 'first' WHERE id = 1",
    "a text longer than its column": "UPDATE events SET event_id = event_id || hex(zeroblob(99))",
    "a moment that is none": "UPDATE studies SET created_at = 'soon'",
    "a reference to nothing": (
        "PRAGMA foreign_keys = OFF; "
        "UPDATE judgments SET rater_id = 12345 WHERE rowid = (SELECT min(rowid) FROM judgments)"
    ),
    "a version of the tables that is another": "UPDATE alembic_version SET version_num = '0001'",
    "no version of the tables": "DELETE FROM alembic_version",
    "a JSON text that is none": "UPDATE judged_things SET card = '{' WHERE card IS NOT NULL",
    "a null where there is a value": (
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, "
        "'name TEXT NOT NULL', 'name TEXT') WHERE name = 'raters'; "
        "PRAGMA writable_schema = RESET"
    ),
}


@pytest.fixture(name="study_file", scope="module")
def _study_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rated study as one file."""
    path = tmp_path_factory.mktemp("study") / "study.sqlite"
    made = Database(sqlite_url(path))
    made.prepare()
    with made.writing() as session:
        rated_study(session, studies.open_or_make(session, NOW))
        session.commit()
    made.close()
    sqlite_files.close(path)
    return path


@pytest.fixture(name="content")
def _content(study_file: Path, tmp_path: Path) -> Path:
    """A copy of it to be forged."""
    return Path(shutil.copy(study_file, tmp_path / "content.sqlite"))


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_backup_is_refused(content: Path, forgery: str) -> None:
    """It is refused by what is in it, so the engine that it would go into does not matter."""
    script = FORGERIES[forgery]
    with closing(sqlite3.connect(content)) as connection:
        (index,) = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
        ).fetchone()
        before = connection.total_changes
        connection.executescript(script.replace("{index}", index))
        connection.commit()
        assert connection.total_changes > before or not script.startswith("UPDATE")
    file = written(content.with_name("forged.backup"), content)
    here = content.with_name("here.sqlite")
    here.write_bytes(b"the database that is here")
    database = Database(sqlite_url(here))

    with pytest.raises((refusals.ForeignBackup, refusals.DamagedBackup)):
        backups.restore(database, file, NOW, replace=True)

    assert here.read_bytes() == b"the database that is here"
    assert sorted(path.name for path in here.parent.iterdir()) == [
        "content.sqlite", "forged.backup", "here.sqlite"
    ]  # fmt: skip


def test_what_is_not_forged_comes_back(database: Database, content: Path) -> None:
    """The same file without a forgery is taken, so that the refusals above mean something."""
    file = written(content.with_name("sound.backup"), content)

    restored = backups.restore(database, file, NOW, replace=True, as_superuser=True)

    assert restored.about.counts["judgments"] > 0


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
        fill(session)
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
        assert session.query(Property).count() == 3
    database.close()
