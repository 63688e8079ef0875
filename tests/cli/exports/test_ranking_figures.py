"""``relevansi metrics`` and ``compare`` with figures by name, those of whole lists too."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from msgspec.structs import replace

from relevansi.exporters.exports.csv_ratings import rated_csv
from relevansi.services.exports import exports, rated_imports
from relevansi.services.runs import reports
from relevansi.services.study import studies
from tests.cli.rated_files import rated
from tests.cli.relevansi import document, relevansi
from tests.services.judging.ranked_studies import make_graded, store_lists, store_qrels
from tests.stored_studies import folder_made_once, study_in

NAMES = ("--figures", "ap, RBP(0.8),mrr")
DEEP = {"h1": ["a", "b", "c", "d"], "h2": ["d", "e"]}


@pytest.fixture(name="pair")
@folder_made_once
def _pair(tmp_path: Path) -> tuple[str, str]:
    """Lists of which raters see two ranks; the third of h1 is relevant by a file of verdicts."""
    with study_in(tmp_path) as (session, study):
        make_graded(session, study)
        first = store_lists(session, study, "bm25", DEEP, depth=2)
        second = store_lists(session, study, "dense", {"h1": ["c", "b"], "h2": ["x", "d"]})
        owner = studies.raters(session, study)[0]
        store_qrels(session, study, owner, {"h1": {"a": "1", "b": "3", "c": "2"}})
    return first, second


def test_any_figure_is_computed_on_request(tmp_path: Path, pair: tuple[str, str]) -> None:
    command = ("metrics", "--run", pair[0], *NAMES)
    for rule in ((), ("--rule", "majority"), ("--rule", "adjudicated")):
        printed = document(relevansi(tmp_path, *command, *rule, "--format", "json"))
        assert list(printed["figures"]) == ["AP", "Judged@1000", "RBP(0.8)", "mrr"]
        of_h1 = printed["queries"][0]["figures"]
        # b at rank 2 and c at rank 3, below what raters see: (1/2 + 2/3) / 2
        assert of_h1["AP"] == {"value": pytest.approx(7 / 12), "lower": None, "upper": None}
        assert of_h1["Judged@1000"]["value"] == 0.75
        # 0.2 x (0.8 + 0.64), and 0.2 x 0.512 for d, and 0.8^4 below
        assert of_h1["RBP(0.8)"] == {"value": 0.288, "lower": 0.288, "upper": 0.8}
        assert printed["queries"][1]["figures"]["AP"]["value"] is None

    lines = list(csv.reader(io.StringIO(relevansi(tmp_path, *command, "--format", "csv").stdout)))
    assert ["", "AP", "0.5833", "", "", "1"] in lines
    table = relevansi(tmp_path, *command)
    assert "MRR (from grade 2)" in table.stdout


def test_a_comparison_takes_them_too(tmp_path: Path, pair: tuple[str, str]) -> None:
    command = ("compare", "--runs", *pair, *NAMES, "--format", "json")
    printed = document(relevansi(tmp_path, *command))

    assert printed["headline"] == ["AP", "RBP(0.8)", "mrr"]
    (of_ap,) = (difference for difference in printed["differences"] if difference["figure"] == "AP")
    # c and b first: 1 against 0.5833
    assert (of_ap["n"], of_ap["mean"]) == (1, pytest.approx(-5 / 12))


@pytest.mark.parametrize("name", ["precision", "P@0", "nDCG"])
def test_an_unknown_name_is_refused_with_those_there_are(
    tmp_path: Path, pair: tuple[str, str], name: str
) -> None:
    process = relevansi(tmp_path, "metrics", "--run", pair[0], "--figures", f"AP,{name}")
    assert process.returncode == 1
    assert name in process.stderr
    assert "nDCG@k" in process.stderr


@pytest.mark.parametrize("file_format", sorted({*exports.FORMATS} - {"phoenix", "rank-eval"}))
def test_every_export_is_made(tmp_path: Path, pair: tuple[str, str], file_format: str) -> None:
    file = tmp_path / "made"
    process = relevansi(tmp_path, "export", pair[0], "--format", file_format, "-o", file)

    assert process.returncode == 0, process.stderr
    if file_format == "wide-csv":
        header, *lines = csv.reader(io.StringIO(file.read_text("utf-8")))
        assert [line[0] for line in lines] == ["h1", "h2"]
        assert sum(name.startswith("nDCG@10") for name in header) == 2


def test_a_rated_file_in_the_original_columns_is_found_equal(
    tmp_path: Path, pair: tuple[str, str]
) -> None:
    with study_in(tmp_path) as (session, study):
        report = reports.report(session, study, pair[0], reports.rule_of(session, study))
        data = rated_csv(replace(report, is_original=True))
        comparison = rated_imports.compare(session, study, "rated.csv", data, [*pair])

    assert (comparison.run_id, comparison.differing) == (pair[0], ())


def test_a_rated_file_has_no_grades(tmp_path: Path) -> None:
    process = relevansi(tmp_path, "metrics", "--input", rated(tmp_path), "--figures", "AP")
    assert process.returncode == 2
