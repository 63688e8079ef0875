"""A run is exported to a file or to the standard output."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.cli.relevansi import document, relevansi


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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full is Linux's")
def test_an_export_onto_a_full_disk_says_so_in_one_line(tmp_path: Path, run_id: str) -> None:
    done = relevansi(tmp_path, "export", run_id, "-o", "/dev/full")

    assert done.returncode == 1
    assert done.stderr == (
        "relevansi: The disk of /dev/full is full or failing. Nothing was stored.\n"
    )
