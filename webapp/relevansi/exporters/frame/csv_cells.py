"""CSV files that a spreadsheet shows and never runs, in the plain and the Excel style."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

from relevansi.notation import decimal_mark, half_up

Value = str | int | float | None  # the content of one cell: text, a number, or nothing

# The characters that start a formula in Excel, LibreOffice and Google Sheets, the full-width forms
# included; apostrophes before it count too, so that taking one off restores any text.
_RUNNABLE = re.compile("'*[=+\\-@\\t\\r\\n\uff1d\uff0b\uff0d\uff20]")


class CsvStyle(StrEnum):
    """How a CSV file is written: with commas and decimal points, or as an Excel opens it.

    ``EXCEL`` has ``;``, a byte order mark and the decimal sign of the language in force.
    """

    PLAIN = "plain"
    EXCEL = "excel"

    @property
    def delimiter(self) -> str:
        """The character between two cells of a line."""
        return ";" if self is CsvStyle.EXCEL else ","

    def number(self, text: str) -> str:
        """`text`, a number with a decimal point, with the decimal sign of the style."""
        return text.replace(".", decimal_mark()) if self is CsvStyle.EXCEL else text


# Where a cell would begin like a formula if the file were split at another separator than its own.
# A quoted cell is then no longer one cell: a line end inside it begins a cell too.
_SPLIT_OFF = {
    style: re.compile(
        f"(?<=[{delimiter}\\n])(?=[\"']*[=+\\-@\\t\uff1d\uff0b\uff0d\uff20])"
        "|(?<=\\t)(?=[\"']*[=+\\-@\uff1d\uff0b\uff0d\uff20])"
    )
    for style, delimiter in ((CsvStyle.PLAIN, ";"), (CsvStyle.EXCEL, ","))
}


def neutralised(text: str) -> str:
    """`text`, after an apostrophe when a spreadsheet would run it as a formula."""
    return f"'{text}" if _RUNNABLE.match(text) else text


def cell_text(cell: Value, style: CsvStyle = CsvStyle.PLAIN) -> str:
    """`cell` as the file has it: numbers in their shortest form, ``None`` as blank, lines with LF.

    An apostrophe comes before a text that begins like a formula, and before a part that would
    become such a cell if the file were split at another separator than its own.
    """
    if cell is None:
        return ""
    if isinstance(cell, str):
        text = neutralised(cell.replace("\r\n", "\n").replace("\r", "\n"))
        return _SPLIT_OFF[style].sub("'", text)
    return str(int(cell)) if cell == int(cell) else style.number(repr(cell))


def csv_bytes(rows: Iterable[Sequence[Value]], *, style: CsvStyle = CsvStyle.PLAIN) -> bytes:
    """The file of `rows`, header first: UTF-8, every line ended by LF."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=style.delimiter, lineterminator="\n")
    writer.writerows([cell_text(cell, style) for cell in row] for row in rows)
    encoding = "utf-8-sig" if style is CsvStyle.EXCEL else "utf-8"
    return buffer.getvalue().encode(encoding)


DECIMALS = 4


def rounded(value: float | None) -> float | None:
    """Return a figure with the decimals that a CSV has of it, halves up."""
    return None if value is None else float(half_up(value, DECIMALS))
