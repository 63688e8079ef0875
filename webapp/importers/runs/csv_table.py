"""CSV files as people have them: records by column name, with the line each begins in."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from webapp.i18n import mark
from webapp.records import Problem, Severity

DELIMITERS = (",", ";", "\t")
LONGEST_HEADER = 64 * 1024
"""Characters; a longer first line is not a header, and slow to split."""

MESSAGES = {
    "csv_not_utf8": mark(
        "%(file)s, line %(line)s: this is not UTF-8 text. Save the file as “CSV UTF-8” in the "
        "spreadsheet and try again."
    ),
    "csv_columns_missing": mark(
        "%(file)s is no rated CSV: its first line lacks the columns %(columns)s. Choose the "
        "exported CSV, with its first line."
    ),
    "csv_broken_record": mark(
        "%(file)s, line %(line)s cannot be read (%(reason)s) and is left out. Close the "
        "quotation mark that is open there."
    ),
    "csv_cell_count": mark(
        "%(file)s, line %(line)s has %(cells)s cells instead of %(columns)s and is left out. "
        "Put a text that holds a comma, a semicolon or a line break in quotation marks."
    ),
}

# The same characters as in `exporters.frame.csv_cells`, which put the apostrophe there.
_NEUTRALISED = re.compile("'(?='*[=+\\-@\\t\\r\\n\uff1d\uff0b\uff0d\uff20])")


# The same for a part of a cell that another separator would split off, by the file's own one.
_SPLIT_OFF = {
    own: re.compile(
        f"(?<=[{other}\\n])'(?=[\"']*[=+\\-@\\t\uff1d\uff0b\uff0d\uff20])"
        "|(?<=\\t)'(?=[\"']*[=+\\-@\uff1d\uff0b\uff0d\uff20])"
    )
    for own, other in ((",", ";"), (";", ","))
}


class Record(Struct, frozen=True):
    """One record: the 1-based line it begins in, and its cells by column name."""

    line: int
    cells: Mapping[str, str]


class CsvTable(Struct, frozen=True):
    """The records of a file that can be read, and what is wrong with the rest."""

    columns: tuple[str, ...]
    records: tuple[Record, ...]
    problems: tuple[Problem, ...]


def read_table(name: str, data: bytes, *, required: Iterable[str]) -> CsvTable:
    """The records of the CSV file `name`, whatever its delimiter, with or without a BOM.

    Column names are taken from the first line, in lower case. Without one of the `required`
    columns, or when the bytes are not UTF-8, there is a problem and no record. Blank lines
    are passed over; a line that cannot be read is reported and the reading goes on.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return CsvTable((), (), (Problem(Severity.ERROR, "csv_not_utf8", name, line=line),))
    lines = list(io.StringIO(text, newline=""))
    if lines and len(lines[0]) > LONGEST_HEADER:
        lines = []
    delimiter = max(DELIMITERS, key=lambda d: _known(lines, d, required))
    found = list(_raw_records(lines, delimiter))
    columns = _columns(found)
    missing = [column for column in required if column not in columns]
    if missing:
        details = {"columns": ", ".join(missing)}
        problem = Problem(Severity.ERROR, "csv_columns_missing", name, line=1, details=details)
        return CsvTable(columns, (), (problem,))
    return _table(name, columns, found[1:], delimiter)


def original_text(cell: str, delimiter: str = ",") -> str:
    """`cell` without the apostrophes that keep a spreadsheet from running it or parts of it."""
    split_off = _SPLIT_OFF.get(delimiter)
    text = split_off.sub("", cell) if split_off else cell
    return text[1:] if _NEUTRALISED.match(text) else text


def _known(lines: list[str], delimiter: str, names: Iterable[str]) -> int:
    """How many of `names` the first line has when it is split at `delimiter`."""
    return len(set(names) & set(_columns(list(_raw_records(lines[:1], delimiter)))))


def _columns(found: list[tuple[int, list[str] | csv.Error]]) -> tuple[str, ...]:
    if not found or isinstance(found[0][1], csv.Error):
        return ()
    return tuple(cell.strip().lower() for cell in found[0][1])


def _raw_records(lines: list[str], delimiter: str) -> Iterator[tuple[int, list[str] | csv.Error]]:
    """Each record that is not blank, or what is wrong with it, with the line it begins in.

    After a broken record the reading goes on at the next line, lest one open quotation
    mark takes all that follows with it.
    """
    start = 0
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while start < len(lines):
        before = reader.line_num
        try:
            cells = next(reader)
        except csv.Error as error:
            yield start + 1, error
            start += 1
            reader = csv.reader(_from(lines, start), delimiter=delimiter, strict=True)
            continue
        if any(cell.strip() for cell in cells):
            yield start + 1, cells
        start += reader.line_num - before


def _from(lines: list[str], start: int) -> Iterator[str]:
    """The lines from the one at `start` on; no copy of them, since many may be broken."""
    return (lines[i] for i in range(start, len(lines)))


def _table(
    name: str,
    columns: tuple[str, ...],
    found: list[tuple[int, list[str] | csv.Error]],
    delimiter: str,
) -> CsvTable:
    records, problems = [], []
    for line, cells in found:
        if isinstance(cells, csv.Error):
            problems.append(_problem(name, line, "csv_broken_record", reason=str(cells)))
        elif len(cells) != len(columns):
            counts = {"cells": len(cells), "columns": len(columns)}
            problems.append(_problem(name, line, "csv_cell_count", **counts))
        else:
            texts = [original_text(cell, delimiter) for cell in cells]
            records.append(Record(line, dict(zip(columns, texts, strict=True))))
    return CsvTable(columns, tuple(records), tuple(problems))


def _problem(name: str, line: int, code: str, **details: str | int) -> Problem:
    return Problem(Severity.ERROR, code, name, line=line, details=details)
