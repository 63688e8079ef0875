"""Rated CSVs on the command line: their figures, and files filled in by hand."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.relevansi import Stream, document, relevansi
from webapp.config import resource

HEADER = (
    "query_id,question,category,results_count,relevant_count,first_relevant_rank,"
    "overall_precision,precision_at_5,mrr,success,response_quality,notes\n"
)


def rated(folder: Path, *lines: str, name: str = "rated.csv") -> Path:
    """A rated CSV with `lines`, each from results_count on; questions 1, 2 and so on."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = (f"{n},rumah {n},lokasi,{line}\n" for n, line in enumerate(lines, 1))
    path.write_text(HEADER + "".join(rows), encoding="utf-8")
    return path


# --- Filled in by hand -----------------------------------------------------------------


def test_a_file_filled_in_by_hand_has_figures_and_says_which_it_lacks_and_why(
    tmp_path: Path,
) -> None:
    """P@5 4/5 of the first alone: of 8 with 4 relevant, 1 to 4 are among the first five."""
    path = rated(tmp_path, "5,4,1,,,,,4,", "8,4,1,,,,,3,")

    done = relevansi(tmp_path / "i", "metrics", "--input", path, "--format", "json")
    said = document(done)

    assert (
        said["figures"]["mean_precision_at_5"] | {"n": 1, "value": 0.8}
        == (said["figures"]["mean_precision_at_5"])
    )
    assert said["figures"]["mean_overall_precision"]["value"] == 0.65  # (4/5 + 4/8) / 2
    assert said["figures"]["mrr"]["value"] == said["figures"]["success_rate"]["value"] == 1
    assert said["undefined"] == [{"figure": "precision_at_5", "why": "left_open", "query_ids": [2]}]
    assert "rated.csv, line 3: precision_at_5 is blank" in done.stderr


def test_the_table_says_why_a_figure_has_no_value(tmp_path: Path) -> None:
    path = rated(tmp_path, "8,4,1,,,,,3,", "0,,,,,,,0,no data exists")

    done = relevansi(tmp_path / "i", "metrics", "--input", path)

    said = " ".join(done.stdout.split())
    assert "Precision@5 has no value for question 1: The counts in the file leave it open." in said
    assert "MRR has no value for question 2: There are no results to measure." in said


def test_without_a_file_the_newest_rated_csv_of_the_folder_is_taken_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path / "data" / "evaluation"
    rated(tree / "hybrid", "5,5,1,,,,,4,", name="evaluation_rated_20260123.csv")
    rated(tree / "api_only", "5,2,1,,,,,4,", name="evaluation_rated_20260125.csv")
    rated(tree / "hybrid", "5,1,1,,,,,4,", name="evaluation_template_20260126.csv")
    monkeypatch.chdir(tmp_path)

    done = relevansi(tmp_path / "i", "metrics", "--format", "json")

    assert document(done)["figures"]["mean_precision_at_5"]["value"] == 0.4
    assert "evaluation_rated_20260125.csv is the newest rated CSV here." in done.stderr


@pytest.mark.parametrize(("typed", "code"), [("\n", 0), ("y\n", 0), ("n\n", 2)])
def test_on_a_terminal_the_newest_rated_csv_is_offered_and_not_taken_silently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, code: int
) -> None:
    rated(tmp_path / "data" / "evaluation", "5,2,1,,,,,4,", name="evaluation_rated_20260125.csv")
    monkeypatch.chdir(tmp_path)

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal(typed))
    monkeypatch.setattr(Stream, "isatty", lambda _: True)

    done = relevansi(tmp_path / "i", "metrics", "--format", "json")

    assert done.returncode == code
    assert "evaluation_rated_20260125.csv is the newest rated CSV here." in done.stderr
    assert "Compute its figures? [Y/n]" in done.stderr
    if code == 0:
        assert document(done)["figures"]["mean_precision_at_5"]["value"] == 0.4
    else:
        assert (done.stdout, "--run or --input" in done.stderr) == ("", True)


def test_where_there_is_none_the_command_asks_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert relevansi(tmp_path / "i", "metrics").returncode == 2


# --- Compared --------------------------------------------------------------------------


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
    said = document(relevansi(tmp_path / "i", "compare", "--input", *two, "--format", "json"))

    assert [run["name"] for run in said["runs"]] == ["Hybrid", "API Only"]
    precision = said["differences"][0]
    assert precision["mean"] == 0.2667
    assert (precision["wins"], precision["ties"], precision["losses"]) == (2, 1, 0)
    assert (precision["n"], precision["p"], precision["exact"]) == (3, 0.5, True)
    assert said["runs"][0]["figures"]["mrr"]["value"] == 0.8333
    assert said["runs"][0]["categories"]["lokasi"]["mean_precision_at_5"]["n"] == 3
    assert said["study"] is None
    assert said["files"] == list(map(str, two))
    assert "another K" in said["unsaid"][0]
    assert {line["change"] for line in said["stability"]["lines"]} == {
        "question left out", "empty lists"
    }  # fmt: skip


def test_rated_files_make_the_report_of_a_phase_in_every_format_in_one_call(
    tmp_path: Path, two: tuple[Path, Path]
) -> None:
    formats = ("--format", "markdown", "--format", "latex", "--output", "html")
    call = ("compare", "--phase", "1", "--input", *two, "--names", "Hybrid, API", *formats)

    done = relevansi(tmp_path / "i", *call, "-o", tmp_path / "reports")

    assert (done.returncode, done.stdout) == (0, "")
    written = sorted(path.suffix for path in (tmp_path / "reports").glob("phase1_comparison_*"))
    assert written == [".html", ".md", ".tex"]
    (markdown,) = (tmp_path / "reports").glob("*.md")
    text = markdown.read_text("utf-8")
    assert text.startswith("# Phase 1: search methods compared")
    assert "From rated files." in text
    assert "Rated by" not in text
    assert "Hybrid is 0.27 higher than API" in text


def test_a_figure_that_the_counts_leave_open_is_named_with_its_question(
    tmp_path: Path, two: tuple[Path, Path]
) -> None:
    open_one = rated(tmp_path, "5,4,1,,,,,4,", "8,4,1,,,,,3,", "5,2,2,,,,,2,", name="vector.csv")

    done = relevansi(tmp_path / "i", "compare", "--input", two[0], open_one)

    assert "The counts of vector leave Precision@5 open for question 2" in done.stdout
    assert "vector.csv, line 3: precision_at_5 is blank" in done.stderr


def test_rated_files_of_other_questions_are_refused_with_the_questions_that_differ(
    tmp_path: Path, two: tuple[Path, Path]
) -> None:
    other = rated(tmp_path, "5,4,1,,,,,4,", "5,3,1,,,,,3,", "5,2,2,,,,,2,", name="other.csv")
    other.write_text(other.read_text("utf-8").replace("rumah 2", "ruko 2"), "utf-8")

    done = relevansi(tmp_path / "i", "compare", "--input", two[0], other)

    assert (done.returncode, done.stdout) == (1, "")
    assert "asked different questions: Hybrid: 2; other: 2" in done.stderr


def test_a_rated_file_with_fewer_questions_is_said_to_lack_them(
    tmp_path: Path, two: tuple[Path, Path]
) -> None:
    short = rated(tmp_path, "5,4,1,,,,,4,", "5,3,1,,,,,3,", name="short.csv")

    done = relevansi(tmp_path / "i", "compare", "--input", two[0], short)

    assert "short was not asked question 3" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--input", "{0}"), "A comparison needs two runs"),
        (("--input", "{0}", "nowhere.csv"), "There is no file nowhere.csv"),
        (("--input", "{0}", "{1}", "--names", "one"), "a name for each of the 2 files"),
        (("--input", "{0}", "{1}", "--rule", "majority"), "merged already"),
        (("--input", "{0}", "{1}", "--runs", "a"), "either --phase, --runs or --input"),
        (("--input", "{0}", "{1}", "--format", "html", "--format", "latex"), "-o FOLDER"),
        (("--input", "{0}", "{1}", "--output", "word", "-o", "x"), "is no format"),
    ],
)
def test_a_comparison_of_files_that_cannot_be_made_says_why(
    tmp_path: Path, two: tuple[Path, Path], arguments: tuple[str, ...], told: str
) -> None:
    said = (argument.format(*two) for argument in arguments)

    done = relevansi(tmp_path / "i", "compare", *said)

    assert done.returncode in {1, 2}
    assert told in done.stderr


def test_output_is_a_format_and_any_other_word_a_file(
    tmp_path: Path, two: tuple[Path, Path]
) -> None:
    printed = relevansi(tmp_path / "i", "compare", "--input", *two, "--output", "latex")
    relevansi(tmp_path / "i", "compare", "--input", *two, "--output", tmp_path / "report.md")

    assert "\\documentclass" in printed.stdout or "\\section" in printed.stdout
    assert (tmp_path / "report.md").read_text("utf-8").startswith("# Comparison of runs")


# --- Imported --------------------------------------------------------------------------


def test_quality_notes_and_empty_outcomes_of_a_rated_csv_become_its_raters(tmp_path: Path) -> None:
    runs = resource("seeds") / "runs" / "hybrid" / "test_results.json"
    (run,) = document(relevansi(tmp_path / "i", "import", runs, "--json"))["runs"]
    plain = relevansi(tmp_path / "i", "export", run["id"], "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(plain)))
    empty = next(row for row in rows if row["results_count"] == "0")
    empty |= {"success": "1", "notes": "memang tidak ada datanya"}
    rows[0] |= {"response_quality": "4", "notes": "-"}

    def brought(quality: str, *options: str) -> dict[str, Any]:
        rows[0]["response_quality"] = quality
        out = io.StringIO()
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        path = tmp_path / "rated.csv"
        path.write_text(out.getvalue(), "utf-8")
        done = relevansi(tmp_path / "i", "import", path, *rater, "--json", *options)
        (said,) = document(done)["rated_csvs"]
        return dict(said)

    def standing() -> str:
        said = document(relevansi(tmp_path / "i", "metrics", "--run", run["id"], *rater, *as_json))
        return str(said["queries"][0]["response_quality"])

    rater, as_json = ("--rater", "Ani"), ("--format", "json")
    first = brought("4")
    assert {(v["query_id"], v["field"], v["in_file"]) for v in first["new"]} == {
        (int(rows[0]["query_id"]), "quality", "4"),
        (int(empty["query_id"]), "empty_outcome", "correct_empty"),
        (int(empty["query_id"]), "notes", "memang tidak ada datanya"),
    }
    assert standing() == "4"
    again = brought("4")
    assert (again["new"], again["others"]) == ([], [])
    other = brought("2")
    assert [(v["here"], v["in_file"]) for v in other["others"]] == [("4", "2")]
    assert standing() == "4"
    assert brought("2", "--overwrite")["replaced"]
    assert standing() == "2"


def a_run(instance: Path, folder: Path, name: str = "hybrid") -> tuple[str, Path]:
    """An imported run of the sample, and its rated CSV with a quality for the first question."""
    runs = resource("seeds") / "runs" / name / "test_results.json"
    (run,) = document(relevansi(instance, "import", runs, "--json"))["runs"]
    plain = relevansi(instance, "export", run["id"], "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(plain)))
    rows[0]["response_quality"] = "4"
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    path = folder / f"{name}.csv"
    path.write_text(out.getvalue(), "utf-8")
    return run["id"], path


def test_the_command_says_what_it_stored_and_that_no_verdict_is_in_the_file(
    tmp_path: Path,
) -> None:
    run, path = a_run(tmp_path / "i", tmp_path)

    first = relevansi(tmp_path / "i", "import", path, "--rater", "Ani")
    path.write_text(path.read_text("utf-8").replace(",4,", ",2,", 1), "utf-8")
    other = relevansi(tmp_path / "i", "import", path, "--rater", "Ani")
    replaced = relevansi(tmp_path / "i", "import", path, "--rater", "Ani", "--overwrite")

    assert f"{run}  Ani: 1 value stored; a rated CSV has no verdicts on cards" in first.stdout
    assert (first.returncode, first.stderr) == (0, "")
    assert f"{run}  Ani: 0 values stored" in other.stdout
    assert "question 1, Quality: here 4, in the file 2" in other.stderr
    assert "These stay as they are; --overwrite replaces them." in other.stderr
    assert f"{run}  Ani: 1 value stored" in replaced.stdout
    assert "stay as they are" not in replaced.stderr


@pytest.mark.parametrize("options", [(), ("--json",)])
@pytest.mark.parametrize("made", ["is_machine = 1", "removed_at = '2026-01-01 00:00:00.000000'"])
def test_a_machine_or_a_removed_rater_gets_nothing_of_a_rated_csv(
    tmp_path: Path, options: tuple[str, ...], made: str
) -> None:
    _, path = a_run(tmp_path / "i", tmp_path)
    relevansi(tmp_path / "i", "import", path, "--rater", "Ani")
    with closing(sqlite3.connect(tmp_path / "i" / "relevansi.sqlite")) as database:
        database.execute(f"UPDATE raters SET {made} WHERE name = 'Ani'")
        database.commit()

    done = relevansi(tmp_path / "i", "import", path, "--rater", "ani", *options)

    assert done.returncode == 1
    assert "relevansi: hybrid.csv: Ani is a machine or was removed." in done.stderr
    if options:
        (said,) = json.loads(done.stdout)["rated_csvs"]
        assert (said["refused"], said["new"]) == (True, [])


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_rated_csv_that_no_run_here_has_the_questions_of_is_not_taken(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    path = rated(tmp_path, "5,4,1,,,,,4,")

    done = relevansi(tmp_path / "i", "import", path, "--rater", "Ani", *options)

    assert done.returncode == 1
    assert "rated.csv: No run here has its questions with its numbers of results." in done.stderr
    assert "Ani" not in relevansi(tmp_path / "i", "raters").stdout


def test_a_rated_csv_that_fits_two_runs_is_not_taken_and_both_are_named(tmp_path: Path) -> None:
    run, path = a_run(tmp_path / "i", tmp_path)
    source = resource("seeds") / "runs" / "hybrid" / "test_results.json"
    twin = json.loads(source.read_text("utf-8"))
    for entry in twin["results"]:
        entry["response"] = (entry["response"] or "") + "\n"
    (tmp_path / "twin.json").write_text(json.dumps(twin), "utf-8")
    call = ("import", tmp_path / "twin.json", "--method", "twin", "--json")
    (other,) = document(relevansi(tmp_path / "i", *call))["runs"]

    done = relevansi(tmp_path / "i", "import", path, "--rater", "Ani")

    assert other["id"] != run
    assert done.returncode == 1
    assert "Several runs have its questions with its numbers of results" in done.stderr
    assert run in done.stderr
    assert other["id"] in done.stderr


def test_the_good_lines_of_a_rated_csv_with_a_bad_one_are_still_taken(tmp_path: Path) -> None:
    run, path = a_run(tmp_path / "i", tmp_path)
    lines = path.read_text("utf-8").splitlines(keepends=True)
    lines[-1] = "x" + lines[-1]
    path.write_text("".join(lines), "utf-8")

    done = relevansi(tmp_path / "i", "import", path, "--rater", "Ani")

    assert f"{run}  Ani: 1 value stored" in done.stdout
    assert f"hybrid.csv, line {len(lines)}: query_id is" in done.stderr
