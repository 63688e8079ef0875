"""The demo's study is kept as the services make it, and outlives changes of version and study."""

from __future__ import annotations

import lzma
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import click
import pytest

from relevansi.cli.frame.demo import prepared_demo
from relevansi.config import sqlite_url
from relevansi.db import sqlite_files
from relevansi.db.engine import Database
from relevansi.db.migrations import HEAD
from relevansi.i18n import speaking
from relevansi.services.study import demos
from tests.demo import made_anew


@pytest.fixture(name="file")
def _file(demo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RELEVANSI_INSTANCE", str(tmp_path))
    return Path(shutil.copy(demo_file, tmp_path / "demo.sqlite"))


def version(file: Path) -> str | None:
    with closing(Database(sqlite_url(file))) as opened:
        return opened.version()


def test_the_demo_of_this_version_opens_without_a_word_and_another_names_the_switch(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.read_bytes()

    prepared_demo()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(demos, "mark", lambda **_: 7)
    prepared_demo()

    assert "relevansi demo --fresh" in capsys.readouterr().err
    assert file.read_bytes() == before


def test_a_demo_of_an_older_version_is_upgraded_and_a_newer_one_made_anew(file: Path) -> None:
    file.unlink()
    with closing(Database(sqlite_url(file))) as opened:
        opened.upgrade("0029")
    prepared_demo()
    assert version(file) == HEAD

    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(click.ClickException, match="relevansi demo --fresh"):
        prepared_demo()
    prepared_demo(fresh=True)
    assert version(file) == HEAD


def rows(file: Path) -> list[str]:
    """Return all that a database holds; SQLAlchemy makes the indexes of a table in any order."""
    with closing(sqlite3.connect(file)) as connection:
        return sorted(connection.iterdump())


def test_the_demo_is_what_the_services_make_of_its_seeds(demo_file: Path, tmp_path: Path) -> None:
    result = made_anew(tmp_path / "made.sqlite")

    assert rows(result) == rows(demo_file), "`nox -s demo` keeps the demos' studies anew"


@pytest.mark.parametrize("language", ["en", pytest.param("id", marks=pytest.mark.thorough)])
def test_that_of_documents_is_what_the_import_makes_of_its_seeds(
    language: str, tmp_path: Path
) -> None:
    with speaking(language):
        result = made_anew(tmp_path / "made.sqlite", documents=True)
        demos.restore(restored := tmp_path / "restored.sqlite", documents=True)

    assert rows(result) == rows(restored), "`nox -s demo` keeps the demos' studies anew"


def test_a_restored_study_is_marked_and_closed_to_other_users(demo_file: Path) -> None:
    assert sqlite_files.marked(demo_file) == demos.mark() > 0
    if os.name == "posix":  # Windows keeps rights in other ways
        assert demo_file.stat().st_mode & 0o077 == 0


def test_a_study_that_cannot_be_read_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cut_off := tmp_path / "study.sqlite.xz").write_bytes(
        demos.packed_study().read_bytes()[:10_000]
    )
    monkeypatch.setattr(demos, "packed_study", lambda **_: cut_off)
    (instance := tmp_path / "instance").mkdir()

    with pytest.raises(lzma.LZMAError):
        demos.restore(instance / "demo.sqlite")

    assert list(instance.iterdir()) == []
