from __future__ import annotations

import io
import subprocess
import sys
from typing import Any

import openpyxl

from tests.exporters.reports import CORRECT_EMPTY, report, row
from webapp.exporters.exports.csv_ratings import RATED_COLUMNS
from webapp.exporters.frame.spreadsheets import SHEET, rated_xlsx
from webapp.metrics.judging.figures import RunReport


def cells(found: RunReport) -> list[list[Any]]:
    sheet = openpyxl.load_workbook(io.BytesIO(rated_xlsx(found)))[SHEET]
    return [[(cell.value, cell.data_type) for cell in line] for line in sheet.iter_rows()]


def test_the_workbook_has_the_cells_of_the_csv_with_numbers_as_numbers() -> None:
    header, listed, empty, unrated = cells(
        report(row("NRR", 1, quality=4), row(CORRECT_EMPTY, 2), row("R.", 3))
    )

    assert [value for value, _ in header] == list(RATED_COLUMNS)
    assert [value for value, _ in listed[3:]] == [3, 2, 2, 2 / 3, 2 / 3, 0.5, 1, 4, None]
    assert [value for value, _ in empty[3:]] == [0, 0, None, None, None, 0, 1, 0, "no data exists"]
    assert [value for value, _ in unrated[3:]] == [2, *[None] * 8]
    assert {kind for _, kind in listed[3:]} == {"n"}


def test_no_cell_is_a_formula_or_an_error() -> None:
    notes = ["=1+1", "@SUM(A1)", "#N/A", "bell\x07"]
    rows = cells(report(*(row("R", n, notes=text) for n, text in enumerate(notes))))[1:]

    assert [line[-1] for line in rows] == [
        ("'=1+1", "s"),
        ("'@SUM(A1)", "s"),
        ("#N/A", "s"),
        ("bell", "s"),
    ]


def test_a_report_without_rows_has_a_header() -> None:
    assert len(cells(report())) == 1


def test_loading_the_exporters_loads_no_pandas() -> None:
    code = "import sys, webapp.exporters.frame.spreadsheets; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"
