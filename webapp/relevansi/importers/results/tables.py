"""Tables as streams of records: CSV with any separator, workbooks, parquet."""

from __future__ import annotations

import csv
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from io import BytesIO
from itertools import chain, islice
from typing import Any, Literal, NamedTuple

from relevansi.importers.results.files import LONGEST_RECORD, MOST_UNPACKED, File
from relevansi.importers.results.records import numbered_columns, part_of
from relevansi.importers.results.rows import as_text, guessed
from relevansi.importers.runs.problems import UnreadableFile, error

DELIMITERS = (",", ";", "\t", "|", " ")
MOST_COLUMNS = 1_000
LONGEST_HEADER = 64 * 1024
"""Characters of a first line that are looked at."""

_LOOKED_AT = 20  # rows above which a header may stand
_MOST_ROWS = 1_048_576  # of a sheet
_LONGEST_NUMBER = 15  # digits that a workbook keeps
_RULE = re.compile(r"[\s|+:]*-[\s|+:-]*|\s*\(?\d+ rows?(?:\)| in set.*)\s*")
"""Lines that Markdown, psql and mysql draw in a table, and how many rows these count."""
_QUOTED = re.compile(r'"[^"]*"(?: "[^"]*")+\s*')
"""A header with blanks between its names, as R writes it; other lines with blanks are prose."""
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff]")
_CARRIED = ("query_id", "query", "system", "answer", "category")


class Table(NamedTuple):
    """The names of the columns ("" for none), and the cells of each row with its line.

    ``name`` is that of a sheet. ``comma``: numbers may have a comma for their decimal point.
    ``is_ours``: this product wrote the file. `read` gives tables without unnamed columns.
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
    readers = {b"PK": _sheets, b"PAR1": _parquet}
    read_tables = next((readers[sign] for sign in readers if start.startswith(sign)), _csv)
    for table in read_tables(file, chosen):
        is_whole = all(table.names) and read_tables is not _sheets
        names = tuple(filter(None, table.names))
        yield (
            table if is_whole else table._replace(names=names, rows=_cells_below_names(file, table))
        )


def _cells_below_names(file: File, table: Table) -> Iterator[tuple[int, Sequence[object]]]:
    """The rows without the cells that no name is above, which are counted."""
    places = {at: name for at, name in enumerate(table.names) if name}
    for line, cells in table.rows:
        if len(cells) > len(places):
            unnamed = {at: as_text(cell).strip() for at, cell in enumerate(cells)}
            if unnamed[0].isdecimal():  # the number of the row
                del unnamed[0]
            lost = [text for at, text in unnamed.items() if text and at not in places]
            file.counts["results_cells_unnamed"] += len(lost)
        yield line, cells if len(cells) == len(places) else [cells[at] for at in places]


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
    if mark == " " and not _QUOTED.fullmatch(lines[0] if lines else ""):
        return []
    csv.field_size_limit(LONGEST_RECORD)
    reader = csv.reader((line[:LONGEST_HEADER] for line in lines), delimiter=mark)
    return [cell.strip(' "\r\n') for cell in next(reader, [])]


def _csv(file: File, chosen: Collection[str]) -> Iterator[Table]:
    lines = file.lines()
    first = list(islice(lines, 1 + _LOOKED_AT))
    delimiter, at = _dialect([line for _, line in first], chosen)
    below = chain(first[at:], lines)
    records = _records(file, below, delimiter, at)
    line, cells = next(records, (1, []))
    names = _names(cells)
    _check_names(file, names, line)
    head = list(islice(records, _LOOKED_AT))
    # R writes the numbers of rows without a name above them.
    numbers = [cells[0] for _, cells in head if len(cells) == len(names) + 1]
    if head and numbers == [str(number) for number in range(1, len(head) + 1)]:
        names = ("", *names)
    is_ours = "provenance" in names or names[:2] == ("query_id", "question")
    rows = _whole_rows(file, chain(head, records), names)
    yield Table(names, rows, comma=delimiter != ",", is_ours=is_ours)


def _check_names(file: File, names: tuple[str, ...], line: int) -> None:
    """Refuse a header of too many columns, or with a name twice."""
    counts: Counter[str] = Counter()
    for name in filter(None, names):
        first = re.sub(r"\.\d+$", "", name)  # pandas numbers the names that occur again
        counts[(first if first in names and guessed((first,)) else name).lower()] += 1
    twice = sorted(name for name, count in counts.items() if count > 1)
    if len(names) > MOST_COLUMNS:
        file.refuse("results_many_columns", line=line, limit=MOST_COLUMNS)
    if twice:
        file.refuse("results_columns_twice", line=line, columns=", ".join(twice))


def _records(
    file: File, lines: Iterable[tuple[int, str]], delimiter: str, above: int
) -> Iterator[tuple[int, list[str]]]:
    """The records of a CSV file that have a cell; a quotation mark left open refuses the file.

    `above` counts the lines that were passed over. With tabs a record is a line, and only a whole
    cell stands in quotation marks.
    """
    texts = (text for _, text in lines)
    quoting: Literal[0, 3] = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    reader = csv.reader(texts, delimiter=delimiter, quoting=quoting, strict=True)
    tidy: dict[str, Callable[[str], str]] = {"\t": _unquoted, "|": str.strip}
    while True:
        line = above + reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            file.refuse("csv_quote_open", line=line)
        record = delimiter.join(cells) if delimiter in tidy else ""
        if any(cells) and not (delimiter == "|" and _RULE.fullmatch(record)):
            is_tidy = delimiter != "|" and '"' not in record
            yield line, cells if is_tidy else [*map(tidy[delimiter], cells)]


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
    for sheet in book.worksheets:
        # Stated sizes may be far too small, or hide rows.
        sheet.reset_dimensions()
        rows = _sheet_rows(file, sheet)
        head = list(islice(rows, _LOOKED_AT))
        if not head:
            continue
        headers = [_names(cell.value for cell in cells) for _, cells in head]
        scores = [_score(names, chosen) for names in headers]
        # Where nobody knows its columns, the first of its fullest rows has their names.
        counts = [
            (min(score, 2), score < 2 and len([*filter(None, names)]))
            for score, names in zip(scores, headers, strict=True)
        ]
        at = counts.index(max(counts))
        names = headers[at]
        if scores[at] > 1 or len(book.worksheets) == 1:
            _check_names(file, names, head[at][0])
        below = _filled(file, sheet.title, names, chain(head[at + 1 :], rows))
        yield Table(names, below, sheet.title)


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
    except (MemoryError, UnreadableFile):
        raise
    except Exception as wrong:
        raise UnreadableFile(error("results_cut_off", file.name)) from wrong


def _sheet_rows(file: File, sheet: Any) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """The rows of a sheet that have a cell, with their numbers, within the budget of cells."""
    with _whole_workbook(file):
        for number, cells in enumerate(sheet.iter_rows(), 1):
            file.budget.spend("cells", file, len(cells) + 1)
            if number > _MOST_ROWS:
                file.refuse("results_many_rows", limit=_MOST_ROWS)
            if any(cell.value not in (None, "") for cell in cells):
                yield number, cells


def _filled(
    file: File, title: str, names: tuple[str, ...], rows: Iterable[tuple[int, Sequence[Any]]]
) -> Iterator[tuple[int, list[object]]]:
    """The values of each row of a sheet, a blank question or system being that of the row above.

    Cells that run over several rows have their value in the first one; what is of a question ends
    where a row names another one. What a workbook changes of ids is reported.
    """
    columns = guessed(tuple(filter(None, names)))
    roles = {names.index(name): role for role, name in columns.items()}
    carried = [at for at, role in roles.items() if role in _CARRIED]
    ids = [at for at, role in roles.items() if role in ("doc_id", "query_id")]
    questions = [at for at, role in roles.items() if role in ("query_id", "query")]
    above: list[object] = [None] * len(names)
    lacking: dict[int, int] = {}  # the first row without a value, by column
    for number, cells in rows:
        values = [_plain(cell) for cell in cells]
        for at, cell in enumerate(cells):
            file.counts["workbook_errors"] += cell.data_type == "e"
            if at in ids:
                _report_id(file, cell)
            if cell.value is None and at in roles:
                lacking.setdefault(at, number)
        values += [None] * (len(names) - len(values))
        if _repeats(values[: len(names)], names):
            continue
        is_another = any(values[at] not in (None, "", above[at]) for at in questions)
        for at in carried:
            is_ended = is_another and roles[at] != "system"
            if values[at] in (None, "") and above[at] not in (None, "") and not is_ended:
                values[at] = above[at]
                file.counts["workbook_filled"] += 1
            above[at] = values[at]
        yield number, values
    if lacking:
        file.counts["workbook_formulas"] += _count_formulas(file, title, lacking)


def _plain(cell: Any) -> object:
    """The value of a cell as text or number; a whole number as the sheet shows it."""
    value = _plain_value(cell.value)
    form = cell.number_format or ""
    is_padded = isinstance(value, int) and not isinstance(value, bool) and set(form) == {"0"}
    return str(value).zfill(len(form)) if is_padded else value


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


def _count_formulas(file: File, title: str, rows: Mapping[int, int]) -> int:
    """How many columns of a sheet have, each in its row of these, a formula without a value."""
    sheet = _workbook(file, formulas=True)[title]
    sheet.reset_dimensions()
    lines = enumerate(sheet.iter_rows(max_row=max(rows.values()), values_only=True), 1)
    cells = {number: values for number, values in lines if number in rows.values()}
    return sum(str(cells[number][at]).startswith("=") for at, number in rows.items())


def _parquet(file: File, _chosen: Collection[str]) -> Iterator[Table]:
    try:
        from pyarrow import parquet  # type: ignore[import-not-found]  # noqa: PLC0415 - an extra
    except ImportError:
        file.refuse("parquet_unsupported")
    with file.opened() as opened:
        table = parquet.ParquetFile(BytesIO(opened.read(MOST_UNPACKED + 1)))
    names = tuple(table.schema_arrow.names)
    _check_names(file, names, 1)
    rows = chain.from_iterable(batch.to_pylist() for batch in table.iter_batches())
    values = ([_plain_value(value) for value in row.values()] for row in rows)
    yield Table(names, enumerate(values, 2))
