"""Results of any system by the command: each example, columns, and a kill in the middle."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from relevansi.importers.results.formats import examples
from tests.cli.relevansi import document, environment, relevansi
from tests.services.runs.killed import KILLED_WHILE_STORING
from tests.web.runs.test_results import FOREIGN, together

EACH_TIME = {"table.csv", "qrels.txt"}
"""A run, and grades beside one; by the page every kind of format is imported each time."""
RUN = "q1 Q0 d7 1 2.0 a\nq1 Q0 d2 2 1.0 a\nq1 Q0 d7 1 2.0 b\n"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in EACH_TIME else pytest.mark.thorough)
        for name in sorted(examples())
    ],
)
def test_a_run_of_each_format_has_figures_and_is_known_again(tmp_path: Path, name: str) -> None:
    imported = document(relevansi(tmp_path, "import", *together(name), "--json"))

    assert imported["runs"]
    assert all(run["cards"] and not run["already_imported"] for run in imported["runs"])
    for run in imported["runs"]:
        assert relevansi(tmp_path, "metrics", "--run", run["id"]).returncode == 0
    again = relevansi(tmp_path, "import", *together(name), "--rater", "qrels", "--json")
    assert all(run["already_imported"] for run in document(again)["runs"])


def test_columns_are_named_once_and_remembered(tmp_path: Path) -> None:
    for method in ("a", "b"):
        (tmp_path / f"{method}.csv").write_text(FOREIGN.format(method), "utf-8")
    refused = relevansi(tmp_path, "import", tmp_path / "a.csv")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "Frage, Treffer, Weg" in refused.stderr

    columns = ("--columns", "query=Frage,text=Treffer,system=Weg")
    first = document(relevansi(tmp_path, "import", tmp_path / "a.csv", *columns, "--json"))
    second = document(relevansi(tmp_path, "import", tmp_path / "b.csv", "--json"))
    assert [run["search_method"] for run in first["runs"] + second["runs"]] == ["a", "b"]


def test_documents_with_another_text_are_the_same_ones_where_an_option_says_so(
    tmp_path: Path,
) -> None:
    rows = "query_id,query,doc_id,text,system\nq1,how,d1,Turn the tap {0},{1}\n"
    codes = []
    for text, system, options in (("off", "a", ()), ("on", "b", ("--same-documents",)),
                                  ("out", "c", ())):  # fmt: skip
        (tmp_path / "r.csv").write_text(rows.format(text, system), "utf-8")
        printed = document(relevansi(tmp_path, "import", tmp_path / "r.csv", *options, "--json"))
        codes.append([problem["code"] for problem in printed["problems"]])

    assert codes == [[], ["results_texts_replaced"], ["results_texts_differ"]]


def test_grades_for_a_rater_of_the_study_need_that_rater_s_name(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text(RUN, "utf-8")
    (tmp_path / "qrels.txt").write_text("q1 0 d7 1\n", "utf-8")
    both = (tmp_path / "run.txt", tmp_path / "qrels.txt")
    assert document(relevansi(tmp_path, "import", *both, "--json"))["grades"] == {"qrels": 1}

    refused = relevansi(tmp_path, "import", tmp_path / "qrels.txt")
    assert refused.returncode == 1
    assert len(refused.stderr.splitlines()) <= 2
    process = relevansi(tmp_path, "import", tmp_path / "qrels.txt", "--rater", "qrels")
    assert process.returncode == 0


IMPORTING = f"""{KILLED_WHILE_STORING}
from relevansi.app import create_app
from relevansi.cli import run

run(create_app, sys.argv[1:])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed so on POSIX")
def test_an_import_that_is_killed_leaves_the_database_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text(RUN, "utf-8")
    assert relevansi(tmp_path, "runs").returncode == 0
    before = dump(tmp_path)
    killed = subprocess.run(
        [sys.executable, "-c", IMPORTING, "import", str(tmp_path / "run.txt")],
        env=environment(tmp_path, "en"),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    assert dump(tmp_path) == before

    assert len(document(relevansi(tmp_path, "import", tmp_path / "run.txt", "--json"))["runs"]) == 2


def dump(instance: Path) -> list[str]:
    with closing(sqlite3.connect(instance / "relevansi.sqlite")) as database:
        return list(database.iterdump())
