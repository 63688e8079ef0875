"""A study that was restored or moved has the proof pack of the first."""

from __future__ import annotations

from pathlib import Path

from tests.cli.relevansi import document, relevansi
from webapp.config import sqlite_url


def fingerprint(instance: Path) -> str:
    pack = instance / "pack.zip"
    done = relevansi(instance, "export", "--format", "proof-pack", "-o", pack)
    assert done.returncode == 0, done.stderr
    found = document(relevansi(instance, "verify", pack, "--format", "json"))
    assert found["equal"]
    return str(found["fingerprint"])


def test_a_backup_restored_elsewhere_has_the_fingerprint_of_the_first_proof_pack(
    instance: Path, tmp_path: Path
) -> None:
    file = tmp_path / "study.backup"
    relevansi(instance, "backup", file)
    back = relevansi(tmp_path / "elsewhere", "restore", file)

    assert back.returncode == 0, back.stderr
    assert fingerprint(tmp_path / "elsewhere") == fingerprint(instance)


def test_a_moved_study_has_the_fingerprint_of_the_first_proof_pack(
    instance: Path, tmp_path: Path
) -> None:
    done = relevansi(instance, "move", sqlite_url(tmp_path / "other" / "relevansi.sqlite"))

    assert done.returncode == 0, done.stderr
    assert fingerprint(tmp_path / "other") == fingerprint(instance)
