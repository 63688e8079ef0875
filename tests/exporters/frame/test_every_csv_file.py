"""Claims about every CSV file: by whichever separator it is split, nothing in it is run."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.exporters.csv_files import SEPARATORS, runnable
from webapp.exporters.frame.csv_cells import Cell, CsvStyle, csv_bytes
from webapp.importers.runs.csv_ratings import original_text

pieces = st.sampled_from(
    [*"=+-@;,'\" \t\r\n1a", "\r\n", "\uff1d", "''", '""', ";=1+1", "\n- x", "-6", '"=1"']
)
texts = st.lists(pieces, max_size=8).map("".join)
cells: st.SearchStrategy[Cell] = texts | st.integers() | st.none()
# No file of ours has negative numbers in its first column, where an unsplit line would begin so.
firsts: st.SearchStrategy[Cell] = texts | st.integers(min_value=0) | st.none()
rows = st.lists(st.tuples(firsts, cells, cells), min_size=1, max_size=3)
styles = st.sampled_from(tuple(CsvStyle))


@given(rows, styles)
def test_no_cell_is_run_by_whichever_separator_a_file_is_split(
    written: list[tuple[Cell, ...]], style: CsvStyle
) -> None:
    assert runnable(csv_bytes(written, style=style)) == []


@given(rows, styles)
def test_what_was_written_is_read_again(written: list[tuple[Cell, ...]], style: CsvStyle) -> None:
    text = csv_bytes(written, style=style).decode("utf-8-sig")
    read = csv.reader(io.StringIO(text, newline=""), delimiter=style.delimiter)

    assert [[original_text(cell, style.delimiter) for cell in row] for row in read] == [
        [_as_kept(cell) for cell in row] for row in written
    ]


@pytest.mark.parametrize("separator", SEPARATORS)
def test_a_formula_is_found_behind_any_separator(separator: str) -> None:
    """The check itself can fail."""
    assert runnable(f"a,b{separator}=1\n".encode()) == ["=1"]
    assert runnable(f"a{separator}-6.2\n".encode()) == []


def _as_kept(cell: Cell) -> str:
    if cell is None:
        return ""
    return str(cell).replace("\r\n", "\n").replace("\r", "\n")
