from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.relevansi import Stream, document, relevansi
from tests.services.judging.rated_studies import rated_study
from tests.services.proof_packs.packs import changed, members, zipped
from tests.stored_studies import study_in


@pytest.fixture(name="pack", scope="module")
def _pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packed")
    with study_in(folder) as (session, study):
        rated_study(session, study)
    path = folder / "pack.zip"
    process = relevansi(folder, "export", "--format", "proof-pack", "-o", path)
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")
    return path


def verify(folder: Path, path: Path) -> tuple[int, Any]:
    process = relevansi(folder, "verify", path, "--format", "json")
    return process.returncode, json.loads(process.stdout)


def test_a_study_is_packed_and_verified_without_a_database(tmp_path: Path, pack: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    printed = document(relevansi(elsewhere, "verify", pack, "--format", "json"))

    assert not elsewhere.exists()
    assert list(printed) == [
        "file", "equal", "fingerprint", "version", "created_at", "study", "rule", "runs",
        "files", "figures", "differences", "left_out",
    ]  # fmt: skip
    assert (printed["equal"], printed["rule"], len(printed["runs"])) == (True, "majority", 2)
    assert printed["differences"] == []
    if os.name == "posix":
        assert pack.stat().st_mode & 0o777 == 0o600


def test_a_flipped_verdict(tmp_path: Path, pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "flipped.zip"
    flip = lambda data: data.replace(b"slug:d,1,1", b"slug:d,1,0", 1)  # noqa: E731
    path.write_bytes(changed(pack.read_bytes(), "verdicts.csv", flip))
    code, result = verify(tmp_path, path)
    monkeypatch.setattr(Stream, "isatty", lambda _: True)
    process = relevansi(tmp_path, "verify", path, language="id")

    assert (code, result["equal"]) == (1, False)
    assert {"kind", "file", "place", "stated", "computed", "source"} == set(
        result["differences"][0]
    )
    assert process.returncode == 1
    assert "Pemilik,1,2,,slug:d,1,0,," in process.stdout
    assert "16/16" in process.stderr  # 7 files of each run, the comparisons, the rules


@pytest.mark.parametrize("data", [b"no zip", zipped({"../a": b""})])
def test_what_is_no_pack_takes_one_clear_line(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(data)
    process = relevansi(tmp_path, "verify", path)

    assert (process.returncode, process.stdout) == (1, "")
    assert len(process.stderr.splitlines()) == 1


def test_a_terminal_is_not_steered_by_what_a_pack_holds(tmp_path: Path, pack: Path) -> None:
    path = tmp_path / "hostile.zip"
    files = members(pack.read_bytes())
    path.write_bytes(zipped({**files, "\x1b[2Jx\u202e": b"", "verdicts.csv": b"\x1b[2J"}))
    process = relevansi(tmp_path, "verify", path)

    assert process.returncode == 1
    assert "\x1b" not in process.stdout + process.stderr
    assert "\u202e" not in process.stdout


def test_what_cannot_be_packed_says_so_in_one_line(tmp_path: Path) -> None:
    assert relevansi(tmp_path, "export", "--format", "csv").returncode == 2
    assert relevansi(tmp_path, "export", "--format", "proof-pack", "--excel").returncode == 2
    process = relevansi(tmp_path, "export", "--format", "proof-pack")

    assert (process.returncode, process.stdout) == (1, "")
    assert len(process.stderr.splitlines()) == 1
