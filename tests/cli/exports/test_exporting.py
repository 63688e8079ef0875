from __future__ import annotations

import csv
import errno
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from relevansi.importers.runs import json_runs
from relevansi.importers.runs.ratings import FORMAT
from tests.cli.rated_files import rated
from tests.cli.relevansi import document, relevansi
from tests.services.exports.offline_files import change


def test_a_run_is_written_as_json_and_a_workbook_of_the_cells_of_the_csv(
    tmp_path: Path, run_id: str
) -> None:
    from openpyxl import load_workbook

    first = document(relevansi(tmp_path, "export", run_id, "--format", "json"))["queries"][0]
    assert [result["relevance"] for result in first["results"]][:3] == [0, 1, 0]

    book = tmp_path / "r.xlsx"
    assert relevansi(tmp_path, "export", run_id, "--format", "xlsx", "-o", book).returncode == 0
    sheet = load_workbook(book).active
    assert sheet is not None
    header, line, *_ = csv.reader(io.StringIO(relevansi(tmp_path, "export", run_id).stdout))
    assert [cell.value for cell in sheet[1]] == header
    assert str(sheet[2][1].value) == line[1]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full is Linux's")
def test_an_export_onto_a_full_disk_says_so_in_one_line(tmp_path: Path, run_id: str) -> None:
    process = relevansi(tmp_path, "export", run_id, "-o", "/dev/full")

    assert process.returncode == 1
    assert len(process.stderr.splitlines()) == 1
    assert "/dev/full: the disk is full" in process.stderr


@pytest.mark.parametrize("command", ["export", "metrics", "agreement", "backup", "move"])
def test_a_missing_folder_is_said_of_the_path_that_was_asked_for(
    tmp_path: Path, run_id: str, command: str
) -> None:
    path = tmp_path / "gone" / "a.sqlite"
    where = {
        "export": (run_id, "-o", path),
        "metrics": ("--run", run_id, "-o", path),
        "agreement": ("-o", path),
        "backup": (path,),
        "move": (f"sqlite:///{path}",),
    }
    process = relevansi(tmp_path, command, *where[command])

    expected = path.parent if command == "move" else path
    assert process.returncode == 1
    assert f"{expected}: " in process.stderr
    assert "there is no such file or folder" in process.stderr
    assert not path.parent.exists()
    assert process.stdout == ""


def test_a_dash_is_the_standard_output(tmp_path: Path, run_id: str) -> None:
    plain = relevansi(tmp_path, "export", run_id)

    assert relevansi(tmp_path, "export", run_id, "-o", "-").stdout == plain.stdout
    assert not Path("-").exists()


ANSWER = """Berikut:

1. **[Rumah A](https://listing.example/properti/rumah-a)**
   📍 Cemara
   💰 Rp 650 jt
2. **Rumah B**
   📍 Helvetia
"""


def run_file(**top: Any) -> bytes:
    results: list[dict[str, Any]] = [
        {"query_id": 1, "question": "Rumah?", "success": True, "response": ANSWER,
         "results_count": 2, "latency_ms": 812, "odd": {"kept": True}},
        {"query_id": 2, "question": "Gudang?", "success": True, "response": "Tidak ada.",
         "results_count": 0},
        {"query_id": 3, "question": "Ruko?", "success": False, "response": "", "error": "timeout"},
        {"query_id": 4, "question": "Tanah?", "success": True, "response": "Ada 3 tanah.",
         "results_count": 3},
        {"query_id": 5, "question": "Kos?", "success": True, "response": None},
        {"query_id": 6, "question": "Yang lain?", "success": "broken", "response": "Ini:"},
        {"query_id": 7, "question": "Lagi?", "success": True, "response": ANSWER,
         "context_dependent": True,
         "properties": [{"name": "Rumah A", "slug": "rumah-a", "bedrooms": 3}]},
    ]  # fmt: skip
    content = {
        "timestamp": "20260126_141433",
        "thread_id": "t",
        "search_method": "hybrid",
        "total_questions": 7,
        "note": "mine",
        "results": [{"category": "harga", **entry} for entry in results],
    }
    return json.dumps(content | top).encode()


def entries() -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = json.loads(run_file())["results"]
    return result


def imported(instance: Path, folder: Path, *files: bytes) -> list[str]:
    folder.mkdir(exist_ok=True)
    for number, data in enumerate(files):
        (folder / f"run{number}.json").write_bytes(data)
    printed = document(relevansi(instance, "import", folder, "--json"))
    return [run["id"] for run in printed["runs"]]


def exported(instance: Path, folder: Path, *options: str) -> dict[str, bytes]:
    process = relevansi(instance, "export-tree", folder, *options)
    assert process.returncode == 0, process.stderr
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def rate(instance: Path, folder: Path) -> None:
    """Rate question 1 of the run in `folder` as Ani, through a file of ratings."""
    read = json_runs.read("run0.json", (folder / "run0.json").read_bytes())
    ratings = {
        "format": FORMAT,
        "version": 1,
        "identity": json_runs.session_key(read),
        "rater": "Ani",
        "device": "d",
        "changes": [
            change(1, 1, "relevance", "1", rank=1),
            change(2, 1, "relevance", "0", rank=2),
            change(3, 1, "quality", 3),
        ],
    }
    path = folder.with_name("ratings.json")
    path.write_text(json.dumps(ratings), "utf-8")
    assert relevansi(instance, "import", path).returncode == 0


@pytest.fixture(name="rated", scope="module")
def _rated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rated")
    imported(folder / "i", folder / "runs", run_file())
    rate(folder / "i", folder / "runs")
    exported(folder / "i", folder / "tree")
    return folder


def test_a_run_gives_the_files_of_the_layout(rated: Path) -> None:
    files = contents(rated / "tree")

    assert sorted(files) == [
        "evaluation_report_20260126.md",
        "hybrid/evaluation_20260126.html",
        "hybrid/evaluation_rated_20260126.csv",
        "hybrid/evaluation_template_20260126.csv",
        "hybrid/full_responses_20260126.txt",
        "hybrid/test_results_20260126_141433.json",
        "hybrid/test_results_latest.json",
    ]
    lines = files["hybrid/evaluation_rated_20260126.csv"].decode().splitlines()
    template = files["hybrid/evaluation_template_20260126.csv"].decode().splitlines()
    assert lines[1] == "1,Rumah?,harga,2,1,1,0.5000,0.5000,1.0000,1,3,"
    assert template[1] == "1,Rumah?,harga,2,,,,,,,,"
    assert "Ada 3 tanah." in files["hybrid/full_responses_20260126.txt"].decode()
    assert "0.5000" in files["evaluation_report_20260126.md"].decode()


def test_what_is_read_back_from_the_tree_gives_the_same_tree(tmp_path: Path) -> None:
    runs = (
        run_file(),
        run_file(search_method="api_only", timestamp="2026-01-27T08:00:00"),
        run_file(search_method=None, timestamp=None, total_questions=6, results=entries()[1:]),
    )
    imported(tmp_path / "i", tmp_path / "runs", *runs)
    files = exported(tmp_path / "i", tmp_path / "tree")
    process = relevansi(tmp_path / "j", "import", tmp_path / "tree", "--json")
    back = document(process)["runs"]

    assert [run["already_imported"] for run in back] == [False] * 3 + [True] * 3
    states = {"queries": 7, "cards": 4, "with_results": 2, "empty": 1, "failed": 1, "unreadable": 3}
    assert [{name: run[name] for name in states} for run in back[1:3]] == [states, states]
    assert exported(tmp_path / "j", tmp_path / "again") == files
    assert "method_not_stated/test_results_undated.json" in files


def test_a_folder_with_other_files_of_these_names_is_left_as_it_is(tmp_path: Path) -> None:
    imported(tmp_path / "i", tmp_path / "runs", run_file())
    mine = tmp_path / "tree" / "hybrid" / "test_results_latest.json"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine", "utf-8")
    (mine.parent / "own_notes.txt").write_text("keep", "utf-8")
    process = relevansi(tmp_path / "i", "export-tree", tmp_path / "tree")

    assert process.returncode == 1
    assert "hybrid/test_results_latest.json" in process.stderr
    assert len(process.stderr.splitlines()) == 1
    assert sorted(path.name for path in mine.parent.iterdir()) == [
        "own_notes.txt",
        "test_results_latest.json",
    ]
    assert mine.read_text("utf-8") == "mine"

    files = exported(tmp_path / "i", tmp_path / "tree", "--replace")
    assert files["hybrid/own_notes.txt"] == b"keep"
    assert files["hybrid/test_results_latest.json"] != b"mine"


def test_exporting_twice_writes_nothing_the_second_time(rated: Path) -> None:
    process = relevansi(rated / "i", "export-tree", rated / "tree")

    n_files = len(contents(rated / "tree"))
    assert f"0 files written, 0 replaced, {n_files} there already" in process.stdout


def test_rated_csvs_of_a_tree_are_compared_and_never_taken_for_verdicts(
    rated: Path, tmp_path: Path
) -> None:
    here = document(relevansi(rated / "i", "import", rated / "tree", "--json"))
    elsewhere = document(relevansi(tmp_path / "j", "import", rated / "tree", "--json"))

    (same,) = here["rated_files"]
    assert (same["rated_here"], same["differing"]) == (True, [])
    (lost,) = elsewhere["rated_files"]
    assert lost["run"] == elsewhere["runs"][0]["id"]
    assert not lost["rated_here"]
    stdout = relevansi(tmp_path / "j", "import", rated / "tree").stdout
    assert "no verdicts on cards" in stdout


def test_an_empty_study_has_no_tree(tmp_path: Path) -> None:
    process = relevansi(tmp_path / "i", "export-tree", tmp_path / "tree")

    assert process.returncode == 1
    assert "relevansi import" in process.stderr
    assert not (tmp_path / "tree").exists()


def test_a_tree_onto_a_full_disk_leaves_what_was_there_and_no_new_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance, old, new = tmp_path / "instance", tmp_path / "old", tmp_path / "new" / "tree"
    imported(instance, tmp_path / "given", run_file())
    exported(instance, old)
    changed = min(old.rglob("*.csv"))
    changed.write_bytes(b"mine")
    before = contents(old)
    opened = Path.open
    n_free = 2

    def filling(path: Path, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        nonlocal n_free
        if mode == "wb" and not n_free:
            raise OSError(errno.ENOSPC, "No space left on device")
        n_free -= mode == "wb"
        return opened(path, mode, *arguments, **options)

    monkeypatch.setattr(Path, "open", filling)
    onto_new = relevansi(instance, "export-tree", new)
    n_free = 0
    onto_old = relevansi(instance, "export-tree", old, "--replace")

    for process in (onto_new, onto_old):
        assert process.returncode == 1
        assert "the disk is full" in process.stderr
    assert not new.parent.exists()
    assert contents(old) == before


def test_metrics_prints_the_figures_of_the_judgments(tmp_path: Path, run_id: str) -> None:
    printed = document(relevansi(tmp_path, "metrics", "--run", run_id, "--format", "json"))

    first, n_lists = printed["queries"][0], printed["n_with_results"]
    n = first["results_count"]
    assert first["mrr"] == 0.5
    assert first["precision_at_5"] == 1 / min(n, 5)
    assert first["overall_precision"] == 2 / n
    assert printed["figures"]["mrr"] == {
        "value": 0.5,
        "lower": 0.5 / n_lists,
        "upper": 1 - 0.5 / n_lists,
        "n": 1,
    }
    stdout = relevansi(tmp_path, "metrics", "--run", run_id).stdout
    assert "Precision@5" in stdout
    assert f"{0.5 / n_lists:.4f}–{1 - 0.5 / n_lists:.4f}" in stdout  # not yet a value


@pytest.mark.parametrize("file_format", ["table", "json"])
def test_where_nothing_was_read_nothing_is_on_the_standard_output(
    tmp_path: Path, file_format: str
) -> None:
    path = tmp_path / "passwd"
    path.write_text("root:x:0:0:root:/root:/bin/bash\n", "utf-8")
    process = relevansi(tmp_path / "i", "metrics", "--input", path, "--format", file_format)

    assert (process.returncode, process.stdout) == (1, "")
    assert "passwd" in process.stderr


def test_a_file_filled_in_by_hand_has_figures_and_says_which_it_lacks_and_why(
    tmp_path: Path,
) -> None:
    """P@5 4/5 of the first alone: of 8 with 4 relevant, 1 to 4 are among the first five."""
    path = rated(tmp_path, "5,4,1,,,,,4,", "8,4,1,,,,,3,", "0,,,,,,,0,no data exists")

    process = relevansi(tmp_path / "i", "metrics", "--input", path, "--format", "json")

    printed = document(process)
    assert printed["figures"]["mean_precision_at_5"]["value"] == 0.8
    assert printed["figures"]["mean_overall_precision"]["value"] == 0.65  # (4/5 + 4/8) / 2
    assert printed["undefined"][0] == {
        "figure": "precision_at_5",
        "why": "left_open",
        "query_ids": [2],
    }
    assert "rated.csv, line 3" in process.stderr
    table = " ".join(relevansi(tmp_path / "i", "metrics", "--input", path).stdout.split())
    assert "Precision@5 has no value for question 2: The counts in the file leave it open." in table
    assert "MRR has no value for question 3: There are no results to measure." in table


def test_without_a_file_the_newest_rated_csv_of_the_folder_is_taken_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert relevansi(tmp_path / "i", "metrics").returncode == 2  # there is none
    tree = tmp_path / "data" / "evaluation"
    rated(tree / "hybrid", "5,5,1,,,,,4,", name="evaluation_rated_20260123.csv")
    rated(tree / "api_only", "5,2,1,,,,,4,", name="evaluation_rated_20260125.csv")

    process = relevansi(tmp_path / "i", "metrics", "--format", "json")

    assert document(process)["figures"]["mean_precision_at_5"]["value"] == 0.4
    assert "evaluation_rated_20260125.csv is the newest rated CSV here." in process.stderr


def test_a_page_to_rate_on_takes_nobodys_verdicts(tmp_path: Path, run_id: str) -> None:
    refused = relevansi(tmp_path, "export", run_id, "--format", "html", "--rater", "x")
    process = relevansi(tmp_path, "export", run_id, "--format", "html")

    assert refused.returncode == 2
    assert process.stdout.startswith("<!doctype html>")
    assert run_id not in process.stdout


def test_judgments_of_documents_are_a_folder_or_a_zip_by_the_name_of_the_output(
    tmp_path: Path,
) -> None:
    seeds = Path(__file__).parents[3] / "seeds" / "documents"
    names = ("corpus.jsonl", "queries.jsonl", "runs/lsa.run", "ratings-dewi.csv")
    process = relevansi(tmp_path, "import", *(seeds / name for name in names))
    run = process.stdout.split()[0]
    folder, packed = tmp_path / "beir", tmp_path / "beir.zip"

    for output in (folder, packed):
        process = relevansi(tmp_path, "export", run, "--format", "beir", "-o", output)
        assert process.returncode == 0, process.stderr
    again = relevansi(tmp_path, "export", run, "--format", "beir", "-o", folder)
    qrels = relevansi(tmp_path, "export", run, "--format", "qrels", "--index", "shop")
    rank_eval = relevansi(tmp_path, "export", run, "--format", "rank-eval", "--index", "shop")

    assert (folder / "qrels" / "test.tsv").is_file()
    assert zipfile.is_zipfile(packed)
    assert again.returncode == 2  # nothing is written over
    assert qrels.returncode == 2  # the option is of another format
    assert json.loads(rank_eval.stdout)["requests"][0]["ratings"][0]["_index"] == "shop"
