"""The four source documents of the method, walked through section by section on the sample.

Figures are recomputed here from the exported CSV by the formulas of the method's document, in
plain Python, and not by the product.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.served import PASSWORD, Person
from tests.browser.server import SEEDS, Server
from tests.browser.typists import rate_everything
from tests.cli.relevansi import document, relevansi

pytestmark = pytest.mark.journey

METHODS = {"api_only": "API Only", "vector_only": "Vector Only", "hybrid": "Hybrid"}
COLUMNS = [
    *("query_id", "question", "category", "results_count", "relevant_count"),
    *("first_relevant_rank", "overall_precision", "precision_at_5", "mrr", "success"),
    *("response_quality", "notes"),
]
AUTOMATIC = ("overall_precision", "precision_at_5", "mrr", "success")
REFERENCES = (
    "Introduction to Information Retrieval",
    "The philosophy of information retrieval evaluation",
    "The TREC-8 Question Answering Track Report",
    "https://doi.org/10.1007/978-0-387-39940-9_488",
    "Open-Domain Question Answering",
)
RUN_FILES = (
    r"test_results_\d{8}_\d{6}\.json",
    r"test_results_latest\.json",
    r"evaluation_template_\d{8}\.csv",
    r"evaluation_\d{8}\.html",
    r"evaluation_rated_\d{8}\.csv",
    r"full_responses_\d{8}\.txt",
)
STUDY_FILES = (r"phase1_comparison_\d{8}\.md", r"evaluation_report_\d{8}\.md")

Row = dict[str, str]


def test_the_evaluation_of_the_property_chatbot_from_questions_to_report(
    empty_server: Server, browser: Browser, tmp_path: Path
) -> None:
    """Document 001: phases, metrics, scales, empty lists, CSV, workflow, report, folders."""
    runs = dict(zip(METHODS, _imported(empty_server), strict=True))
    owner = Person(empty_server.url)
    owner.post("/sign-in/first", password=PASSWORD, again=PASSWORD)
    rate_everything(browser, owner)

    rated = {method: _exported(empty_server, runs[method], tmp_path) for method in METHODS}
    for method, file in rated.items():
        rows = _rows(file)
        _check_rows(rows)
        found = _figures(empty_server, "--input", file)
        assert found == _figures(empty_server, "--run", runs[method])
        _check_means(rows, found)
        _check_filled_in_by_hand(empty_server, file, rows)
    _check_comparison(empty_server, list(rated.values()), tmp_path)
    _check_folders(empty_server, tmp_path / "data" / "evaluation")
    assert relevansi(empty_server.instance, "check").stdout.startswith("Equal")


def _imported(server: Server) -> list[str]:
    """Sections 7 and 8.1: the three runs of the 30 questions; returns their ids."""
    return [server.import_runs(SEEDS / method / "test_results.json")[0] for method in METHODS]


def _exported(server: Server, run: str, folder: Path) -> Path:
    """Section 8.4: the rated CSV of a run."""
    file = folder / f"{run}.csv"
    done = relevansi(server.instance, "export", run, "-o", file)
    assert done.returncode == 0, done.stderr
    return file


def _rows(file: Path) -> list[Row]:
    reader = csv.DictReader(io.StringIO(file.read_text("utf-8")))
    rows = list(reader)
    assert reader.fieldnames == COLUMNS
    assert [int(row["query_id"]) for row in rows] == list(range(1, 31))
    return rows


def _check_rows(rows: Sequence[Row]) -> None:
    """Sections 1 to 5: each row by the formulas of the document."""
    for row in rows:
        results, success = int(row["results_count"]), int(row["success"])
        assert row["response_quality"] in set("012345"), row
        if results:
            relevant = int(row["relevant_count"])
            assert success == (relevant >= 1)
            assert float(row["overall_precision"]) == pytest.approx(relevant / results, abs=5e-5)
            rank = row["first_relevant_rank"]
            assert float(row["mrr"]) == pytest.approx(1 / int(rank) if rank else 0, abs=5e-5)
            if results <= 5:
                assert row["precision_at_5"] == row["overall_precision"]
        elif "call failed" not in row["notes"]:
            assert (row["overall_precision"], row["precision_at_5"]) == ("", "")
            assert row["notes"] == ("no data exists" if success else "should have results")


def _check_means(rows: Sequence[Row], found: dict[str, Any]) -> None:
    """Section 6: each final figure over the queries that the document names."""
    listed = [row for row in rows if int(row["results_count"])]
    expected = {
        "mean_precision_at_5": fmean(float(row["precision_at_5"]) for row in listed),
        "mean_overall_precision": fmean(float(row["overall_precision"]) for row in listed),
        "mrr": fmean(float(row["mrr"]) for row in listed),
        "success_rate": fmean(int(row["success"]) for row in rows),
        "coverage": len(listed) / len(rows),
        "mean_response_quality": fmean(int(row["response_quality"]) for row in rows),
    }
    for name, value in expected.items():
        assert found[name]["value"] == pytest.approx(value, abs=5e-5), name
    assert found["mean_response_quality"]["n"] == len(rows)


def _check_filled_in_by_hand(server: Server, file: Path, rows: Sequence[Row]) -> None:
    """Section 8.5: counts typed, automatic columns blank; what the counts decide is computed."""
    by_hand = file.with_name(f"by_hand_{file.name}")
    with by_hand.open("w", encoding="utf-8", newline="") as written:
        writer = csv.DictWriter(written, COLUMNS)
        writer.writeheader()
        writer.writerows({**row, **dict.fromkeys(AUTOMATIC, "")} for row in rows)
    found, full = (_figures(server, "--input", path) for path in (by_hand, file))
    for name in ("mean_overall_precision", "mrr", "success_rate", "coverage"):
        assert found[name]["value"] == pytest.approx(full[name]["value"], abs=5e-5), name


def _check_comparison(server: Server, rated: Sequence[Path], folder: Path) -> None:
    """Sections 8.6 and 3-phase framework: the report of phase 1, from runs and from files."""
    done = relevansi(
        server.instance, "compare", "--phase", "1", "--output", "markdown", "-o", folder
    )
    assert done.returncode == 0, done.stderr
    (file,) = folder.glob("phase1_comparison_????????.md")
    report = file.read_text("utf-8")
    assert all(name in report for name in METHODS.values())
    by_runs = document(relevansi(server.instance, "compare", "--phase", "1", "--format", "json"))
    by_files = document(
        relevansi(server.instance, "compare", "--input", *rated, "--format", "json")
    )
    means = [
        sorted(run["figures"]["mrr"]["value"] for run in found["runs"])
        for found in (by_runs, by_files)
    ]
    assert means[0] == pytest.approx(means[1], abs=5e-5)


def _check_folders(server: Server, folder: Path) -> None:
    """Sections 10 and 11: the tree, the references, and the tree read again."""
    done = relevansi(server.instance, "export-tree", folder)
    assert done.returncode == 0, done.stderr
    for method in METHODS:
        names = [path.name for path in (folder / method).iterdir()]
        for pattern in RUN_FILES:
            assert any(re.fullmatch(pattern, name) for name in names), (method, pattern)
    names = [path.name for path in folder.iterdir()]
    assert all(any(re.fullmatch(pattern, name) for name in names) for pattern in STUDY_FILES)
    (report,) = folder.glob("evaluation_report_*.md")
    text = report.read_text("utf-8")
    assert [title for title in REFERENCES if title not in text] == []

    again = document(relevansi(folder.parent / "again", "import", folder, "--json"))
    assert {run["search_method"] for run in again["runs"]} == set(METHODS)


def _figures(server: Server, option: str, source: str | Path) -> dict[str, Any]:
    done = relevansi(server.instance, "metrics", option, source, "--format", "json")
    found: dict[str, Any] = document(done)["figures"]
    return found
