"""A command opens the configured database, made where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from webapp.cli.frame import options


def test_a_new_database_is_made_with_a_study_and_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELEVANSI_INSTANCE", str(tmp_path))
    monkeypatch.delenv("RELEVANSI_DATABASE_URL", raising=False)
    with options.reading() as (_, study):
        made = study.id, study.order_secret
    with options.reading() as (_, study):
        assert (study.id, study.order_secret) == made

    assert (tmp_path / "relevansi.sqlite").is_file()


def test_the_moment_of_a_command_states_its_zone() -> None:
    assert options.now().utcoffset() is not None
