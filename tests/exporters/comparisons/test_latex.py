"""LaTeX prints every cell and compiles."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.exporters.comparisons.comparisons import (
    DAY,
    three_runs,
)
from tests.exporters.comparisons.read_files import (
    all_tables,
    hostile,
    rendered,
    shown,
)
from webapp.exporters.comparisons.files import FORMATS
from webapp.exporters.frame.latex import latex
from webapp.exporters.frame.tables import Column, Document, Section, Table, word
from webapp.metrics.comparisons.comparisons import ComparisonReport


def latex_tables(text: str) -> list[list[list[str]]]:
    found = []
    for _, body in re.findall(r"\\begin{(tabular|longtable)}(.*?)\\end{\1}", text, re.DOTALL):
        rows = [line for line in body.splitlines() if " & " in line]
        found.append([[_unlatex(cell) for cell in _cells(row)] for row in rows])
    return found


def _cells(row: str) -> list[str]:
    row = row.removeprefix(r"\toprule ").removesuffix(r"\midrule\endfirsthead")
    return re.split(r"(?<!\\) & ", row.removesuffix(r" \\"))


def _unlatex(cell: str) -> str:
    for written, meant in (
        (r"\_\allowbreak{}", "_"),
        ("{[}", "["),
        ("{]}", "]"),
        ("$-$", "−"),
        ("$>$", ">"),
        (r"\%", "%"),
        (r"\char34{}", '"'),
    ):
        cell = cell.replace(written, meant)
    return cell


@pytest.mark.usefixtures("language")
def test_latex_prints_every_cell() -> None:
    text = rendered(three_runs(), "latex")
    headers_repeated = re.sub(r"\\toprule [^\n]*\\endhead\n", "", text)

    assert latex_tables(headers_repeated) == shown(all_tables(three_runs()))


@pytest.mark.parametrize("report", [three_runs(), hostile()], ids=["plain", "hostile"])
def test_latex_is_well_formed(report: ComparisonReport) -> None:
    text = rendered(report, "latex")
    body = re.sub(r"(?m)^%.*$", "", text).replace(r"\{", "").replace(r"\}", "")

    assert body.count("{") == body.count("}")
    assert r"\input{/etc" not in text
    opened: list[str] = []
    for kind, name in re.findall(r"\\(begin|end){(\w+)}", text.split(r"\begin{document}")[1]):
        if kind == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert opened == []
    for table, lines in zip(all_tables(report), latex_tables(text), strict=True):
        assert {len(line) for line in lines} == {len(table.columns)}


@pytest.mark.parametrize("report", [three_runs(), hostile()], ids=["plain", "hostile"])
def test_a_number_fits_its_column_and_a_table_the_line(report: ComparisonReport) -> None:
    """A line is 483 pt, a digit of the smallest size 3.7, the gaps of a column 6 together."""
    text = rendered(report, "latex")
    shares = [
        [float(share) for share in re.findall(r"dimexpr([\d.]+)", line)]
        for line in re.findall(r"\\begin{(?:tabular|longtable)}{(.*)}", text)
    ]
    tables = all_tables(report)
    assert len(shares) == len(tables)
    for columns, table in zip(shares, tables, strict=True):
        assert sum(columns) <= 1.001, table.name
        for place, share in enumerate(columns):
            if table.columns[place].numeric:
                n_digits = max(sum(map(str.isdigit, row[place].text)) for row in table.rows)
                assert share * 483 - 6 >= min(n_digits, 6) * 3.7, table.name


def test_a_small_table_does_not_fill_the_line() -> None:
    columns = (Column("Angka"), Column("Nilai", numeric=True), Column("n", numeric=True))
    rows = ((word("Avg Faithfulness"), word("0,7500"), word("12")),)
    small = Table("small", "Kecil", columns, rows, ())
    found = latex(Document("x", "", (Section("x", "X", (), (small,)),))).decode()
    widths = [float(share) for share in re.findall(r"dimexpr([\d.]+)", found)]
    assert sum(widths) < 0.5
    assert widths[2] * 483 - 6 > 2 * 4.3  # two digits of 8 pt


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs LaTeX")
@pytest.mark.parametrize("whole", [True, False])
def test_latex_compiles_by_itself_and_within_a_thesis(tmp_path: Path, *, whole: bool) -> None:
    (tmp_path / "report.tex").write_bytes(FORMATS["latex"].render(hostile(), DAY))
    (tmp_path / "thesis.tex").write_text(
        r"\documentclass{report}\usepackage{array,booktabs,longtable}"
        r"\begin{document}\chapter{Hasil}\input{report}Selesai.\end{document}"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error"]
    name = "report" if whole else "thesis"
    done = subprocess.run([*command, f"{name}.tex"], cwd=tmp_path, capture_output=True, check=False)

    assert done.returncode == 0, done.stdout.decode(errors="replace")[-1500:]
    assert (tmp_path / f"{name}.pdf").exists()
