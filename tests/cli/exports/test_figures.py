"""Figures on the command line are those of the judgments, or of a rated CSV."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.cli.rated_files import rated
from tests.cli.relevansi import Stream, document, relevansi

FIGURE_KEYS = [
    "mean_precision_at_5", "mean_overall_precision", "mrr", "mrr_answerable", "success_rate",
    "coverage", "mean_response_quality", "composite",
]  # fmt: skip


METRICS_KEYS = [
    "run", "rule", "cannot_tell", "n_queries", "n_complete", "n_with_results", "n_failed",
    "n_unreadable", "figures", "categories", "queries",
]  # fmt: skip


QUERY_KEYS = [
    "query_id", "question", "category", "results_count", "judged_count", "relevant_count",
    "first_relevant_rank", "overall_precision", "precision_at_5", "mrr", "success",
    "response_quality", "empty_outcome", "notes", "complete",
]  # fmt: skip


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
