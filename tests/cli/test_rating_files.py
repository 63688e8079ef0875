"""Ratings from a page without a server on the command line, beside their run or alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.relevansi import document, relevansi
from tests.services.offline_files import change, ratings
from webapp.config import resource
from webapp.importers import json_runs

HYBRID = resource("seeds") / "runs" / "hybrid" / "test_results.json"
READ = json_runs.read(HYBRID.name, HYBRID.read_bytes())
CHANGES = (
    change(1, 1, "relevance", "1", rank=1),
    change(2, 1, "relevance", "0", rank=2, minute=1),
    change(3, 1, "quality", 4, minute=2),
)


@pytest.fixture(name="rated")
def _rated(tmp_path: Path) -> Path:
    path = tmp_path / "ratings_Ani.json"
    path.write_bytes(ratings(READ, *CHANGES))
    return path


def test_a_run_and_its_ratings_come_in_together_whatever_their_order(
    tmp_path: Path, rated: Path
) -> None:
    found = document(relevansi(tmp_path / "i", "import", rated, HYBRID, "--json"))

    (run,), (said,) = found["runs"], found["ratings"]
    assert (said["run"], said["rater"], said["rater_is_new"]) == (run["id"], "Ani", True)
    assert (said["verdicts"], said["qualities"], said["new_changes"]) == (2, 1, 3)
    assert relevansi(tmp_path / "i", "check").stdout.startswith("Equal")


def test_what_is_said_otherwise_here_is_told_on_the_second_import(
    tmp_path: Path, rated: Path
) -> None:
    relevansi(tmp_path / "i", "import", HYBRID, rated)
    later = tmp_path / "later.json"
    other = change(9, 1, "relevance", "0", rank=1, minute=30)
    later.write_bytes(ratings(READ, other, device="laptop"))
    done = relevansi(tmp_path / "i", "import", later)

    assert done.returncode == 0
    assert "Ani: 1 new change; verdicts: 1" in done.stdout
    assert "said here 1, in the file 0; the later one stands: 0" in done.stderr


def test_the_rater_can_be_named(tmp_path: Path, rated: Path) -> None:
    arguments = ("import", HYBRID, rated, "--rater", "Budi", "--json")
    (said,) = document(relevansi(tmp_path / "i", *arguments))["ratings"]

    assert said["rater"] == "Budi"


def test_ratings_without_their_run_end_with_1_and_a_remedy(tmp_path: Path, rated: Path) -> None:
    done = relevansi(tmp_path / "i", "import", rated)

    assert done.returncode == 1
    assert "Import its run file first" in done.stderr
    assert done.stdout == ""


def test_a_broken_file_of_ratings_says_where(tmp_path: Path, rated: Path) -> None:
    rated.write_bytes(rated.read_bytes()[:-20])
    done = relevansi(tmp_path / "i", "import", rated, "--json")

    assert done.returncode == 1
    (said,) = json.loads(done.stdout)["ratings"]
    assert [problem["code"] for problem in said["problems"]] == ["json_broken"]


def test_a_page_to_rate_on_takes_nobodys_verdicts(tmp_path: Path) -> None:
    (run,) = document(relevansi(tmp_path / "i", "import", HYBRID, "--json"))["runs"]
    refused = relevansi(tmp_path / "i", "export", run["id"], "--format", "html", "--rater", "x")
    given = relevansi(tmp_path / "i", "export", run["id"], "--format", "html")

    assert refused.returncode == 2
    assert given.stdout.startswith("<!doctype html>")
    assert run["id"] not in given.stdout
