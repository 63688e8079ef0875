"""The study's settings are shown and changed from the terminal."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import select

from tests.cli.relevansi import document, relevansi
from tests.stored_studies import study_in
from webapp.db.tables.people import LogEntry


def test_cannot_tell_is_set_and_shown(tmp_path: Path) -> None:
    assert document(relevansi(tmp_path, "study", "--json"))["cannot_tell"] == "not_relevant"

    done = relevansi(tmp_path, "study", "--cannot-tell", "left-out")

    assert done.returncode == 0, done.stderr
    assert "left out" in done.stdout
    assert "left_out" in relevansi(tmp_path, "study").stdout
    with study_in(tmp_path) as (session, study):
        assert study.cannot_tell == "left_out"
        assert "set cannot_tell" in session.scalars(select(LogEntry.action)).all()


def test_any_other_way_to_count_is_refused(tmp_path: Path) -> None:
    done = relevansi(tmp_path, "study", "--cannot-tell", "maybe")

    assert done.returncode == 2
    assert "left-out" in done.stderr
