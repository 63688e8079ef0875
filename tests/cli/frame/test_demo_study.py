"""The demo's study is kept as the services make it, and restored as a whole or not at all."""

from __future__ import annotations

import lzma
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.demo import made
from webapp.cli.frame import demo_study
from webapp.db import sqlite_files


def rows(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return list(connection.iterdump())


def test_the_demo_is_what_the_services_make_of_its_seeds(demo_file: Path, tmp_path: Path) -> None:
    found = made(tmp_path / "made.sqlite")

    assert rows(found) == rows(demo_file), "`nox -s demo` keeps the demo's study anew"


def test_a_restored_study_is_marked_and_closed_to_other_users(demo_file: Path) -> None:
    assert sqlite_files.marked(demo_file) == demo_study.mark() > 0
    if os.name == "posix":  # Windows keeps rights in other ways
        assert demo_file.stat().st_mode & 0o077 == 0


def test_a_study_that_cannot_be_read_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cut_off := tmp_path / "study.sqlite.xz").write_bytes(demo_study.kept().read_bytes()[:10_000])
    monkeypatch.setattr(demo_study, "kept", lambda: cut_off)
    (instance := tmp_path / "instance").mkdir()

    with pytest.raises(lzma.LZMAError):
        demo_study.restore(instance / "demo.sqlite")

    assert list(instance.iterdir()) == []
