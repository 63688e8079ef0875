"""Claims about ``relevansi export --format proof-pack`` and ``relevansi verify``."""

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


@pytest.fixture(name="run_id")
def _run_id(tmp_path: Path) -> str:
    with study_in(tmp_path) as (session, study):
        first, _ = rated_study(session, study)
    return first


def exported(tmp_path: Path, *arguments: str) -> Path:
    path = tmp_path / "pack.zip"
    done = relevansi(tmp_path, "export", *arguments, "--format", "proof-pack", "-o", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return path


def verify(folder: Path, path: Path) -> tuple[int, Any]:
    done = relevansi(folder, "verify", path, "--format", "json")
    return done.returncode, json.loads(done.stdout)


def test_the_study_is_packed_without_an_id_and_verified_without_a_database(
    tmp_path: Path, run_id: str
) -> None:
    path = exported(tmp_path)
    first = path.read_bytes()
    elsewhere = tmp_path / "elsewhere"
    found = document(relevansi(elsewhere, "verify", path, "--format", "json"))

    assert not elsewhere.exists()
    assert list(found) == [
        "file", "equal", "fingerprint", "version", "created_at", "study", "rule", "runs",
        "files", "figures", "differences", "left_out", "texts",
    ]  # fmt: skip
    assert (found["equal"], found["rule"], len(found["runs"])) == (True, "majority", 2)
    assert run_id in found["runs"]
    assert found["differences"] == []
    assert exported(tmp_path).read_bytes() == first
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o600


def test_on_a_terminal_a_pack_shows_how_far_it_is(
    tmp_path: Path, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stream, "isatty", lambda _: True)
    path = tmp_path / "pack.zip"
    done = relevansi(tmp_path, "export", run_id, "--format", "proof-pack", "-o", path)

    assert (done.returncode, done.stdout) == (0, "")
    assert "9/9" in done.stderr  # 7 files of the run, the comparisons, the rules
    verified = relevansi(tmp_path, "verify", path)
    assert verified.returncode == 0
    assert "9/9" in verified.stderr


def test_one_run_is_packed_under_the_rule_asked_for(tmp_path: Path, run_id: str) -> None:
    code, found = verify(tmp_path, exported(tmp_path, run_id, "--rule", "adjudicated"))

    assert (code, found["rule"], found["runs"]) == (0, "adjudicated", [run_id])


@pytest.mark.parametrize("language", ["en", "id"])
def test_a_flipped_verdict_exits_1_and_names_the_figures(
    tmp_path: Path, run_id: str, language: str
) -> None:
    path = exported(tmp_path)
    path.write_bytes(
        changed(
            path.read_bytes(),
            "verdicts.csv",
            lambda data: data.replace(b"slug:d,1,1", b"slug:d,1,0", 1),
        )
    )
    done = relevansi(tmp_path, "verify", path, language=language)

    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "majority, figures, mrr, value" in done.stdout
    assert f"runs/{run_id}/figures.json" in done.stdout
    code, found = verify(tmp_path, path)
    assert (code, found["equal"]) == (1, False)
    assert {"kind", "file", "place", "stated", "computed", "source"} == set(found["differences"][0])


def test_a_changed_file_is_shown_line_by_line(tmp_path: Path, run_id: str) -> None:
    path, name = exported(tmp_path), f"runs/{run_id}/qrels.txt"
    lines = members(path.read_bytes())[name].splitlines()
    flipped = lines[0][:-1] + (b"0" if lines[0].endswith(b"1") else b"1")
    path.write_bytes(
        changed(path.read_bytes(), name, lambda data: data.replace(lines[0], flipped, 1))
    )
    done = relevansi(tmp_path, "verify", path)
    code, found = verify(tmp_path, path)

    diff = [f"--- {name}", "+++ study/*.json", "@@ -1,2 +1,2 @@"]
    diff += [f"-{flipped.decode()}", f"+{lines[0].decode()}", f" {lines[1].decode()}"]
    assert (code, found["texts"]) == (1, {name: diff})
    assert "".join(f"    {line}\n" for line in diff) in done.stdout


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"no zip", "not a complete zip"),
        (zipped({"a": b""}), "manifest.json is not at its top"),
        (zipped({"../a": b""}), "leads out of the pack"),
        (zipped({"manifest.json": b"{}"}), "manifest.json cannot be used"),
    ],
)
def test_what_is_no_pack_takes_one_clear_line(tmp_path: Path, data: bytes, word: str) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(data)
    done = relevansi(tmp_path, "verify", path)

    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert word in done.stderr


def test_a_terminal_is_not_steered_by_what_a_pack_holds(tmp_path: Path, run_id: str) -> None:
    assert run_id
    path = exported(tmp_path)
    files = members(path.read_bytes())
    path.write_bytes(zipped({**files, "\x1b[2Jx\u202e": b"", "verdicts.csv": b"\x1b[2J"}))
    done = relevansi(tmp_path, "verify", path)

    assert done.returncode == 1
    assert "\x1b" not in done.stdout + done.stderr
    assert "\u202e" not in done.stdout


def test_other_formats_need_a_run(tmp_path: Path) -> None:
    assert relevansi(tmp_path, "export", "--format", "csv").returncode == 2
    assert relevansi(tmp_path, "export", "--format", "proof-pack", "--excel").returncode == 2


def test_a_study_without_runs_says_so_in_one_line(tmp_path: Path) -> None:
    done = relevansi(tmp_path, "export", "--format", "proof-pack")

    assert (done.returncode, done.stdout) == (1, "")
    assert "This study has no run yet" in done.stderr


def test_the_help_says_what_leaving_out_the_id_does(tmp_path: Path) -> None:
    assert "without ID, of the whole study" in " ".join(
        relevansi(tmp_path, "export", "--help").stdout.split()
    )
