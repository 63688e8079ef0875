"""Files are imported from the command line, each told what became of it."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.judged_runs import HYBRID
from tests.cli.rated_files import rated
from tests.cli.relevansi import Stream, document, process, relevansi
from webapp.config import resource

RUN_KEYS = {
    "id", "search_method", "llm", "queries", "cards", "with_results", "empty", "failed",
    "unreadable", "already_imported", "enriched", "problems",
}  # fmt: skip


def test_import_prints_one_document_of_the_agreed_shape(tmp_path: Path) -> None:
    (run,) = document(relevansi(tmp_path, "import", HYBRID / "test_results.json", "--json"))["runs"]

    assert set(run) == RUN_KEYS
    assert (run["search_method"], run["queries"], run["already_imported"]) == ("hybrid", 30, False)
    assert all(
        {"severity", "file", "query_id", "message"} <= set(entry) for entry in run["problems"]
    )


def test_a_repeated_file_and_its_other_form_are_recognised(tmp_path: Path) -> None:
    first, *_ = document(relevansi(tmp_path, "import", HYBRID / "test_results.json", "--json"))[
        "runs"
    ]
    again, other = document(
        relevansi(
            tmp_path, "import", HYBRID / "test_results.json", HYBRID / "results.json", "--json"
        )
    )["runs"]

    assert again["already_imported"]
    assert other["enriched"]
    assert {first["id"], again["id"], other["id"]} == {first["id"]}
    listed = document(relevansi(tmp_path, "runs", "--json"))["runs"]
    assert [run["id"] for run in listed] == [first["id"]]


def test_a_folder_is_searched_for_run_files(tmp_path: Path) -> None:
    done = relevansi(tmp_path, "import", HYBRID.parent, "--json")

    assert len({run["id"] for run in document(done)["runs"]}) == 3


def test_on_a_terminal_the_files_of_a_folder_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stream, "isatty", lambda _: True)
    done = relevansi(tmp_path, "import", HYBRID.parent, "--json")

    files = len(list(HYBRID.parent.rglob("*.json")))
    assert f"{files}/{files}" in done.stderr
    assert len(document(done)["runs"]) >= 3


def test_a_wrong_file_is_refused_in_one_line_in_the_user_s_language(tmp_path: Path) -> None:
    wrong = tmp_path / "catatan.json"
    wrong.write_text('{"a": 1}', "utf-8")
    for run, language in ((process, "id"), (relevansi, "en")):
        done = run(tmp_path, "import", wrong, language=language)

        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1
        assert "catatan.json" in done.stderr
        assert "Traceback" not in done.stderr


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
        path.write_text(out.getvalue(), "utf-8", newline="")
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
    path.write_text(out.getvalue(), "utf-8", newline="")
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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX's")
def test_what_is_no_file_is_refused_and_the_others_of_the_folder_are_imported(
    tmp_path: Path,
) -> None:
    """A link that leads nowhere, a pipe nobody writes to, a device without an end, a folder."""
    folder = tmp_path / "runs"
    folder.mkdir()
    shutil.copy(HYBRID / "test_results.json", folder)
    (folder / "dangling.json").symlink_to(tmp_path / "gone.json")
    (folder / "endless.json").symlink_to("/dev/zero")
    (folder / "folder.json").mkdir()
    os.mkfifo(folder / "pipe.json")
    os.mkfifo(folder / "evaluation_rated_pipe.csv")
    os.mkfifo(tmp_path / "sheet.csv")

    done = relevansi(
        tmp_path / "i", "import", folder, tmp_path / "sheet.csv", "--rater", "Ani", "--json"
    )

    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert len(found["runs"]) == 1
    refused = {problem["file"].partition("/")[2]: problem["code"] for problem in found["problems"]}
    assert refused == dict.fromkeys(
        ("dangling.json", "endless.json", "pipe.json", "evaluation_rated_pipe.csv", "sheet.csv"),
        "not_a_file",
    )
    assert sum("is not a file" in line for line in done.stderr.splitlines()) == 5


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX's")
def test_a_pipe_alone_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")

    done = relevansi(tmp_path / "i", "import", tmp_path / "pipe.json")

    assert done.returncode == 1
    assert "pipe.json" in done.stderr


def test_the_sample_is_imported_on_purpose_with_a_line_that_says_what_it_is(
    tmp_path: Path,
) -> None:
    own = tmp_path / "own.json"
    data = (HYBRID / "test_results.json").read_text("utf-8")
    own.write_text(data.replace('"hybrid"', '"mine"'), "utf-8")

    first = relevansi(tmp_path / "i", "import", own)
    sample = relevansi(tmp_path / "i", "import", HYBRID / "test_results.json")

    assert (first.returncode, sample.returncode) == (0, 0)
    assert "invented" not in first.stderr
    assert "The invented sample of the demo is in this study now" in sample.stderr


@pytest.mark.parametrize(
    ("option", "blind", "says"), [(None, None, True), ("--open", 0, False), ("--blind", 1, False)]
)
def test_a_second_run_of_the_questions_says_that_rating_becomes_blind_unless_that_is_chosen(
    tmp_path: Path, option: str | None, blind: int | None, *, says: bool
) -> None:
    first = relevansi(tmp_path, "import", HYBRID / "test_results.json")
    options = [option] if option else []
    other = HYBRID.parent / "api_only" / "test_results.json"
    second = relevansi(tmp_path, "import", other, *options)

    assert "rated blind" not in first.stderr
    assert ("From now on this study is rated blind" in second.stderr) is says
    with closing(sqlite3.connect(tmp_path / "relevansi.sqlite")) as database:
        assert database.execute("SELECT blind FROM studies").fetchone()[0] == blind


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
