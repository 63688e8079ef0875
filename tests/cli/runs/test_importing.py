"""Files are imported from the command line, each told what became of it."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.judged_runs import HYBRID
from tests.cli.rated_files import rated
from tests.cli.relevansi import Stream, document, relevansi

RUN_KEYS = {
    "id", "search_method", "llm", "queries", "cards", "with_results", "empty", "failed",
    "unreadable", "already_imported", "enriched", "problems",
}  # fmt: skip


def test_a_repeated_file_and_its_other_form_are_recognised(tmp_path: Path) -> None:
    v1, v2 = HYBRID / "test_results.json", HYBRID / "results.json"
    (run,) = document(relevansi(tmp_path, "import", v1, "--json"))["runs"]
    again, enriched = document(relevansi(tmp_path, "import", v1, v2, "--json"))["runs"]

    assert set(run) == RUN_KEYS
    assert (run["search_method"], run["queries"], run["already_imported"]) == ("hybrid", 30, False)
    for problem in run["problems"]:
        assert {"severity", "file", "query_id", "message"} <= set(problem)
    assert again["already_imported"]
    assert enriched["enriched"]
    assert {run["id"], again["id"], enriched["id"]} == {run["id"]}
    assert runs(tmp_path) == [run["id"]]


def test_on_a_terminal_the_files_of_a_folder_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stream, "isatty", lambda _: True)
    finished = relevansi(tmp_path, "import", HYBRID.parent, "--json")

    files = len(list(HYBRID.parent.rglob("*.json")))
    assert f"{files}/{files}" in finished.stderr
    assert len(document(finished)["runs"]) >= 3


def test_a_wrong_file_is_refused_in_one_line_in_the_user_s_language(tmp_path: Path) -> None:
    wrong = tmp_path / "catatan.json"
    wrong.write_text('{"a": 1}', "utf-8")
    for language in ("id", "en"):
        finished = relevansi(tmp_path, "import", wrong, language=language)

        assert finished.returncode == 1
        assert len(finished.stderr.splitlines()) == 1
        assert "catatan.json" in finished.stderr


def a_run(instance: Path, folder: Path) -> tuple[str, Path]:
    """An imported run of the sample, and its rated CSV with a quality for the first question."""
    (run,) = document(relevansi(instance, "import", HYBRID / "test_results.json", "--json"))["runs"]
    plain = relevansi(instance, "export", run["id"], "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(plain)))
    rows[0]["response_quality"] = "4"
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    path = folder / "hybrid.csv"
    path.write_text(out.getvalue(), "utf-8", newline="")
    return run["id"], path


def test_a_rated_csv_is_taken_as_its_raters_and_says_what_is_not_in_it(tmp_path: Path) -> None:
    instance = tmp_path / "i"
    run, path = a_run(instance, tmp_path)
    call = ("import", path, "--rater", "Ani")
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join([*lines[:-1], "x" + lines[-1]]), "utf-8")

    first = relevansi(instance, *call)
    path.write_text("".join(lines).replace(",4,", ",2,", 1), "utf-8")
    (entry,) = document(relevansi(instance, *call, "--json"))["rated_csvs"]
    reported = relevansi(instance, *call)
    replaced = relevansi(instance, *call, "--overwrite")

    assert f"{run}  Ani: 1 value stored; a rated CSV has no verdicts on cards" in first.stdout
    assert f"hybrid.csv, line {len(lines)}: query_id is" in first.stderr
    assert [(v["field"], v["here"], v["in_file"]) for v in entry["others"]] == [
        ("quality", "4", "2")
    ]
    assert (entry["run"], entry["rater"], entry["replaced"]) == (run, "Ani", False)
    assert f"{run}  Ani: 0 values stored" in reported.stdout
    assert "question 1, Quality: here 4, in the file 2" in reported.stderr
    assert "These stay as they are; --overwrite replaces them." in reported.stderr
    assert f"{run}  Ani: 1 value stored" in replaced.stdout
    assert "stay as they are" not in replaced.stderr


def test_what_no_rater_or_no_single_run_can_take_is_refused(tmp_path: Path) -> None:
    instance = tmp_path / "i"
    run, path = a_run(instance, tmp_path)
    unnamed = relevansi(instance, "import", path)
    strange = relevansi(instance, "import", rated(tmp_path, "5,4,1,,,,,4,"), "--rater", "Budi")
    assert relevansi(instance, "import", path, "--rater", "Ani").returncode == 0
    with closing(sqlite3.connect(instance / "relevansi.sqlite")) as database:
        database.execute("UPDATE raters SET is_machine = 1 WHERE name = 'Ani'")
        database.commit()
    machine = relevansi(instance, "import", path, "--rater", "ani", "--json")
    twin = json.loads((HYBRID / "test_results.json").read_text("utf-8"))
    for entry in twin["results"]:
        entry["response"] = (entry["response"] or "") + "\n"
    (tmp_path / "twin.json").write_text(json.dumps(twin), "utf-8")
    call = ("import", tmp_path / "twin.json", "--method", "twin", "--json")
    (twin_run,) = document(relevansi(instance, *call))["runs"]
    two = relevansi(instance, "import", path, "--rater", "Citra")

    assert "--rater NAME" in unnamed.stderr
    assert "rated.csv: No run here has its questions with its numbers of results." in strange.stderr
    assert "Budi" not in relevansi(instance, "raters").stdout
    assert "relevansi: hybrid.csv: Ani is a machine or was removed." in machine.stderr
    (entry,) = json.loads(machine.stdout)["rated_csvs"]
    assert (entry["refused"], entry["new"]) == (True, [])
    assert "Several runs have its questions with its numbers of results" in two.stderr
    assert {run, twin_run["id"]} <= set(re.findall(r"\w+", two.stderr))
    assert {finished.returncode for finished in (unnamed, strange, machine, two)} == {1}


def test_a_folder_that_has_no_more_than_a_rated_csv_is_no_run(tmp_path: Path) -> None:
    folder = tmp_path / "hybrid"
    folder.mkdir()
    rated(tmp_path, "5,4,1,,,,,4,").rename(folder / "evaluation_rated_hybrid.csv")

    finished = relevansi(tmp_path / "i", "import", folder)

    assert finished.returncode == 1
    assert "it belongs to no run in its folder" in finished.stdout
    assert "There is no run file in what was given." in finished.stderr


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

    finished = relevansi(
        tmp_path / "i", "import", folder, tmp_path / "sheet.csv", "--rater", "Ani", "--json"
    )

    assert finished.returncode == 1
    decoded = json.loads(finished.stdout)
    assert len(decoded["runs"]) == 1
    refused = {
        problem["file"].partition("/")[2]: problem["code"] for problem in decoded["problems"]
    }
    assert refused == dict.fromkeys(
        ("dangling.json", "endless.json", "pipe.json", "evaluation_rated_pipe.csv", "sheet.csv"),
        "not_a_file",
    )
    assert sum("is not a file" in line for line in finished.stderr.splitlines()) == 5


@pytest.mark.parametrize(
    ("option", "blind", "says"), [(None, None, True), ("--open", 0, False), ("--blind", 1, False)]
)
def test_a_second_run_of_the_questions_says_that_rating_becomes_blind_unless_that_is_chosen(
    tmp_path: Path, option: str | None, blind: int | None, *, says: bool
) -> None:
    first = relevansi(tmp_path, "import", HYBRID / "test_results.json")
    options = [option] if option else []
    api_only = HYBRID.parent / "api_only" / "test_results.json"
    second = relevansi(tmp_path, "import", api_only, *options)

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
    finished = relevansi(tmp_path, "delete-run", run, "--yes")

    assert finished.returncode == 0, finished.stderr
    assert f"{run} (hybrid, -). What goes: the run with its 1 question; " in finished.stderr
    assert "What stays: 0 judgments on properties" in finished.stderr
    assert f"{run} (hybrid, -) is deleted. The file can be imported again." in finished.stdout
    assert runs(tmp_path) == []


def test_without_a_yes_nothing_is_deleted(
    tmp_path: Path, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: Iterator[str | EOFError] = iter(["n", EOFError()])

    def answer(_prompt: str = "") -> str:
        reply = next(answers)
        if isinstance(reply, EOFError):
            raise reply
        return reply

    monkeypatch.setattr("click.termui.visible_prompt_func", answer)
    refused = relevansi(tmp_path, "delete-run", run)
    unanswered = relevansi(tmp_path, "delete-run", run)

    for finished in (refused, unanswered):
        assert finished.returncode == 1
        assert finished.stderr.endswith("Nothing is deleted; --yes deletes without asking.\n")
    assert runs(tmp_path) == [run]
    unknown = relevansi(tmp_path, "delete-run", "nothing", "--yes")
    assert unknown.returncode == 1
    assert "nothing" in unknown.stderr


def test_a_database_holds_runs_of_one_kind(tmp_path: Path) -> None:
    table = tmp_path / "results.csv"
    rows = ("how to thaw meat,bm25,1,d7", "how to thaw meat,lsa,1,d8")
    table.write_text("\n".join(("query,system,rank,doc_id", *rows)), "utf-8")
    chatbots = HYBRID / "test_results.json"
    for first, second in ((table, chatbots), (chatbots, table)):
        instance = tmp_path / first.stem
        finished = relevansi(instance, "import", first)
        assert finished.returncode == 0
        assert "This becomes a study of" in finished.stderr
        assert ("judge each document once" in finished.stderr) is (first is table)
        run_ids = runs(instance)

        refused = relevansi(instance, "import", second)

        assert refused.returncode == 1
        assert "RELEVANSI_INSTANCE" in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
        assert runs(instance) == run_ids


def test_a_folder_of_results_may_have_other_files_in_it(tmp_path: Path) -> None:
    (folder := tmp_path / "files").mkdir()
    (folder / "a.run").write_text("q1 Q0 d7 1 2.5 a\n", "utf-8")
    (folder / "settings.json").write_text('{"top": 3}', "utf-8")

    finished = relevansi(tmp_path / "i", "import", folder, "--json")

    assert [run["search_method"] for run in document(finished)["runs"]] == ["a"]
