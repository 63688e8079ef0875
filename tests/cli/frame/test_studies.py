"""Commands about one of several studies: --studies DIR and --study NAME, on every command."""

from __future__ import annotations

from pathlib import Path

import pytest

from relevansi.services.folders import folder
from tests.browser.server import HYBRID
from tests.cli.relevansi import document, relevansi
from tests.conftest import NOW


@pytest.fixture(name="studies")
def _studies(tmp_path: Path) -> Path:
    studies = tmp_path / "studies"
    studies.mkdir()
    for name in ("satu", "dua"):
        folder.make(studies, name, None, NOW)
    return studies


def test_a_command_is_about_the_study_that_it_names_and_no_other(
    studies: Path, tmp_path: Path
) -> None:
    satu, dua = (("--studies", studies, "--study", name) for name in ("satu", "dua"))
    assert relevansi(tmp_path, "import", HYBRID, *satu).returncode == 0
    assert relevansi(tmp_path, "token", "new", "--scope", "read", *dua).returncode == 0

    runs = [
        document(relevansi(tmp_path, "runs", "--json", *which))["runs"] for which in (satu, dua)
    ]
    tokens = [
        document(relevansi(tmp_path, "token", "list", "--json", *which))["tokens"]
        for which in (satu, dua)
    ]
    assert [len(listed) for listed in runs] == [1, 0]
    assert [len(listed) for listed in tokens] == [0, 1]
    assert not (tmp_path / "relevansi.sqlite").exists()


def test_a_command_that_names_no_study_lists_them_and_does_nothing(
    studies: Path, tmp_path: Path
) -> None:
    for command in (["import", str(HYBRID)], ["backup", str(tmp_path / "b")], ["runs"]):
        refused = relevansi(tmp_path, *command, "--studies", studies)
        assert refused.returncode == 2
        assert "dua, satu" in refused.stderr
    assert not (studies / ".folder.sqlite").exists()
    assert not (tmp_path / "b").exists()


def test_a_backup_is_restored_as_a_new_study_of_the_folder(studies: Path, tmp_path: Path) -> None:
    here = ("--studies", studies, "--study")
    relevansi(tmp_path, "import", HYBRID, *here, "satu")
    assert relevansi(tmp_path, "backup", tmp_path / "b", *here, "satu").returncode == 0
    assert relevansi(tmp_path, "restore", tmp_path / "b", *here, "tiga").returncode == 0

    assert folder.names(studies) == ["dua", "satu", "tiga"]
    assert len(document(relevansi(tmp_path, "runs", "--json", *here, "tiga"))["runs"]) == 1


def test_upgrade_brings_every_study_of_the_folder_along(studies: Path, tmp_path: Path) -> None:
    upgraded = relevansi(tmp_path, "upgrade", "--studies", studies)

    assert upgraded.returncode == 0
    for name in ("satu", "dua"):
        assert f"{name}.sqlite" in upgraded.stdout


def test_a_name_that_leads_elsewhere_is_refused(studies: Path, tmp_path: Path) -> None:
    refused = relevansi(tmp_path, "runs", "--studies", studies, "--study", "../satu")

    assert refused.returncode == 1
    assert "RELEVANSI_STUDY" in refused.stderr
