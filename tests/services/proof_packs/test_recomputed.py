"""The commands of a pack's README give an outsider the figures that the pack states."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import NOW, copied
from tests.services.judging.rated_studies import rated_study
from tests.services.proof_packs.packs import changed, members
from webapp.config import sqlite_url
from webapp.db.engine import Database
from webapp.services.proof_packs import packs
from webapp.services.runs import reports
from webapp.services.runs.reports import Rule
from webapp.services.study import studies


@pytest.fixture(name="database")
def _database(tmp_path: Path, sqlite_template: Path) -> Database:
    database = Database(sqlite_url(tmp_path / "study.sqlite"))
    copied(sqlite_template, database)
    return database


def run_readme(folder: Path, data: bytes) -> subprocess.CompletedProcess[str]:
    """Unpack a pack and run the script that its README holds."""
    for name, content in members(data).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    script = re.search(r"```python\n(.*?)```", members(data)["README.md"].decode(), re.DOTALL)
    assert script is not None
    return subprocess.run(
        [sys.executable, "-c", script[1]],
        cwd=folder, capture_output=True, encoding="utf-8", check=False, timeout=120,
    )  # fmt: skip


def by_command(folder: Path, run: str) -> dict[tuple[str, str], float]:
    """The output of the README's command for a run: the value of each question and measure."""
    asked = f"runs/{run}/qrels.txt", f"runs/{run}/run.txt", "RR P@5"
    done = subprocess.run(
        [sys.executable, "-m", "ir_measures", "--by_query", *asked],
        cwd=folder, capture_output=True, encoding="utf-8", check=True, timeout=120,
    )  # fmt: skip
    cells = (line.split("\t") for line in done.stdout.splitlines())
    return {(query, measure): float(value) for query, measure, value in cells}


def test_ir_measures_agrees_with_cannot_tell(tmp_path: Path, database: Database) -> None:
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        first, _ = rated_study(session, study)
        owner = studies.raters(session, study)[0]
        data = packs.pack(session, study, first, reports.of_rater(owner)).data
    folder = tmp_path / "pack"
    done = run_readme(folder, data)
    database.close()
    assert done.returncode == 0, done.stderr

    # Query 1 (no, yes, cannot tell): RR 1/2 alone. Query 2 (yes, no, yes) and 6 (yes): both.
    assert done.stdout.split(" ", 1)[1].strip() == "equal: {'RR': 3, 'P@5': 2}"
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
        data = packs.pack(session, study, first, Rule("adjudicated")).data
    database.close()
    flip = changed(
        data,
        f"runs/{first}/qrels.txt",
        lambda qrels: qrels.replace(b"2 0 slug:d/1 1", b"2 0 slug:d/1 0"),
    )
    done = run_readme(tmp_path / "pack", flip)

    assert done.returncode != 0
    assert "AssertionError" in done.stderr
