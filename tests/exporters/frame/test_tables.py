"""Cells of reports, texts in LaTeX, workbooks, and scripts joined into one."""

from __future__ import annotations

import io
from typing import Any

import openpyxl
import pytest

from relevansi.exporters.exports.csv_ratings import RATED_COLUMNS, rated_rows
from relevansi.exporters.frame.latex import escaped
from relevansi.exporters.frame.scripts import bundled, imported
from relevansi.exporters.frame.spreadsheets import Sheet, workbook
from relevansi.exporters.frame.tables import Cell, stacked, whole_number, word_or_dash
from relevansi.i18n import speaking
from relevansi.metrics.judging.figures import RunReport
from tests.exporters.reports import CORRECT_EMPTY, report, row


def test_a_cell_keeps_the_values_behind_its_text() -> None:
    assert whole_number(12_345) == Cell("12.345", (12_345,))
    with speaking("en"):
        assert whole_number(12_345) == Cell("12,345", (12_345,))
    assert word_or_dash(None) == Cell("-", (None,))
    cell = stacked(("0.80", "n = 5"), (0.8, 5))
    assert (cell.text, cell.lines, cell.values) == ("0.80 n = 5", ("0.80", "n = 5"), (0.8, 5))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("50% & $5 #1", r"50\% \& \$5 \#1"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("a_b", r"a\_\allowbreak{}b"),
        ("a--b", "a-{}-b"),  # two hyphens would become a dash
        ("don''t", "don'{}'t"),
        ("[1] *", "{[}1{]} {*}"),
        ("10⁻⁷", "10$^{-7}$"),
        ("é ž", "é ž"),
        ("e\u0301", "é"),  # one letter, however it was typed
        ("“x”–€", "“x”–€"),
        ("混", r"\otherscript{混}"),
        ("a\r\nb\u2028c", "a b c"),
    ],
)
def test_a_text_is_written_as_latex_prints_it(text: str, written: str) -> None:
    assert escaped(text) == written


def cells(run_report: RunReport) -> list[list[Any]]:
    data = workbook([Sheet("ratings", RATED_COLUMNS, rated_rows(run_report))])
    sheet = openpyxl.load_workbook(io.BytesIO(data))["ratings"]
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


def test_each_module_is_a_function_that_returns_its_exports() -> None:
    first = "const own = 1;\nexport function keep(name) {}\nexport const LIMIT = own;"
    second = 'import { keep, LIMIT } from "../frame/memory.js";\nkeep(LIMIT);'

    assert imported(second) == ["../frame/memory.js"]
    assert bundled({"memory.js": first, "page.js": second}) == (
        "const parts = {};\n"
        'parts["memory.js"] = (() => {\nconst own = 1;\nfunction keep(name) {}\n'
        "const LIMIT = own;\nreturn { keep, LIMIT };\n})();\n"
        'parts["page.js"] = (() => {\nconst { keep, LIMIT } = parts["memory.js"];\nkeep(LIMIT);\n'
        "return {  };\n})();"
    )
