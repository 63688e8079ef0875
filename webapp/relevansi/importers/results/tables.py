"""Tables as streams of records: CSV with any separator, workbooks, parquet."""

from __future__ import annotations

import csv
import re
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from io import BytesIO
from itertools import chain, islice
from typing import Any, NamedTuple

from relevansi.importers.results.files import LONGEST_RECORD, MOST_UNPACKED, File
from relevansi.importers.results.records import numbered_columns, part_of
from relevansi.importers.results.rows import as_text, guessed
from relevansi.importers.runs.problems import UnreadableFile, error

DELIMITERS = (",", ";", "\t", "|")
MOST_COLUMNS = 1_000
LONGEST_HEADER = 64 * 1024
"""Characters of a first line that are looked at."""

_LOOKED_AT = 20  # rows above which a header may stand
_MOST_ROWS = 1_048_576  # of a sheet
_LONGEST_NUMBER = 15  # digits that a workbook keeps
_RULE = re.compile(r"[\s|+:]*-[\s|+:-]*|\s*\(?\d+ rows?(?:\)| in set.*)\s*")
"""Lines that Markdown, psql and mysql draw in a table, and how many rows these count."""
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff]")
_CARRIED = ("query_id", "query", "system", "answer", "category")


class Table(NamedTuple):
    """The names of the columns ("" for none), and the cells of each row with its line.

    ``name`` is that of a sheet, where a workbook has several. ``comma``: numbers may have a comma
    for their decimal point. ``is_ours``: this product wrote the file.
    """

    names: tuple[str, ...]
    rows: Iterator[tuple[int, Sequence[object]]]
    name: str = ""
    comma: bool = True
    is_ours: bool = False


def read(file: File, chosen: Collection[str] = ()) -> Iterator[Table]:
    """Every table of a file: the sheets of a workbook that have a header, or the only one.

    `chosen` are names of columns that a person named. Raises `UnreadableFile`.
    """
    start = file.start()
    if start.startswith(b"PK"):
        yield from _sheets(file, chosen)
    else:
        yield _parquet(file) if start.startswith(b"PAR1") else _csv(file, chosen)


def _repeats(cells: Sequence[object], names: tuple[str, ...]) -> bool:
    """Whether a row repeats the header, as tables in one file or in print do."""
    return names[-1] in as_text(cells[-1]) and _names(cells) == names


def header_of(file: File, chosen: Collection[str] = ()) -> tuple[str, ...]:
    """The names of the columns of a CSV file; ``()`` for a file whose first line is no header."""
    lines = [line for _, line in islice(file.lines(), 1 + _LOOKED_AT)]
    delimiter, at = _dialect(lines, chosen)
    return _names(_split(lines[at:], delimiter))


def _names(cells: Iterable[object]) -> tuple[str, ...]:
    return tuple(_INVISIBLE.sub("", as_text(cell)).strip() for cell in cells)


def _score(names: Sequence[str], chosen: Collection[str]) -> int:
    """How many of these are names of columns that are known."""
    lowered = {name.lower() for name in chosen}
    columns = guessed(tuple(names))
    others = (part_of(name) for name in names if name not in columns.values())
    has_lists = any(others) or bool(numbered_columns(tuple(names)))
    return len(columns) + has_lists + sum(name.lower() in lowered for name in names)


def _dialect(lines: Sequence[str], chosen: Collection[str]) -> tuple[str, int]:
    """The separator of a table and the place of its header among the first lines."""
    blank = next((n for n, line in enumerate(lines) if line.strip()), 0)
    separator = re.fullmatch(r"\s*sep=(.)\s*", lines[blank]) if lines else None
    if separator:
        return separator[1], blank + 1
    for number in range(min(len(lines), _LOOKED_AT)):
        names = {mark: _split(lines[number:], mark) for mark in DELIMITERS}
        scores = {mark: _score(cells, chosen) for mark, cells in names.items()}
        delimiter = max(DELIMITERS, key=lambda mark: (scores[mark], len(names[mark])))
        title = [*filter(None, _split(lines[blank:], delimiter))]
        has_title_above = 2 * len(title) <= len([*filter(None, names[delimiter])]) + 1
        if scores[delimiter] > 1 and (number == blank or has_title_above):
            return delimiter, number
    return max(DELIMITERS, key=lambda mark: len(_split(lines[blank:], mark))), blank


def _split(lines: Sequence[str], mark: str) -> list[str]:
    """The cells of the first record in some lines."""
    csv.field_size_limit(LONGEST_RECORD)
    reader = csv.reader((line[:LONGEST_HEADER] for line in lines), delimiter=mark)
    return [cell.strip(' "\r\n') for cell in next(reader, [])]


def _csv(file: File, chosen: Collection[str]) -> Table:
    lines = file.lines()
    first = list(islice(lines, 1 + _LOOKED_AT))
    delimiter, at = _dialect([line for _, line in first], chosen)
    below = chain(first[at:], lines)
    records = _tab_records(below) if delimiter == "\t" else _csv_records(file, below, delimiter, at)
    line, cells = next(records, (1, []))
    names = _names(cells)
    _check_names(file, names, line)
    if delimiter == "|":
        records = _stripped(records)
    head = list(islice(records, _LOOKED_AT))
    # R writes the numbers of rows without a name above them.
    numbers = [cells[0] for _, cells in head if len(cells) == len(names) + 1]
    if head and numbers == [str(number) for number in range(1, len(head) + 1)]:
        names = ("", *names)
    is_ours = "provenance" in names or names[:2] == ("query_id", "question")
    rows = _whole_rows(file, chain(head, records), names)
    return Table(names, rows, comma=delimiter != ",", is_ours=is_ours)


def _check_names(file: File, names: tuple[str, ...], line: int) -> None:
    """Refuse a header of too many columns, or with a name twice."""
    # pandas numbers the names that occur again.
    again = (re.sub(r"\.\d+$", "", name) for name in names)
    firsts = (
        first if first in names and guessed((first,)) else name
        for first, name in zip(again, names, strict=True)
    )
    lowered = [name.lower() for name in firsts]
    twice = sorted({name for name in lowered if name and lowered.count(name) > 1})
    if len(names) > MOST_COLUMNS:
        file.refuse("results_many_columns", line=line, limit=MOST_COLUMNS)
    if twice:
        file.refuse("results_columns_twice", line=line, columns=", ".join(twice))


def _csv_records(
    file: File, lines: Iterable[tuple[int, str]], delimiter: str, above: int
) -> Iterator[tuple[int, list[str]]]:
    """The records of a CSV file that have a cell; a quotation mark left open refuses the file.

    `above` counts the lines that were passed over.
    """
    reader = csv.reader((text for _, text in lines), delimiter=delimiter, strict=True)
    while True:
        line = above + reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            file.refuse("csv_quote_open", line=line)
        if any(cells):
            yield line, cells


def _stripped(records: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """The records without blanks round cells, nor what is drawn between them."""
    for line, cells in records:
        if not _RULE.fullmatch("|".join(cells)):
            yield line, [cell.strip() for cell in cells]


def _tab_records(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """The records of a table with tabs: one a line, a field in quotation marks without them."""
    for number, line in lines:
        cells = line.rstrip("\r\n").split("\t")
        if any(cells):
            yield number, [_unquoted(cell) for cell in cells] if '"' in line else cells


def _unquoted(cell: str) -> str:
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"')
    return cell


def _whole_rows(
    file: File, records: Iterable[tuple[int, list[str]]], names: tuple[str, ...]
) -> Iterator[tuple[int, list[str]]]:
    """The records with as many cells as there are columns; blank ones too many are left off."""
    width = len(names)
    for line, cells in records:
        while len(cells) > width and not cells[-1].strip():
            cells.pop()
        if len(cells) != width:
            file.refuse("csv_cells_differ", line=line, cells=len(cells), columns=width)
        if not _repeats(cells, names):
            yield line, cells


def _sheets(file: File, chosen: Collection[str]) -> Iterator[Table]:
    """The sheets of a workbook that are not blank, each with its likeliest header."""
    book = _workbook(file)
    tables: list[Table] = []
    for sheet in book.worksheets:
        # Stated sizes may be far too small, or hide rows.
        sheet.reset_dimensions()
        rows = _sheet_rows(file, sheet)
        head = list(islice(rows, _LOOKED_AT))
        if not head:
            continue
        headers = [_names(_values(cells)) for _, cells in head]
        scores = [_score(names, chosen) for names in headers]
        # Where nobody knows its columns, the first of its fullest rows has their names.
        counts = [
            (min(score, 1), len([*filter(None, names)]))
            for score, names in zip(scores, headers, strict=True)
        ]
        fullest = counts.index(max(counts))
        at = next((place for place, score in enumerate(scores) if score > 1), fullest)
        names = headers[at]
        if scores[at] > 1 or len(book.worksheets) == 1:
            _check_names(file, names, head[at][0])
        below = _filled(file, names, chain(head[at + 1 :], rows))
        tables.append(Table(names, below, sheet.title))
    yield from tables if len(tables) > 1 else (table._replace(name="") for table in tables)


def _workbook(file: File, *, formulas: bool = False) -> Any:
    from openpyxl import load_workbook  # noqa: PLC0415 - which no other format needs

    with file.opened() as opened:
        data = BytesIO(opened.read(MOST_UNPACKED + 1))
    with _whole_workbook(file):
        with zipfile.ZipFile(data) as packed:
            size = sum(part.file_size for part in packed.infolist())
        if size <= MOST_UNPACKED:
            return load_workbook(data, read_only=True, data_only=not formulas)
    return file.refuse("workbook_too_large", limit=MOST_UNPACKED // 2**20)


@contextmanager
def _whole_workbook(file: File) -> Iterator[None]:
    """Turn what the library raises, which is whatever its XML parser meets, into a refusal."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as wrong:
        raise UnreadableFile(error("results_cut_off", file.name)) from wrong


def _sheet_rows(file: File, sheet: Any) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """The rows of a sheet that have a cell, with their numbers, within the budget of cells."""
    rows = sheet.iter_rows()
    number = 0
    while True:
        with _whole_workbook(file):
            cells = next(rows, None)
        if cells is None:
            return
        number += 1
        file.budget.spend("cells", file, len(cells) + 1)
        if number > _MOST_ROWS:
            file.refuse("results_many_rows", limit=_MOST_ROWS)
        if any(cell.value not in (None, "") for cell in cells):
            yield number, cells


def _values(cells: Sequence[Any]) -> list[object]:
    return [cell.value for cell in cells]


def _filled(
    file: File, names: tuple[str, ...], rows: Iterable[tuple[int, Sequence[Any]]]
) -> Iterator[tuple[int, list[object]]]:
    """The values of each row, a blank question or system being that of the row above.

    Cells that run over several rows have their value in the first one; what is of a question ends
    where a row names another one. What a workbook changes of ids is reported.
    """
    columns = guessed(tuple(filter(None, names)))
    places = {role: names.index(name) for role, name in columns.items()}
    carried = {role: places[role] for role in _CARRIED if role in places}
    ids = [places[role] for role in ("doc_id", "query_id") if role in places]
    questions = [places[role] for role in ("query_id", "query") if role in places]
    above: list[object] = [None] * len(names)
    lacking: dict[int, int] = {}  # the first row without a value, by column
    for number, cells in rows:
        values = [_plain(cell) for cell in cells[: len(names)]]
        file.counts["workbook_errors"] += sum(cell.data_type == "e" for cell in cells)
        for at in ids:
            if at < len(values):
                _report_id(file, cells[at])
        for at in places.values():
            if at < len(values) and values[at] is None:
                lacking.setdefault(at, number)
        values += [None] * (len(names) - len(values))
        if _repeats(values, names):
            continue
        is_another = any(values[at] not in (None, "", above[at]) for at in questions)
        for role, at in carried.items():
            is_blank = values[at] in (None, "")
            if is_blank and above[at] not in (None, "") and (role == "system" or not is_another):
                values[at] = above[at]
                file.counts["workbook_filled"] += 1
            above[at] = values[at]
        yield number, values
    if lacking:
        file.counts["workbook_formulas"] += _count_formulas(file, lacking)


def _plain(cell: Any) -> object:
    """The value of a cell as text or number; a whole number as the sheet shows it."""
    value = _plain_value(cell.value)
    if isinstance(value, int) and not isinstance(value, bool):
        form = cell.number_format
        return str(value).zfill(len(form)) if form and set(form) == {"0"} else value
    return value


def _plain_value(value: object) -> object:
    """A value of a workbook or parquet file as JSON has it; a whole number without a point."""
    match value:
        case dict():
            return {name: _plain_value(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_plain_value(inner) for inner in value]
        case datetime() | date() | time():
            return value.isoformat().removesuffix("T00:00:00")
        case bytes():
            return value.decode("utf-8", "replace")
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, str | int | float | None) else str(value)


def _report_id(file: File, cell: Any) -> None:
    value = cell.value
    if isinstance(value, datetime | date | time):
        file.warn("workbook_date", line=cell.row, cell=cell.coordinate)
    elif isinstance(value, int | float) and abs(value) >= 10**_LONGEST_NUMBER:
        file.warn("workbook_digits", line=cell.row, cell=cell.coordinate, digits=_LONGEST_NUMBER)


def _count_formulas(file: File, rows: Mapping[int, int]) -> int:
    """How many columns have, in these rows, a formula whose value was never stored."""
    columns = set()
    for sheet in _workbook(file, formulas=True).worksheets:
        sheet.reset_dimensions()
        cells = sheet.iter_rows(max_row=max(rows.values()), values_only=True)
        for number, values in enumerate(cells, 1):
            in_row = (at for at, first in rows.items() if first == number and at < len(values))
            columns |= {at for at in in_row if str(values[at]).startswith("=")}
    return len(columns)


def _parquet(file: File) -> Table:
    try:
        from pyarrow import parquet  # type: ignore[import-not-found]  # noqa: PLC0415 - an extra
    except ImportError:
        file.refuse("parquet_unsupported")
    with file.opened() as opened:
        table = parquet.ParquetFile(BytesIO(opened.read(MOST_UNPACKED + 1)))
    names = tuple(table.schema_arrow.names)
    _check_names(file, names, 1)

    def rows() -> Iterator[tuple[int, list[object]]]:
        number = 1
        for batch in table.iter_batches():
            for row in batch.to_pylist():
                number += 1
                yield number, [_plain_value(value) for value in row.values()]

    return Table(names, rows())
