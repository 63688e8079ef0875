from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from relevansi.cli.frame import serving
from relevansi.config import Settings, sqlite_url
from relevansi.db.engine import Database
from tests.cli.relevansi import environment, relevansi
from tests.services.judging.rated_studies import rated_study
from tests.services.other_database import on_postgres
from tests.stored_studies import folder_made_once, study_in


@folder_made_once
def rated_instance(tmp_path: Path) -> None:
    with study_in(tmp_path / "instance") as (session, study):
        rated_study(session, study)


@pytest.fixture(name="instance")
def _instance(tmp_path: Path) -> Path:
    rated_instance(tmp_path)
    return tmp_path / "instance"


def test_nothing_is_overwritten_without_being_told(instance: Path, tmp_path: Path) -> None:
    file = tmp_path / "study.backup"
    saved = relevansi(instance, "backup", file)
    again = relevansi(instance, "backup", file)
    back = relevansi(instance, "restore", file)
    process = relevansi(instance, "restore", file, "--replace")

    assert (saved.returncode, process.returncode) == (0, 0)
    assert "2 runs, 2 raters" in saved.stdout
    assert "2 runs, 2 raters" in process.stdout
    assert again.returncode == back.returncode == 1
    assert "--replace" in again.stderr
    assert "--replace" in back.stderr
    (earlier,) = instance.glob("relevansi.before-restore-*.sqlite")
    assert str(earlier) in process.stdout


def test_a_backup_goes_through_a_pipe(instance: Path, tmp_path: Path) -> None:
    piped = subprocess.run(
        [sys.executable, "-m", "relevansi", "backup", "-"],
        env=environment(instance, "en"),
        capture_output=True,
        timeout=120,
        check=True,
    )
    file = tmp_path / "piped.backup"
    file.write_bytes(piped.stdout)

    assert b"2 runs, 2 raters" in piped.stderr
    assert "2 runs, 2 raters" in relevansi(tmp_path / "other", "restore", file).stdout


def test_what_is_no_backup_takes_one_line(instance: Path, tmp_path: Path) -> None:
    file = tmp_path / "photo.jpg"
    file.write_bytes(b"\xff\xd8")
    process = relevansi(instance, "restore", file, "--replace", language="id")

    assert (process.returncode, process.stdout) == (1, "")
    assert len(process.stderr.splitlines()) == 1
    assert "photo.jpg" in process.stderr


def test_where_nothing_is_there_is_nothing_to_back_up_or_move(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    saved = relevansi(empty, "backup", tmp_path / "x.backup")
    moved = relevansi(empty, "move", sqlite_url(tmp_path / "x.sqlite"))

    assert saved.returncode == moved.returncode == 1
    assert "no database yet" in saved.stderr
    assert "no database yet" in moved.stderr
    assert list(tmp_path.glob("x.*")) == []
    assert not (empty / "relevansi.sqlite").exists()


def test_a_move_says_what_it_moved_and_what_to_set(instance: Path, tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "other.sqlite")
    process = relevansi(instance, "move", url)

    assert process.returncode == 0, process.stderr
    assert "judgments" in process.stdout
    assert f"RELEVANSI_DATABASE_URL={url}" in process.stdout
    again = relevansi(instance, "move", url)
    assert again.returncode == 1
    assert "not empty" in again.stderr


def test_a_move_prints_the_address_to_set_as_it_was_typed(
    instance: Path, postgres: Database
) -> None:
    """With its password, which is part of the setting; here any is let in."""
    on_postgres(postgres, "moved").close()
    target = postgres.url.set(drivername="postgresql", database="moved", password="kata+sandi")
    typed = target.render_as_string(hide_password=False)

    process = relevansi(instance, "move", typed)

    assert process.returncode == 0, process.stderr
    assert process.stdout.endswith(f"RELEVANSI_DATABASE_URL={typed}\n")
    assert ":kata" in typed
    assert (process.stdout + process.stderr).count("kata") == 1


def test_a_move_names_the_server_that_still_uses_the_old_database(
    instance: Path, tmp_path: Path, healthy_port: int
) -> None:
    settings = Settings(sqlite_url(instance / "relevansi.sqlite"), instance)
    here = f"http://127.0.0.1:{healthy_port}/"
    with serving.announced(settings, here, str(instance / "relevansi.sqlite")):
        during = relevansi(instance, "move", sqlite_url(tmp_path / "a.sqlite"))
    after = relevansi(instance, "move", sqlite_url(tmp_path / "b.sqlite"))

    assert during.returncode == after.returncode == 0
    assert f"Relevansi at {here} still uses the old database" in during.stderr
    assert "still uses" not in after.stderr


def test_a_restore_names_the_server_that_uses_the_database(
    instance: Path, tmp_path: Path, healthy_port: int
) -> None:
    database, file = instance / "relevansi.sqlite", tmp_path / "study.backup"
    relevansi(instance, "backup", file)
    here = f"http://127.0.0.1:{healthy_port}/"
    with serving.announced(Settings(sqlite_url(database), instance), here, str(database)):
        with closing(sqlite3.connect(database)) as open_elsewhere:
            open_elsewhere.execute("SELECT count(*) FROM runs").fetchall()
            refused = relevansi(instance, "restore", file, "--replace")
        process = relevansi(instance, "restore", file, "--replace")

    assert (refused.returncode, process.returncode) == (1, 0)
    assert f"{database} is in use by Relevansi at {here}. Stop the server first." in refused.stderr
    assert f"Relevansi at {here} ran during the restore" in process.stderr


@pytest.mark.parametrize("url", ["nowhere", "mysql://host/x", "sqlite://", "sqlite:///{here}"])
def test_a_wrong_address_is_refused(instance: Path, url: str) -> None:
    here = (instance / "relevansi.sqlite").as_posix()
    process = relevansi(instance, "move", url.format(here=here))

    assert (process.returncode, process.stdout) == (2, "")
    assert "DATABASE-URL" in process.stderr
