"""The workbook holds every value, and none that runs."""

from __future__ import annotations

import io

import openpyxl
import pytest

from tests.exporters.comparisons.comparisons import (
    DAY,
    three_runs,
)
from tests.exporters.comparisons.read_files import (
    all_tables,
    hostile,
)
from webapp.exporters.comparisons.files import FORMATS
from webapp.exporters.frame.tables import Value


@pytest.mark.usefixtures("language")
def test_the_workbook_holds_every_value_unrounded() -> None:
    report = three_runs()
    book = openpyxl.load_workbook(io.BytesIO(FORMATS["xlsx"].render(report, DAY)))

    for table in all_tables(report):
        lines = list(book[table.name].iter_rows(min_row=2, values_only=True))
        expected = [tuple(value for cell in row for value in cell.values) for row in table.rows]
        assert lines[: len(expected)] == [tuple(map(in_a_workbook, row)) for row in expected]
        below = [line[0] for line in lines[len(expected) :]]
        assert set(table.notes) <= set(below)


def in_a_workbook(value: Value) -> Value:
    """The value to the 16 digits that a workbook keeps of a number."""
    return float(f"{value:.16g}") if isinstance(value, float) else value


def test_hostile_names_run_in_no_workbook() -> None:
    book = openpyxl.load_workbook(io.BytesIO(FORMATS["xlsx"].render(hostile(), DAY)))
    texts = [
        cell
        for sheet in book.worksheets
        for row in sheet.iter_rows()
        for cell in row
        if isinstance(cell.value, str)
    ]

    assert {cell.data_type for cell in texts} == {"s"}
    assert not [cell.value for cell in texts if str(cell.value).startswith(("=", "+", "@"))]
