"""CSV files that no spreadsheet runs, by whichever separator it splits them; figures in JSON."""

from __future__ import annotations

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevansi.exporters.frame.csv_cells import (
    CsvStyle,
    Value,
    cell_text,
    csv_bytes,
    neutralised,
    rounded,
)
from relevansi.i18n import speaking
from relevansi.importers.runs.csv_ratings import original_text
from tests.exporters.csv_files import runnable

pieces = st.sampled_from(
    [*"=+-@;,'\" \t\r\n1a", "\r\n", "\uff1d", "''", '""', ";=1+1", "\n- x", "-6", '"=1"']
)
texts = st.lists(pieces, max_size=8).map("".join)
cells: st.SearchStrategy[Value] = texts | st.integers() | st.none()
# No file of ours has negative numbers in its first column, where an unsplit line would begin so.
firsts: st.SearchStrategy[Value] = texts | st.integers(min_value=0) | st.none()
rows = st.lists(st.tuples(firsts, cells, cells), min_size=1, max_size=3)
styles = st.sampled_from(tuple(CsvStyle))


def test_what_a_spreadsheet_would_run_is_led_by_an_apostrophe() -> None:
    for run in (
        "=1+1",
        "+62811",
        "-2",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "\uff1d1",
        "'=1",
        "''=1",
    ):
        assert neutralised(run) == f"'{run}"
    for calm in ("", "rumah", "'s", "a=1", "1-2", " = "):
        assert neutralised(calm) == calm


@pytest.mark.parametrize(
    ("text", "plain", "excel"),
    [
        ("baik;=1+1", "baik;'=1+1", "baik;=1+1"),
        ("baik,=1+1", "baik,=1+1", "baik,'=1+1"),
        ('a;"=1"', 'a;\'"=1"', 'a;"=1"'),
        ("a\t@b", "a\t'@b", "a\t'@b"),
        ("a;'=1", "a;''=1", "a;'=1"),
        ("a; 5,-6", "a; 5,-6", "a; 5,'-6"),
    ],
)
def test_a_part_that_another_separator_splits_off_is_not_run_either(
    text: str, plain: str, excel: str
) -> None:
    assert cell_text(text) == plain
    assert cell_text(text, CsvStyle.EXCEL) == excel
    assert original_text(plain, ",") == original_text(excel, ";") == text


def test_the_plain_style_is_utf_8_with_commas_and_line_feeds_only() -> None:
    rows: list[tuple[Value, ...]] = [
        ("a", "b"),
        ("é,\r\nx", 1.0),
        ('say "hi"', 0.5),
        ("old\rmac", None),
    ]

    assert csv_bytes(rows) == ('a,b\n"é,\nx",1\n"say ""hi""",0.5\n"old\nmac",\n'.encode())


@pytest.mark.parametrize(("language", "number"), [("id", b"0,5"), ("en", b"0.5")])
def test_the_excel_style_has_a_mark_semicolons_and_the_decimal_sign_of_the_language(
    language: str, number: bytes
) -> None:
    with speaking(language):
        written = csv_bytes([("a;b", 0.5)], style=CsvStyle.EXCEL)
        assert csv_bytes([(0.5,)]) == b"0.5\n"

    assert written == b'\xef\xbb\xbf"a;b";' + number + b"\n"


@given(rows, styles)
def test_no_cell_is_run_by_whichever_separator_and_what_was_written_is_read_again(
    written: list[tuple[Value, ...]], style: CsvStyle
) -> None:
    data = csv_bytes(written, style=style)
    assert runnable(data) == []
    text = io.StringIO(data.decode("utf-8-sig"), newline="")
    for row, cells in zip(csv.reader(text, delimiter=style.delimiter), written, strict=True):
        expected = ["" if cell is None else re.sub("\r\n?", "\n", str(cell)) for cell in cells]
        assert [original_text(cell, style.delimiter) for cell in row] == expected


@pytest.mark.parametrize(
    ("value", "written"),
    [(1 / 3, 0.3333), (1 / 32, 0.0313), (3 / 160, 0.0188), (0.000012345678, 0.0), (None, None)],
)
def test_a_csv_has_four_decimals_with_halves_up(value: float | None, written: float | None) -> None:
    assert rounded(value) == written
