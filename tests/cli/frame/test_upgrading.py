"""Whatever brings an older database to this version computes its stored figures anew."""

from __future__ import annotations

import lzma
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from relevansi.cli.frame.demo import prepared_demo
from relevansi.config import sqlite_url
from relevansi.db.engine import Database
from relevansi.db.migrations import HEAD
from tests.cli.relevansi import relevansi
from tests.db.test_migrations import KEPT
from tests.services.backups.test_forged_backups import written


@pytest.fixture(name="older")
def _older(tmp_path: Path) -> Path:
    """A study of an older version, with figures that its judgments do not make."""
    file = tmp_path / "older.sqlite"
    file.write_bytes(lzma.decompress(KEPT[0].read_bytes()))
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE query_summaries SET relevant_count = judged_count + 1")
    return file


def upgrade(instance: Path, older: Path) -> None:
    shutil.copy(older, instance / "relevansi.sqlite")
    assert relevansi(instance, "upgrade").returncode == 0


def open_demo(instance: Path, older: Path) -> None:
    shutil.copy(older, instance / "demo.sqlite")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELEVANSI_INSTANCE", str(instance))
        prepared_demo()
    shutil.copy(instance / "demo.sqlite", instance / "relevansi.sqlite")


def restore(instance: Path, older: Path) -> None:
    with closing(Database(sqlite_url(older))) as database:
        version = database.version()
    assert version not in {None, HEAD}
    file = written(instance / "older.backup", older, schema_version=version)
    assert relevansi(instance, "restore", str(file)).returncode == 0


@pytest.mark.parametrize("way", [upgrade, open_demo, restore])
def test_figures_of_an_older_version_are_computed_anew(
    way: Callable[[Path, Path], None], older: Path, tmp_path: Path
) -> None:
    (instance := tmp_path / "instance").mkdir()

    way(instance, older)

    with closing(sqlite3.connect(instance / "relevansi.sqlite")) as connection:
        query = "SELECT count(*) FROM query_summaries WHERE relevant_count > judged_count"
        assert connection.execute(query).fetchone() == (0,)
