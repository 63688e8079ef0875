"""Every format of a comparison says the same, escapes what is hostile, and repeats itself."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import docx
import openpyxl
import pytest
from lxml.html import fromstring  # type: ignore[import-untyped]

from relevansi.config import resource
from relevansi.exporters.comparisons.files import FORMATS, comparison_json
from relevansi.exporters.frame.csv_cells import Value
from relevansi.i18n import speaking
from relevansi.metrics.comparisons.comparisons import ComparisonReport
from relevansi.printable import printable_line
from tests.exporters.comparisons.comparisons import (
    DAY,
    HOSTILE,
    all_tables,
    comparison_report,
    hostile,
    rendered,
    run,
    texts_of,
    three_runs,
)

both = pytest.mark.parametrize("report", [three_runs(), hostile()], ids=["plain", "hostile"])


def test_every_table_names_its_raters_rule_time_and_version() -> None:
    with speaking("en"):
        tables = all_tables(three_runs())
        for table in tables[1:]:  # the first two pages say it in a paragraph
            words = " ".join([*table.notes, *(c.text for row in table.rows for c in row)])
            for part in ("Ani (1,200)", "Majority of all raters", "22 Jan 2026", "0.1.0"):
                assert part in words, table.name


def test_json_is_unrounded_null_where_undefined_and_the_same_in_every_language() -> None:
    # P@5 of "RNN" is 1/3; an unrated run has nothing
    document = comparison_json(comparison_report([run("a", "RNN"), run("b", ".")]))

    assert document["runs"][0]["figures"]["mean_precision_at_5"]["value"] == 1 / 3
    unrated = document["runs"][1]
    assert (unrated["rated"], unrated["partial"]) == (False, True)
    assert unrated["figures"]["mean_precision_at_5"]["value"] is None
    assert unrated["missing"]["incomplete"] == [1]
    assert (document["differences"][0]["mean"], document["differences"][0]["p"]) == (None, None)
    result = set()
    for code in ("id", "en"):
        with speaking(code):
            result.add(FORMATS["json"].render(three_runs(), DAY))
    assert len(result) == 1
    assert json.loads(result.pop())["questions"][5]["answers"]["vector_only"] is None


def test_the_tables_hold_the_figures_of_the_json() -> None:
    """A figure that is still open has its bounds instead of a value and an interval."""
    report = three_runs()
    document, tables = (
        comparison_json(report),
        {table.name: table for table in all_tables(report)},
    )
    complete = comparison_report([run("a", "RNN", "NR", "R"), run("b", "R", "RN", "NN")])
    tested, of_tests = (
        comparison_json(complete),
        {table.name: table for table in all_tables(complete)},
    )
    tables |= {name: of_tests[name] for name in ("differences", "signed_rank", "tests")}
    document |= {name: tested[name] for name in ("differences", "signed_rank")}
    lines = {
        name: [[value for cell in row for value in cell.values] for row in table.rows]
        for name, table in tables.items()
    }

    figures = [name for name in document["runs"][0]["figures"] if name != "composite"]
    for line, figure in zip(lines["summary"], figures, strict=True):
        result = [table["figures"][figure] for table in document["runs"]]
        expected: list[float | None] = []
        for table in result:
            bounds = table["bounds"].values()
            estimate = [None] * 3
            if len({*bounds}) == 1:  # nothing that is open can move it
                settled = table["bounds"]["lower"]
                is_whole = settled == table["value"]
                estimate = [settled, *(table["interval"].values() if is_whole else [None] * 2)]
            expected += [*estimate, table["n"], *bounds]
        assert line[1:] == expected
    for line in lines["category_mrr"]:
        figures = [table.categories[str(line[0])]["mrr"] for table in report.comparison.contenders]
        assert line[1:] == [value for table in figures for value in (table.settled, table.n)]
    main = [table for table in document["differences"] if not table["false_negatives_at_zero"]]
    main = [table for table in main if table["figure"] != "mean_overall_precision"]
    for line, table in zip(lines["tests"], main, strict=True):
        assert line[1:4] == [table["first"], table["second"], table["mean"]]
        assert line[4:] == [*table["interval"].values(), table["n"], table["p_holm"]]
    for line, table in zip(lines["questions"], document["questions"], strict=True):
        assert [*line[:3], line[-1]] == [
            table[k] for k in ("position", "question", "category", "spread")
        ]
    for line, table in zip(lines["differences"], document["differences"], strict=True):
        names = ("first", "second", "first_value", "second_value", "mean")
        counts = ("n", "wins", "ties", "losses")
        assert line[1:8] == [*(table[name] for name in names), *table["interval"].values()]
        assert line[8:13] == [table["d_z"], *(table[name] for name in counts)]
        assert line[14:] == [table["p"], table["p_holm"], table["headline"]]
    for line, table in zip(lines["signed_rank"], document["signed_rank"], strict=True):
        assert line[3:7] == [table[name] for name in ("n", "zeros", "positive", "negative")]
        assert line[8:] == [table["p"], table["p_holm"]]


@both
@pytest.mark.usefixtures("language")
def test_the_workbook_holds_every_value_unrounded_and_none_that_runs(
    report: ComparisonReport,
) -> None:
    book = openpyxl.load_workbook(io.BytesIO(FORMATS["xlsx"].render(report, DAY)))

    for table in all_tables(report):
        lines = list(book[table.name].iter_rows(min_row=2, values_only=True))
        below = [line[0] for line in lines[len(table.rows) :]]
        assert len(below) >= len(table.notes)
        if report is three_runs():
            expected = [tuple(value for cell in row for value in cell.values) for row in table.rows]
            assert lines[: len(expected)] == [tuple(map(in_a_workbook, row)) for row in expected]
    cells = [cell for sheet in book.worksheets for row in sheet.iter_rows() for cell in row]
    texts = [cell for cell in cells if isinstance(cell.value, str)]
    assert {cell.data_type for cell in texts} == {"s"}
    assert not [cell.value for cell in texts if str(cell.value).startswith(("=", "+", "@"))]


def in_a_workbook(value: Value) -> Value:
    """The value to the 16 digits that a workbook keeps of a number."""
    return float(f"{value:.16g}") if isinstance(value, float) else value


def markdown_tables(text: str) -> list[list[list[str]]]:
    result: list[list[list[str]]] = [[]]
    for line in text.splitlines():
        if line.startswith("| "):
            cells = re.split(r"(?<!\\)\|", line)[1:-1]
            result[-1].append([re.sub(r"\\(.)", r"\1", cell.strip()) for cell in cells])
        elif result[-1]:
            result.append([])
    return [[lines[0], *lines[2:]] for lines in result if lines]


@both
@pytest.mark.usefixtures("language")
def test_markdown_prints_every_cell_and_hostile_names_as_text(report: ComparisonReport) -> None:
    text = rendered(report, "markdown")

    assert markdown_tables(text) == [
        [[printable_line(cell) for cell in row] for row in table]
        for table in texts_of(all_tables(report))
    ]
    assert not re.search(r"(?<!\\)<script", text)
    assert not re.search(r"(?<!\\)\]\((?!data:image/svg)", text)  # no link but to the picture


def html_tables(text: str) -> list[list[list[str]]]:
    tables = [*fromstring(text).iter("table")]
    return [
        [
            [cell.text_content().strip().replace("\u00a0", " ") for cell in row.iter("th", "td")]
            for row in table.iter("tr")
        ]
        for table in tables
    ]


@pytest.mark.usefixtures("language")
def test_html_prints_every_cell_loads_nothing_and_names_each_row() -> None:
    text = rendered(three_runs(), "html")
    elements = [*fromstring(text).iter()]
    ids = [element.get("id") for element in elements if element.get("id")]
    loading = {"script", "link", "img", "iframe", "image", "use"}
    style = resource("static").joinpath("comparisons", "report.css").read_text("utf-8")
    tokens = resource("static").joinpath("frame", "tokens.css").read_text("utf-8")

    assert html_tables(text) == texts_of(all_tables(three_runs()))
    assert not [
        element
        for element in elements
        if element.tag in loading or {"src", "href"} & {*element.keys()}
    ]
    assert "url(" not in text
    assert len(ids) == len(set(ids))
    assert f"<style>{tokens}{style}</style>" in text  # a browser reads no entities in a style
    rows = [row for element in elements if element.tag == "tbody" for row in element.iter("tr")]
    assert all(len(row.findall("th")) == 1 for row in rows)
    attacked = rendered(hostile(), "html")
    assert not [*fromstring(attacked).iter("script")]
    assert any(HOSTILE[0] in row for table in html_tables(attacked) for row in table)


def latex_tables(text: str) -> list[list[list[str]]]:
    result = []
    for _, body in re.findall(r"\\begin{(tabular|longtable)}(.*?)\\end{\1}", text, re.DOTALL):
        rows = [line for line in body.splitlines() if " & " in line]
        result.append([[_unlatex(cell) for cell in _cells(row)] for row in rows])
    return result


def _cells(row: str) -> list[str]:
    row = row.removeprefix(r"\toprule ").removesuffix(r"\midrule\endfirsthead")
    return re.split(r"(?<!\\) & ", row.removesuffix(r" \\"))


def _unlatex(cell: str) -> str:
    for written, plain in (
        (r"\_\allowbreak{}", "_"),
        ("{[}", "["),
        ("{]}", "]"),
        ("$-$", "−"),
        ("$>$", ">"),
        (r"\%", "%"),
        (r"\char34{}", '"'),
    ):
        cell = cell.replace(written, plain)
    return cell


@both
@pytest.mark.usefixtures("language")
def test_latex_prints_every_cell_and_is_well_formed(report: ComparisonReport) -> None:
    text = rendered(report, "latex")
    body = re.sub(r"(?m)^%.*$", "", text).replace(r"\{", "").replace(r"\}", "")
    opened: list[str] = []
    for kind, name in re.findall(r"\\(begin|end){(\w+)}", text.split(r"\begin{document}")[1]):
        if kind == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    cells = latex_tables(re.sub(r"\\toprule [^\n]*\\endhead\n", "", text))

    assert opened == []
    assert body.count("{") == body.count("}")
    assert r"\input{/etc" not in text
    if report is three_runs():
        assert cells == texts_of(all_tables(report))
    for table, lines in zip(all_tables(report), cells, strict=True):
        assert {len(line) for line in lines} == {len(table.columns)}


@both
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


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs LaTeX")
@pytest.mark.parametrize("alone", [True, False])
def test_latex_compiles_by_itself_and_within_a_thesis(tmp_path: Path, *, alone: bool) -> None:
    (tmp_path / "report.tex").write_bytes(FORMATS["latex"].render(hostile(), DAY))
    (tmp_path / "thesis.tex").write_text(
        r"\documentclass{report}\usepackage{array,booktabs,longtable}"
        r"\begin{document}\chapter{Hasil}\input{report}Selesai.\end{document}"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error"]
    name = "report" if alone else "thesis"
    process = subprocess.run(
        [*command, f"{name}.tex"], cwd=tmp_path, capture_output=True, check=False
    )

    assert process.returncode == 0, process.stdout.decode(errors="replace")[-1500:]
    assert (tmp_path / f"{name}.pdf").exists()


def test_a_provisional_report_is_called_so_first_and_has_no_p() -> None:
    with speaking("en"):
        lines = rendered(three_runs(), "markdown").splitlines()
        tables = {table.name for table in all_tables(three_runs())}

    assert lines[4] == "**23 January 2026. Raters: A., B. 6 questions, 3 runs.**"
    assert lines[6] == "Provisional report."
    assert not [line for line in lines if re.search(r"\bp [=<]|\| p", line)]
    assert not tables & {"tests", "signed_rank"}


@both
def test_word_reads_every_heading_caption_and_cell(report: ComparisonReport) -> None:
    data = FORMATS["docx"].render(report, DAY)
    word = docx.Document(io.BytesIO(data))
    styles = [
        (paragraph.style.name, paragraph.text) for paragraph in word.paragraphs if paragraph.style
    ]

    cells = [[[cell.text for cell in row.cells] for row in table.rows] for table in word.tables]
    assert cells == [
        [[printable_line(cell) for cell in row] for row in table]
        for table in texts_of(all_tables(report))
    ]
    assert [name for name, _ in styles].count("Heading 1") == 1
    assert [name for name, _ in styles].count("Caption") == len(word.tables) + 1
    assert len(word.inline_shapes) == 1
    assert all(table.rows[0]._tr.xpath("w:trPr/w:tblHeader") for table in word.tables)
    assert FORMATS["docx"].render(report, DAY) == data
