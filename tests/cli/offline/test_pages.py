"""The page without a server on the command line: alone, and in the layout of folders."""

from __future__ import annotations

from pathlib import Path

from tests.cli.exports.test_exporting import entries, exported, imported, run_file
from tests.cli.exports.test_rating_files import HYBRID
from tests.cli.relevansi import document, relevansi


def test_a_page_to_rate_on_takes_nobodys_verdicts(tmp_path: Path) -> None:
    (run,) = document(relevansi(tmp_path / "i", "import", HYBRID, "--json"))["runs"]
    refused = relevansi(tmp_path / "i", "export", run["id"], "--format", "html", "--rater", "x")
    given = relevansi(tmp_path / "i", "export", run["id"], "--format", "html")

    assert refused.returncode == 2
    assert given.stdout.startswith("<!doctype html>")
    assert run["id"] not in given.stdout


def test_every_run_of_one_method_and_time_has_a_page_in_the_tree(tmp_path: Path) -> None:
    runs = (run_file(), *(run_file(llm=f"m{n}", results=entries()[:n]) for n in (2, 3)))
    imported(tmp_path / "i", tmp_path / "runs", *runs)

    files = exported(tmp_path / "i", tmp_path / "tree")

    assert sorted(name for name in files if name.endswith(".html")) == [
        "hybrid/evaluation_20260126_141433.html",
        "hybrid/evaluation_20260126_141433_2.html",
        "hybrid/evaluation_20260126_141433_3.html",
    ]
