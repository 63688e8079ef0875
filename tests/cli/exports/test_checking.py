"""``relevansi check`` with source files: equal, or the file that differs and what to do."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.judged_runs import HYBRID
from tests.cli.relevansi import document, relevansi


@pytest.fixture(name="source")
def _source(tmp_path: Path) -> Path:
    """A run file in a folder of its own, imported."""
    folder = tmp_path / "data" / "hybrid"
    folder.mkdir(parents=True)
    source = folder / "test_results.json"
    shutil.copy(HYBRID / "test_results.json", source)
    document(relevansi(tmp_path, "import", source, "--json"))
    return source


def test_an_untouched_source_file_is_equal(tmp_path: Path, source: Path) -> None:
    done = relevansi(tmp_path, "check", source.parent.parent)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "Equal: every stored figure is what the judgments make it.",
        "Equal: 1 source file has the SHA-256 that was recorded.",
    ]


@pytest.mark.parametrize(
    ("language", "remedy", "summary"),
    [
        ("en", "Put the original back", "1 source file differs."),
        ("id", "Kembalikan berkas aslinya", "1 berkas asal berbeda."),
    ],
)
def test_a_changed_source_file_is_named_with_its_run_and_a_remedy(
    tmp_path: Path, source: Path, language: str, remedy: str, summary: str
) -> None:
    (run,) = document(relevansi(tmp_path, "runs", "--json"))["runs"]
    source.write_bytes(source.read_bytes() + b"\n")
    done = relevansi(tmp_path, "check", source.parent, language=language)

    assert done.returncode == 1
    (told,) = (line for line in done.stdout.splitlines() if str(source) in line)
    assert f"run {run['id']}" in told
    assert remedy in told
    assert done.stderr == f"relevansi: {summary}\n"


def test_a_file_that_was_never_imported_fails_and_the_recorded_one_is_not_compared(
    tmp_path: Path, source: Path
) -> None:
    other = tmp_path / "other.json"
    other.write_bytes(b"{}")
    done = relevansi(tmp_path, "check", other)

    assert done.returncode == 1
    assert f"{other} is not the file of any run or evaluation" in done.stdout
    assert "Not compared: hybrid/test_results.json of run " in done.stdout
    assert source.is_file()


def test_a_recorded_file_that_is_not_given_is_no_failure(tmp_path: Path, source: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = relevansi(tmp_path, "check", empty)

    assert done.returncode == 0
    assert f"Not compared: hybrid/{source.name} of run " in done.stdout
