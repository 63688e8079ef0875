"""CSV files as a spreadsheet opens them that takes another separator for the file's own."""

from __future__ import annotations

import csv
import io
import re

SEPARATORS = (",", ";", "\t")
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


def runnable(data: bytes) -> list[str]:
    text = data.decode("utf-8-sig")
    return [
        cell
        for separator in SEPARATORS
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        for cell in row
        if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20"))
        and not _NUMBER.fullmatch(cell)
    ]
