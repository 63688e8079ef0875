"""A run is deleted from the terminal, after its owner has read what goes and what stays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.relevansi import document, relevansi

ANSWER = "1. **[Rumah A](https://listing.example/properti/rumah-a)**\n   💰 Rp 1.000.000.000"


@pytest.fixture(name="run")
def _run(tmp_path: Path) -> str:
    """The ID of a run of one question."""
    answer = {"query_id": 1, "question": "Rumah?", "category": "location", "response": ANSWER}
    content = {"search_method": "hybrid", "results": [{**answer, "results_count": 1}]}
    path = tmp_path / "test_results.json"
    path.write_text(json.dumps(content), "utf-8")
    (run,) = document(relevansi(tmp_path, "import", path, "--json"))["runs"]
    return str(run["id"])


def runs(folder: Path) -> list[str]:
    return [run["id"] for run in document(relevansi(folder, "runs", "--json"))["runs"]]


def test_a_run_is_deleted_after_it_is_said_what_goes_and_what_stays(
    tmp_path: Path, run: str
) -> None:
    done = relevansi(tmp_path, "delete-run", run, "--yes")

    assert done.returncode == 0, done.stderr
    assert f"{run} (hybrid, -). What goes: the run with its 1 question; " in done.stderr
    assert "What stays: 0 judgments on properties" in done.stderr
    assert f"{run} (hybrid, -) is deleted. The file can be imported again." in done.stdout
    assert runs(tmp_path) == []


def test_without_a_yes_nothing_is_deleted(
    tmp_path: Path, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: Iterator[str | EOFError] = iter(["n", EOFError()])

    def answer(_prompt: str = "") -> str:
        given = next(answers)
        if isinstance(given, EOFError):
            raise given
        return given

    monkeypatch.setattr("click.termui.visible_prompt_func", answer)
    refused = relevansi(tmp_path, "delete-run", run)
    unanswered = relevansi(tmp_path, "delete-run", run)

    for done in (refused, unanswered):
        assert done.returncode == 1
        assert done.stderr.endswith("Nothing is deleted; --yes deletes without asking.\n")
    assert runs(tmp_path) == [run]


def test_a_run_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = relevansi(tmp_path, "delete-run", "nothing", "--yes")

    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "nothing" in done.stderr
    assert "`relevansi runs` lists them." in done.stderr
