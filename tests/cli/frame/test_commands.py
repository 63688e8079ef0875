"""Scripts can rely on exit codes, one JSON document on stdout and one line on stderr."""

from __future__ import annotations

import csv
import errno
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click import ClickException

from tests.cli.relevansi import document, environment, process, relevansi
from tests.services.runs.runs import click
from webapp.cli.frame.commands import commands
from webapp.cli.frame.output import say, write_file
from webapp.config import resource, sqlite_url
from webapp.db.engine import Database
from webapp.records import Relevance
from webapp.services.judging import judgments
from webapp.services.runs import reports
from webapp.services.study import studies

HYBRID = resource("seeds") / "runs" / "hybrid"
RUN_KEYS = {
    "id", "search_method", "llm", "queries", "cards", "with_results", "empty", "failed",
    "unreadable", "already_imported", "enriched", "problems",
}  # fmt: skip
FIGURE_KEYS = [
    "mean_precision_at_5", "mean_overall_precision", "mrr", "mrr_answerable", "success_rate",
    "coverage", "mean_response_quality", "composite",
]  # fmt: skip
METRICS_KEYS = [
    "run", "rule", "n_queries", "n_complete", "n_with_results", "n_failed", "n_unreadable",
    "figures", "categories", "queries",
]  # fmt: skip
QUERY_KEYS = [
    "query_id", "question", "category", "results_count", "judged_count", "relevant_count",
    "first_relevant_rank", "overall_precision", "precision_at_5", "mrr", "success",
    "response_quality", "empty_outcome", "notes", "complete",
]  # fmt: skip


@pytest.fixture(name="judged", scope="module")
def _judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The sample's hybrid run, its first question judged: two of ten cards relevant."""
    instance = tmp_path_factory.mktemp("judged")
    imported = document(relevansi(instance, "import", HYBRID / "test_results.json", "--json"))
    run_id: str = imported["runs"][0]["id"]
    database = Database(sqlite_url(instance / "relevansi.sqlite"))
    with database.writing() as session:
        study = studies.current(session)
        assert study is not None
        rater = studies.raters(session, study)[0]
        rows = reports.report(session, study, run_id, reports.of_rater(rater)).rows
        for rank in range(1, rows[0].summary.results_count + 1):
            verdict = Relevance.RELEVANT if rank in {2, 7} else Relevance.NOT_RELEVANT
            judgments.judge(session, rater, run_id, 1, rank, verdict, click(f"e{rank}"))
        session.commit()
    database.close()
    return instance, run_id


@pytest.fixture(name="run_id")
def _run_id(judged: tuple[Path, str], tmp_path: Path) -> str:
    """The judged run, in a database of this test's own."""
    shutil.copytree(judged[0], tmp_path, dirs_exist_ok=True)
    return judged[1]


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


def test_a_wrong_file_is_refused_in_one_line_in_the_user_s_language(tmp_path: Path) -> None:
    wrong = tmp_path / "catatan.json"
    wrong.write_text('{"a": 1}', "utf-8")
    for run, language in ((process, "id"), (relevansi, "en")):
        done = run(tmp_path, "import", wrong, language=language)

        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1
        assert "catatan.json" in done.stderr
        assert "Traceback" not in done.stderr


def test_metrics_prints_the_agreed_shape_and_the_figures_of_the_judgments(
    tmp_path: Path, run_id: str
) -> None:
    found = document(relevansi(tmp_path, "metrics", "--run", run_id, "--format", "json"))

    assert list(found) == METRICS_KEYS
    assert list(found["figures"]) == FIGURE_KEYS
    assert all(
        list(figure) == ["value", "lower", "upper", "n"] for figure in found["figures"].values()
    )
    first = found["queries"][0]
    assert list(first) == QUERY_KEYS
    n = first["results_count"]
    assert first["mrr"] == 0.5
    assert first["precision_at_5"] == round(1 / min(n, 5), 4)
    assert first["overall_precision"] == round(2 / n, 4)
    assert found["figures"]["mrr"] == {
        "value": 0.5, "n": 1, "lower": round(0.5 / found["n_with_results"], 4),
        "upper": round(1 - 0.5 / found["n_with_results"], 4),
    }  # fmt: skip


def test_the_exported_csv_read_again_gives_the_same_figures(tmp_path: Path, run_id: str) -> None:
    rated = tmp_path / "rated.csv"
    assert relevansi(tmp_path, "export", run_id, "-o", rated).returncode == 0
    of_run = document(relevansi(tmp_path, "metrics", "--run", run_id, "--format", "json"))
    of_file = document(relevansi(tmp_path, "metrics", "--input", rated, "--format", "json"))

    for name in FIGURE_KEYS:
        assert of_file["figures"][name]["value"] == pytest.approx(
            of_run["figures"][name]["value"], abs=5e-5
        )


@pytest.mark.parametrize("file_format", ["csv", "long-csv", "qrels", "run", "json"])
def test_export_writes_to_the_standard_output(
    tmp_path: Path, run_id: str, file_format: str
) -> None:
    done = relevansi(tmp_path, "export", run_id, "--format", file_format)

    assert done.returncode == 0
    assert done.stdout


def test_exported_json_holds_every_card_with_its_verdict(tmp_path: Path, run_id: str) -> None:
    found = document(relevansi(tmp_path, "export", run_id, "--format", "json"))

    first = found["queries"][0]
    assert [shown["relevance"] for shown in first["results"]][:3] == [0, 1, 0]
    assert {"rank", "title", "url", "slug", "price", "price_note", "location", "bedrooms",
            "bathrooms", "land_area", "building_area", "floors", "certificate", "listing_type",
            "source", "relevance"} <= set(first["results"][0])  # fmt: skip
    assert {"query_id", "question", "category", "response", "state", "empty_outcome"} <= set(first)


def test_a_table_is_printed_for_people(tmp_path: Path, run_id: str) -> None:
    done = relevansi(tmp_path, "metrics", "--run", run_id)

    assert "Precision@5" in done.stdout
    assert "0.5000" in done.stdout


def test_a_bad_row_of_a_rated_csv_is_named_and_the_good_ones_kept(tmp_path: Path) -> None:
    rated = tmp_path / "rated.csv"
    header = (
        "query_id,question,category,results_count,relevant_count,first_relevant_rank,"
        "overall_precision,precision_at_5,mrr,success,response_quality,notes"
    )
    good, bad = "1,A,c,5,4,1,0.80,0.80,1.00,1,4,", "2,B,c,5,6,1,1.20,1.00,1.00,1,4,"
    rated.write_text("\n".join([header, good, bad, ""]), "utf-8")
    done = relevansi(tmp_path, "metrics", "--input", rated, "--format", "json")

    found = document(done)
    assert [row["query_id"] for row in found["queries"]] == [1]
    assert "rated.csv" in done.stderr
    assert "3" in done.stderr


def test_check_says_equal(tmp_path: Path, run_id: str) -> None:  # noqa: ARG001 (fills the database)
    done = relevansi(tmp_path, "check")

    assert done.returncode == 0
    assert "Equal" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["metrics"], 2),
        (["metrics", "--run", "x", "--input", __file__], 2),
        (["import"], 2),
        (["nonsense"], 2),
        (["export", "nothing"], 1),
        (["metrics", "--run", "nothing"], 1),
        (["import", "/nowhere/at/all.json"], 2),
    ],
)
def test_failures_take_one_line_and_their_exit_code(
    tmp_path: Path, arguments: list[str], code: int
) -> None:
    done = relevansi(tmp_path, *arguments)

    assert done.returncode == code
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("relevansi: ")
    assert done.stdout == ""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the words of a command are text")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("backup", b"\xb2.zip"), 0, b"\xb2.zip: "),
        (("metrics", "--run", b"x\xdf"), 1, b"is not a text in UTF-8"),
    ],
)
def test_words_in_another_encoding_name_files_and_nothing_else(
    tmp_path: Path, words: tuple[str | bytes, ...], code: int, said: bytes
) -> None:
    command = [sys.executable, "-m", "webapp", *words]
    surroundings = environment(tmp_path, "en")
    relevansi(tmp_path, "import", HYBRID)

    done = subprocess.run(
        command, env=surroundings, cwd=tmp_path, capture_output=True, timeout=120, check=False
    )

    assert done.returncode == code, done.stderr
    assert said in done.stdout + done.stderr
    assert len(done.stderr.splitlines()) == (1 if code else 0)


@pytest.mark.parametrize("name", commands())
def test_every_command_explains_itself(tmp_path: Path, name: str) -> None:
    done = relevansi(tmp_path, name, "--help")

    assert done.returncode == 0
    assert name in done.stdout


def test_help_and_the_web_app_load_neither_pandas_nor_scipy() -> None:
    code = (
        "import sys; from webapp.cli.frame.commands import relevansi; "
        "import webapp.cli.frame.serving; "
        "relevansi(['--help'], standalone_mode=False); "
        "from webapp.app import create_app; import webapp.web; "
        "print(sorted({'pandas', 'numpy', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "[]"


def test_an_xlsx_holds_the_cells_of_the_csv(tmp_path: Path, run_id: str) -> None:
    from openpyxl import load_workbook

    assert (
        relevansi(
            tmp_path, "export", run_id, "--format", "xlsx", "-o", tmp_path / "r.xlsx"
        ).returncode
        == 0
    )
    rated = relevansi(tmp_path, "export", run_id).stdout

    sheet = load_workbook(tmp_path / "r.xlsx").active
    assert sheet is not None
    header, first, *_ = csv.reader(io.StringIO(rated))
    assert [cell.value for cell in sheet[1]] == header
    assert str(sheet[2][1].value) == first[1]


def test_json_is_the_only_thing_on_the_standard_output(tmp_path: Path) -> None:
    done = process(tmp_path, "import", HYBRID, "--json")

    assert json.loads(done.stdout)["problems"] == []


def test_lines_for_people_hold_no_control_character_or_direction_mark(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """ESC, C1 and bidi marks in a name would rewrite what stands on the terminal."""
    say("Ani\x1b[2J\x9b1m \u202eb\u2066\nBudi \u2713", err=True)

    assert capsys.readouterr().err == "Ani\ufffd[2J\ufffd1m \ufffdb\ufffd Budi \u2713\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full is Linux's")
def test_an_export_onto_a_full_disk_says_so_in_one_line(tmp_path: Path, run_id: str) -> None:
    done = relevansi(tmp_path, "export", run_id, "-o", "/dev/full")

    assert done.returncode == 1
    assert done.stderr == (
        "relevansi: The disk of /dev/full is full or failing. Nothing was stored.\n"
    )


def test_a_full_disk_leaves_the_earlier_file_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[:1])
        raise OSError(errno.ENOSPC, "No space left on device")

    file = tmp_path / "figures.csv"
    file.write_bytes(b"earlier")
    monkeypatch.setattr(Path, "write_bytes", half)

    with pytest.raises(ClickException, match=r"figures\.csv"):
        write_file(file, b"later")

    assert file.read_bytes() == b"earlier"
    assert list(tmp_path.iterdir()) == [file]
