from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from relevansi.config import resource
from relevansi.importers.runs import json_runs
from tests.cli.relevansi import document, relevansi
from tests.services.exports.offline_files import change, ratings

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
    printed = document(relevansi(tmp_path / "i", "import", rated, HYBRID, "--json"))

    (run,), (entry,) = printed["runs"], printed["ratings"]
    assert (entry["run"], entry["rater"], entry["rater_is_new"]) == (run["id"], "Ani", True)
    assert (entry["verdicts"], entry["qualities"], entry["new_changes"]) == (2, 1, 3)
    assert relevansi(tmp_path / "i", "check").stdout.startswith("Equal")


def other_file(path: Path, name: str = "later.json", rater: str = "Ani") -> Path:
    """Return a file of a second device: card 1 is not relevant, card 3 is, the quality is 4."""
    changes = (
        change(7, 1, "relevance", "0", rank=1, minute=30),
        change(8, 1, "relevance", "1", rank=3, minute=31),
        change(9, 1, "quality", 4, minute=32),
    )
    (path / name).write_bytes(ratings(READ, *changes, device="laptop", rater=rater))
    return path / name


def first_three(instance: Path, rater: str) -> list[int | str | None]:
    """Return the verdicts of `rater` on the first three cards of question 1."""
    (run,) = document(relevansi(instance, "runs", "--json"))["runs"]
    arguments = ("export", run["id"], "--rater", rater, "--format", "json")
    results = document(relevansi(instance, *arguments))["queries"][0]["results"]
    return [card["relevance"] for card in results[:3]]


def test_a_file_in_the_owners_name_changes_nothing_until_the_name_is_said(tmp_path: Path) -> None:
    instance, attack = tmp_path / "i", tmp_path / "from a stranger.json"
    relevansi(instance, "import", HYBRID)
    (owner,) = (
        rater["name"] for rater in document(relevansi(instance, "raters", "--json"))["raters"]
    )
    first = tmp_path / "own.json"
    first.write_bytes(ratings(READ, *CHANGES, rater=owner))
    assert relevansi(instance, "import", first, "--rater", owner).returncode == 0

    other_file(tmp_path, attack.name, owner.upper())
    refused = relevansi(instance, "import", attack)

    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"{owner}: 3 new changes" in refused.stderr
    assert "Verdict: 1 new, 1 changed, 0 the same" in refused.stderr
    assert "Quality: 0 new, 0 changed, 1 the same" in refused.stderr
    assert "here Relevant, in the file Not relevant" in refused.stderr
    assert first_three(instance, owner) == [1, 0, None]
    last = refused.stderr.splitlines()[-1]
    assert last.startswith("relevansi: from a stranger.json: Nothing of it is stored:")
    _, _, command = last.partition(": relevansi ")
    assert shlex.split(command) == ["import", str(attack), "--rater", owner]

    stored = relevansi(instance, *shlex.split(command))
    assert stored.returncode == 0
    assert f"{owner}: 3 new changes; verdicts: 2" in stored.stdout
    assert first_three(instance, owner) == [0, 0, 1]
    assert relevansi(instance, "import", attack).returncode == 0  # nothing in it is new by now


def test_a_refusal_says_in_json_what_would_change(tmp_path: Path, rated: Path) -> None:
    relevansi(tmp_path / "i", "import", HYBRID, rated)
    process = relevansi(tmp_path / "i", "import", other_file(tmp_path), "--json")

    assert process.returncode == 1
    (entry,) = json.loads(process.stdout)["ratings"]
    assert (entry["stored"], entry["needs_confirmation"], entry["new_changes"]) == (False, True, 3)
    result = {when: (of["verdicts"], of["qualities"]) for when, of in entry["effects"].items()}
    assert result == {"new": (1, 0), "changed": (1, 0), "same": (0, 1)}
    assert "--rater Ani" in process.stderr


def test_the_rater_can_be_named_and_the_run_has_to_be_there(tmp_path: Path, rated: Path) -> None:
    process = relevansi(tmp_path / "i", "import", rated)
    assert (process.returncode, process.stdout) == (1, "")
    assert "Import its run file first" in process.stderr

    arguments = ("import", HYBRID, rated, "--rater", "Budi", "--json")
    (entry,) = document(relevansi(tmp_path / "i", *arguments))["ratings"]
    assert entry["rater"] == "Budi"


def test_a_broken_file_of_ratings_says_where(tmp_path: Path, rated: Path) -> None:
    rated.write_bytes(rated.read_bytes()[:-20])
    process = relevansi(tmp_path / "i", "import", rated, "--json")

    assert process.returncode == 1
    (entry,) = json.loads(process.stdout)["ratings"]
    assert [problem["code"] for problem in entry["problems"]] == ["json_broken"]
