"""Every format of a comparison says the same, escapes what is hostile, and repeats itself."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.exporters.comparisons.comparisons import (
    CORRECT_EMPTY,
    DAY,
    FALSE_NEGATIVE,
    Judged,
    comparison_report,
    run,
    three_runs,
)
from webapp.exporters.comparisons import tables
from webapp.exporters.comparisons.document import document
from webapp.exporters.comparisons.files import FORMATS, file_name
from webapp.exporters.comparisons.json_file import comparison_json
from webapp.exporters.comparisons.tables import Table
from webapp.i18n import speaking
from webapp.metrics.comparisons.report import ComparisonReport, RaterShare
from webapp.printable import printable_line

HOSTILE = (
    "=1+1|<script>alert(1)</script>",
    r"\input{/etc/passwd} $x$ %&#_{}~^",
    '"quoted" [link](http://x) *a* `b`\x07',
)


@pytest.fixture(params=["id", "en"])
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    with speaking(request.param):
        yield request.param


def all_tables(report: ComparisonReport) -> list[Table]:
    return [t for section in document(report, DAY).sections for t in section.tables]


def rendered(report: ComparisonReport, name: str) -> str:
    return FORMATS[name].render(report, DAY).decode()


def hostile() -> ComparisonReport:
    judged: tuple[Judged, ...] = ("RN", "NR", CORRECT_EMPTY, FALSE_NEGATIVE)
    runs = [run(f"r{n}", *judged, name=name) for n, name in enumerate(HOSTILE)]
    runs = [
        replace(
            one,
            queries=tuple(
                replace(q, category=HOSTILE[n % 3], question=HOSTILE[(n + 1) % 3])
                for n, q in enumerate(one.queries)
            ),
        )
        for one in runs
    ]
    report = comparison_report(runs, raters=[RaterShare(HOSTILE[1], 3)])
    return replace(report, study=HOSTILE[0])


def markdown_tables(text: str) -> list[list[list[str]]]:
    found: list[list[list[str]]] = [[]]
    for line in text.splitlines():
        if line.startswith("| "):
            cells = re.split(r"(?<!\\)\|", line)[1:-1]
            found[-1].append([re.sub(r"\\(.)", r"\1", cell.strip()) for cell in cells])
        elif found[-1]:
            found.append([])
    return [[lines[0], *lines[2:]] for lines in found if lines]


class Tables(HTMLParser):
    """The tables of a page as their cells' texts, and every tag there is."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"td", "th"}:
            self.tables[-1][-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.tables[-1][-1][-1] += data.replace("\u00a0", " ")


def html(text: str) -> Tables:
    parser = Tables()
    parser.feed(text)
    return parser


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


def shown(found: Sequence[Table]) -> list[list[list[str]]]:
    return [
        [[column.heading for column in t.columns], *([c.text for c in row] for row in t.rows)]
        for t in found
    ]


@pytest.mark.usefixtures("language")
def test_markdown_prints_every_cell() -> None:
    assert markdown_tables(rendered(three_runs(), "markdown")) == shown(all_tables(three_runs()))


@pytest.mark.usefixtures("language")
def test_html_prints_every_cell() -> None:
    assert html(rendered(three_runs(), "html")).tables == shown(all_tables(three_runs()))


@pytest.mark.usefixtures("language")
def test_latex_prints_every_cell() -> None:
    text = rendered(three_runs(), "latex")
    headers_repeated = re.sub(r"\\toprule [^\n]*\\endhead\n", "", text)

    assert latex_tables(headers_repeated) == shown(all_tables(three_runs()))


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


def in_a_workbook(value: tables.Value) -> tables.Value:
    """The value to the 16 digits that a workbook keeps of a number."""
    return float(f"{value:.16g}") if isinstance(value, float) else value


def values(report: ComparisonReport, name: str) -> list[tuple[Any, ...]]:
    (table,) = [table for table in all_tables(report) if table.name == name]
    return [tuple(v for cell in row for v in cell.values) for row in table.rows]


def test_the_summary_is_the_json_s_figures() -> None:
    report = three_runs()
    runs = comparison_json(report)["runs"]

    lines = values(report, "summary")

    for line, figure in zip(lines, runs[0]["figures"], strict=True):
        assert list(line[1:]) == [
            value
            for one in runs
            for found in [one["figures"][figure]]
            for value in (
                found["value"],
                found["interval"]["lower"],
                found["interval"]["upper"],
                found["n"],
            )
        ]


def test_the_differences_are_the_json_s() -> None:
    report = three_runs()
    document = comparison_json(report)

    for line, found in zip(values(report, "differences"), document["differences"], strict=True):
        interval = found["interval"]
        assert line[1:6] == (
            found["first"],
            found["second"],
            found["mean"],
            interval["lower"],
            interval["upper"],
        )
        assert line[6:10] == (found["n"], found["wins"], found["ties"], found["losses"])
        assert line[11:] == (found["p"], found["p_holm"], found["headline"])


@pytest.mark.parametrize("figure", tables.CATEGORY_FIGURES)
def test_the_categories_are_the_json_s(figure: str) -> None:
    report = three_runs()
    runs = comparison_json(report)["runs"]

    for line in values(report, f"category_{figure}"):
        found = [one["categories"][line[0]][figure] for one in runs]
        assert list(line[1:]) == [value for one in found for value in (one["value"], one["n"])]


def test_the_questions_are_the_json_s() -> None:
    report = three_runs()

    for line, found in zip(
        values(report, "questions"), comparison_json(report)["questions"], strict=True
    ):
        assert line[:3] == (found["position"], found["question"], found["category"])
        assert line[-1] == found["spread"]
        for place, answer in enumerate(found["answers"].values()):
            _, precision, rank, success = line[3 + 4 * place : 7 + 4 * place]
            said = answer or {}
            assert precision == said.get("precision_at_5")
            assert rank == said.get("reciprocal_rank")
            assert success == said.get("success")


def test_json_is_unrounded_and_null_where_undefined() -> None:
    # P@5 of "RNN" is 1/3; an unrated run has nothing
    document = comparison_json(comparison_report([run("a", "RNN"), run("b", ".")]))

    assert document["runs"][0]["figures"]["mean_precision_at_5"]["value"] == 1 / 3
    unrated = document["runs"][1]
    assert not unrated["rated"]
    assert unrated["partial"]
    assert unrated["figures"]["mean_precision_at_5"]["value"] is None
    assert unrated["missing"]["incomplete"] == [1]
    assert document["differences"][0]["mean"] is None
    assert document["differences"][0]["p"] is None


def test_json_is_the_same_in_every_language() -> None:
    found = set()
    for code in ("id", "en"):
        with speaking(code):
            found.add(FORMATS["json"].render(three_runs(), DAY))

    assert len(found) == 1


def test_a_question_that_was_not_run_is_null_and_said() -> None:
    report = three_runs()

    assert comparison_json(report)["questions"][5]["answers"]["vector_only"] is None
    with speaking("en"):
        assert "vector_only was not asked question 6" in rendered(report, "markdown")


@pytest.mark.parametrize("name", FORMATS)
def test_a_second_run_gives_the_same_bytes(name: str) -> None:
    assert FORMATS[name].render(three_runs(), DAY) == FORMATS[name].render(three_runs(), DAY)


def test_every_table_says_who_rated_by_which_rule_until_when_with_which_version() -> None:
    with speaking("en"):
        for table in all_tables(three_runs()):
            said = " ".join([*table.notes, *(c.text for row in table.rows for c in row)])
            for part in ("Ani (1,200)", "Majority of all raters", "22 Jan 2026", "0.1.0"):
                assert part in said, table.name


def test_the_composite_is_named_as_the_original_s() -> None:
    with speaking("en"):
        for name in ("markdown", "latex", "html"):
            text = rendered(three_runs(), name)
            assert "Composite of the original comparison" in text
            assert "It decides nothing" in text


def test_hostile_names_are_text_in_markdown() -> None:
    text = rendered(hostile(), "markdown")

    assert markdown_tables(text) == [
        [[printable_line(cell) for cell in row] for row in table]
        for table in shown(all_tables(hostile()))
    ]
    assert not re.search(r"(?<!\\)<script", text)
    assert not re.search(r"(?<!\\)\]\(", text)


def test_hostile_names_are_text_in_html() -> None:
    page = html(rendered(hostile(), "html"))

    assert "script" not in page.tags
    assert page.tables[0][1][1] == HOSTILE[0]


def test_the_html_file_asks_nothing_of_any_network() -> None:
    page = html(rendered(three_runs(), "html"))

    assert {"script", "link", "img", "iframe", "image", "use"} & set(page.tags) == set()
    assert {"src", "href"} & {name for name, _ in page.attributes} == set()
    assert "url(" not in rendered(three_runs(), "html")


def test_ids_of_the_html_file_are_unique() -> None:
    ids = [value for name, value in html(rendered(three_runs(), "html")).attributes if name == "id"]

    assert len(ids) == len(set(ids))


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


def test_files_are_named_as_the_original_scripts_named_them() -> None:
    report = three_runs()

    assert file_name(report, "markdown", DAY) == "phase1_comparison_20260123.md"
    assert file_name(replace(report, phase=2), "xlsx", DAY) == "phase2_comparison_20260123.xlsx"
    assert file_name(replace(report, phase=None), "latex", DAY) == "comparison_20260123.tex"
    with pytest.raises(KeyError):
        file_name(report, "docx", DAY)


def test_json_is_one_document() -> None:
    assert json.loads(FORMATS["json"].render(three_runs(), DAY))["phase"] == 1


def test_loading_the_formats_loads_no_pandas_numpy_or_converter() -> None:
    code = (
        "import sys; from webapp.exporters.comparisons import files; "
        "from webapp.exporters.comparisons.charts import pictures; "
        "print(sorted({'pandas', 'numpy', 'vl_convert'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
