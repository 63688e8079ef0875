"""The commands of a pack's README give an outsider the figures that the pack states."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import NOW, copied
from tests.services.judging.rated_studies import rated_study
from tests.services.proof_packs.packs import members
from webapp.config import resource, sqlite_url
from webapp.db.engine import Database
from webapp.services.proof_packs import packs
from webapp.services.runs import reports, samples
from webapp.services.runs.reports import Rule
from webapp.services.study import studies


@pytest.fixture(name="database")
def _database(tmp_path: Path, sqlite_template: Path) -> Database:
    database = Database(sqlite_url(tmp_path / "study.sqlite"))
    copied(sqlite_template, database)
    return database


def run_readme(folder: Path, data: bytes) -> str:
    """Unpack a pack, run the script that its README holds; return what it prints."""
    for name, content in members(data).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    script = re.search(r"```python\n(.*?)```", (folder / "README.md").read_text("utf-8"), re.DOTALL)
    assert script is not None
    done = subprocess.run(
        [sys.executable, "-c", script[1]],
        cwd=folder, capture_output=True, encoding="utf-8", check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def by_command(folder: Path, run: str) -> dict[tuple[str, str], float]:
    """The output of the README's command for a run: the value of each question and measure."""
    asked = f"runs/{run}/qrels.txt", f"runs/{run}/run.txt", "RR P@5"
    done = subprocess.run(
        [sys.executable, "-m", "ir_measures", "--by_query", *asked],
        cwd=folder, capture_output=True, encoding="utf-8", check=True, timeout=120,
    )  # fmt: skip
    cells = (line.split("\t") for line in done.stdout.splitlines())
    return {(query, measure): float(value) for query, measure, value in cells}


def test_ir_measures_gives_the_same_reciprocal_ranks_and_precisions_for_the_sample(
    tmp_path: Path, database: Database
) -> None:
    with database.writing() as session:
        study = samples.load(session, resource("seeds"), NOW)
        data = packs.of_study(session, study, reports.rule_of(session, study)).data
    printed = run_readme(tmp_path / "pack", data)
    database.close()

    compared = {line.split()[0]: line for line in printed.splitlines()}
    assert len(compared) == 3
    assert all("'RR': " in line and "'P@5': " in line for line in compared.values())


def test_ir_measures_agrees_where_something_cannot_be_told(
    tmp_path: Path, database: Database
) -> None:
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        first, _ = rated_study(session, study)
        owner = studies.raters(session, study)[0]
        data = packs.of_run(session, study, first, reports.of_rater(owner)).data
    folder = tmp_path / "pack"
    printed = run_readme(folder, data)
    database.close()

    # Query 1 (no, yes, cannot tell): RR 1/2 alone. Query 2 (yes, no, yes) and 6 (yes): both.
    assert printed.split(" ", 1)[1].strip() == "equal: {'RR': 3, 'P@5': 2}"
    if sys.version_info >= (3, 14):
        pytest.skip("the command of ir-measures 0.4.3 needs Python 3.13 or older")
    found = by_command(folder, first)
    assert found["1", "RR"] == 0.5
    assert found["2", "P@5"] * 5 / 3 == pytest.approx(2 / 3)
    assert found["6", "P@5"] * 5 / 1 == 1


def test_the_script_notices_a_pack_that_does_not_follow(tmp_path: Path, database: Database) -> None:
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        first, _ = rated_study(session, study)
        data = packs.of_run(session, study, first, Rule("adjudicated")).data
    database.close()
    folder = tmp_path / "pack"
    run_readme(folder, data)
    qrels = folder / "runs" / first / "qrels.txt"
    before = qrels.read_text("utf-8")
    qrels.write_text(before.replace("2 0 slug:d/1 1", "2 0 slug:d/1 0"), "utf-8")
    script = re.search(r"```python\n(.*?)```", (folder / "README.md").read_text("utf-8"), re.DOTALL)
    assert script is not None
    done = subprocess.run(
        [sys.executable, "-c", script[1]], cwd=folder, capture_output=True, check=False
    )

    assert before != qrels.read_text("utf-8")
    assert done.returncode != 0
    assert b"AssertionError" in done.stderr
