"""Rated CSVs on the command line: their figures, and files filled in by hand."""

from __future__ import annotations

from pathlib import Path

from tests.cli.relevansi import document, relevansi

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
