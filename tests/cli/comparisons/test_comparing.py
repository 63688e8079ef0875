"""``relevansi compare``: the page's comparison as a report, and refusals in one line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from relevansi.records import Relevance
from relevansi.services.judging import judgments
from relevansi.services.study import studies
from tests.cli.rated_files import rated
from tests.cli.relevansi import document, relevansi
from tests.services.runs.runs import card, click, query, run, store
from tests.stored_studies import study_in


@pytest.fixture(name="instance")
def _instance(tmp_path: Path) -> Path:
    """Three runs, the third of other questions; api is 1/1, hybrid 0/1."""
    with study_in(tmp_path) as (session, study):
        owner = studies.raters(session, study)[0]
        for method, slug, verdict in (("api", "a", "1"), ("hybrid", "b", "0")):
            read = run(query(1, card(slug)), method=method)
            run_id = store(session, study, read).id
            judgments.judge(session, owner, run_id, 1, 1, Relevance(verdict), click(slug))
        process = run(query(1, card("c"), text="Quite another"), method="other")
        store(session, study, process)
    return tmp_path


def runs(instance: Path) -> dict[str, str]:
    result = document(relevansi(instance, "runs", "--json"))["runs"]
    return {entry["search_method"]: entry["id"] for entry in result}


def test_the_same_runs_by_name_give_the_same_figures(instance: Path) -> None:
    ids = runs(instance)
    names = ("--runs", ids["api"], ids["hybrid"])

    by_name = relevansi(instance, "compare", *names, "--format", "json")
    by_phase = relevansi(instance, "compare", "--phase", "1", "--format", "json")

    assert by_name.stdout == by_phase.stdout
    assert json.loads(by_name.stdout)["differences"]
    process = relevansi(instance, "compare", "--runs", ids["api"], ids["other"])
    assert process.returncode == 1
    assert "different questions: api: Question 1; other: Quite another" in process.stderr


def test_nothing_is_drawn_so_there_is_no_seed_to_choose(instance: Path) -> None:
    process = relevansi(instance, "compare", "--phase", "1")

    assert process.stdout.startswith(
        "My study · Phase 1: search methods compared\n\n# No answer yet"
    )
    # P@5 of api 1/1, of hybrid 0/1.
    assert re.search(r"\| Precision@5 \| 1\.00 n = 1 \| 0\.00 n = 1 \|", process.stdout)
    assert "seed" not in process.stdout.lower()
    assert relevansi(instance, "compare", "--phase", "1", "--seed", "7").returncode == 2


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--phase", "2"), 1, "A comparison needs two runs of one question set"),
        (("--runs", "x", "y"), 1, "This study has no run x"),
        ((), 2, "Say either --phase, --runs or --input."),
        (("--phase", "1", "--rule", "best of three"), 1, "is not a rule"),
        (("--phase", "9"), 2, "9"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_line(
    instance: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    process = relevansi(instance, "compare", *arguments)

    assert (process.returncode, process.stdout) == (code, "")
    assert words in process.stderr
    assert len(process.stderr.splitlines()) == 1


@pytest.fixture(name="two")
def _two(tmp_path: Path) -> tuple[Path, Path]:
    """Two methods on three questions; hybrid is better on the first two, level on the third."""
    name = "evaluation_rated_20260125.csv"
    hybrid = rated(tmp_path / "hybrid", "5,4,1,,,,,4,", "5,3,1,,,,,3,", "5,2,2,,,,,2,", name=name)
    api = rated(tmp_path / "api_only", "5,2,2,,,,,2,", "5,1,4,,,,,2,", "5,2,2,,,,,2,", name=name)
    return hybrid, api


def test_rated_files_are_compared_by_question_with_their_folders_names(
    tmp_path: Path, two: tuple[Path, Path]
) -> None:
    """P@5 .8 .6 .4 against .4 .2 .4: mean difference .8/3, two wins, a tie; p = 2 of 4 signs."""
    printed = document(relevansi(tmp_path / "i", "compare", "--input", *two, "--format", "json"))

    assert [run["name"] for run in printed["runs"]] == ["Hybrid", "API Only"]
    precision = printed["differences"][0]
    assert precision["mean"] == pytest.approx(4 / 15)
    assert (precision["wins"], precision["ties"], precision["losses"]) == (2, 1, 0)
    assert (precision["n"], precision["p"], precision["exact"]) == (3, 0.5, True)
    assert printed["runs"][0]["figures"]["mrr"]["value"] == pytest.approx(5 / 6)
    assert printed["runs"][0]["categories"]["lokasi"]["mean_precision_at_5"]["n"] == 3
    assert printed["study"] is None
    assert printed["files"] == list(map(str, two))
    assert "another K" in printed["unsaid"][0]
    assert {line["change"] for line in printed["stability"]["lines"]} == {
        "question left out", "empty lists"
    }  # fmt: skip


def test_rated_files_make_the_report_of_a_phase_in_every_format_in_one_call(
    tmp_path: Path, two: tuple[Path, Path]
) -> None:
    formats = ("--format", "markdown", "--format", "latex", "--output", "html")
    call = ("compare", "--phase", "1", "--input", *two, "--names", "Hybrid, API", *formats)

    process = relevansi(tmp_path / "i", *call, "-o", tmp_path / "reports")

    assert (process.returncode, process.stdout) == (0, "")
    written = sorted(path.suffix for path in (tmp_path / "reports").glob("phase1_comparison_*"))
    assert written == [".html", ".md", ".tex"]
    (markdown,) = (tmp_path / "reports").glob("*.md")
    text = markdown.read_text("utf-8")
    assert text.startswith("Phase 1: search methods compared\n\n# No difference between")
    assert "From rated files." in text
    assert "Rated by" not in text
    assert "Hybrid is 0.27 higher than API" in text


def test_a_figure_that_the_counts_leave_open_is_named_with_its_question(
    tmp_path: Path, two: tuple[Path, Path]
) -> None:
    open_one = rated(tmp_path, "5,4,1,,,,,4,", "8,4,1,,,,,3,", "5,2,2,,,,,2,", name="vector.csv")

    process = relevansi(tmp_path / "i", "compare", "--input", two[0], open_one)

    assert "The counts of vector leave Precision@5 open for question 2" in process.stdout
    assert "vector.csv, line 3: the counts leave precision_at_5 open" in process.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--input", "{0}"), "A comparison needs two runs"),
        (("--input", "{0}", "nowhere.csv"), "There is no file nowhere.csv"),
        (("--input", "{0}", "{1}", "--names", "one"), "a name for each of the 2 files"),
        (("--input", "{0}", "{1}", "--rule", "majority"), "merged already"),
        (("--input", "{0}", "{1}", "--runs", "a"), "either --phase, --runs or --input"),
        (("--input", "{0}", "{1}", "--format", "html", "--format", "latex"), "-o FOLDER"),
        (("--input", "{0}", "{1}", "--output", "word", "-o", "x"), "is not a format"),
    ],
)
def test_a_comparison_of_files_that_cannot_be_made_says_why(
    tmp_path: Path, two: tuple[Path, Path], arguments: tuple[str, ...], words: str
) -> None:
    filled = (argument.format(*two) for argument in arguments)

    process = relevansi(tmp_path / "i", "compare", *filled)

    assert process.returncode in {1, 2}
    assert words in process.stderr


def test_output_is_a_format_and_any_other_word_a_file(
    tmp_path: Path, two: tuple[Path, Path]
) -> None:
    printed = relevansi(tmp_path / "i", "compare", "--input", *two, "--output", "latex")
    relevansi(tmp_path / "i", "compare", "--input", *two, "--output", tmp_path / "report.md")

    assert "\\documentclass" in printed.stdout or "\\section" in printed.stdout
    assert (tmp_path / "report.md").read_text("utf-8").startswith("Comparison of runs\n\n# ")
