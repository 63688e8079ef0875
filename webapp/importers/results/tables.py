"""Tables with a row per result, question, document or grade: CSV, TSV, XLSX and JSON Lines."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator, Mapping
from io import BytesIO

from webapp.importers.results.rows import (
    BROKEN,
    ROLES,
    File,
    FlatRow,
    Rows,
    as_number,
    as_rank,
    as_text,
    flattened,
    guessed,
    item_of,
    json_objects,
    whole,
)
from webapp.importers.runs.csv_ratings import LONGEST_HEADER, read_table
from webapp.importers.runs.problems import ImportRefused, UnreadableFile, error
from webapp.records import Problem

MOST_UNPACKED = 256 * 2**20
"""Bytes that a workbook may unpack to."""

_KNOWN = frozenset(name for names in ROLES.values() for name in names.split())
_OF_QRELS = {"query_id": "query-id", "doc_id": "corpus-id", "grade": "score"}
TABLE_ROLES = ("result", "grade", "question", "document")
_OF_LISTS = ("text", "rank", "score", "system", "answer")


def header_key(names: tuple[str, ...]) -> str:
    """The same for tables with the same columns in any order."""
    return hashlib.sha256("\n".join(sorted(map(str.lower, names))).encode()).hexdigest()[:16]


def columns_of(names: tuple[str, ...], chosen: Mapping[str, str] | None = None) -> dict[str, str]:
    """The column of each role: as guessed, else as `chosen` ("" for none) where it exists."""
    lowered = {name.lower(): name for name in names}
    if set(_OF_QRELS.values()) <= lowered.keys():  # of BEIR and MTEB
        found = {role: lowered[name] for role, name in _OF_QRELS.items()}
    else:
        found = dict(guessed(names))
    for role, name in (chosen or {}).items():
        if role in ROLES and (not name or name.strip().lower() in lowered):
            found = {one: column for one, column in found.items() if column.lower() != name.lower()}
            found[role] = lowered.get(name.strip().lower(), "")
    return {role: name for role, name in found.items() if name}


def role_of(columns: Mapping[str, str]) -> str | None:
    """What the rows of a table with these columns are: "result", "grade" ...; ``None``: nothing."""
    asks = columns.keys() & {"query", "query_id"}
    lists = columns.keys() & {"doc_id", "text", "url"}
    if asks and lists:
        is_rated = "grade" in columns and not columns.keys() & set(_OF_LISTS)
        return "grade" if is_rated else "result"
    if {"query", "query_id"} <= columns.keys():
        return "question"
    return "document" if {"doc_id", "text"} <= columns.keys() else None


def read(file: File, chosen: Mapping[str, str] | None = None) -> Rows:
    """Every row of a table; a line with a wrong value is left out and reported."""
    columns: dict[str, str] = {}
    names: tuple[str, ...] = ()
    for record in records(file):
        if isinstance(record, Problem):
            yield record
            continue
        line, values = record
        if tuple(values) != names:
            names = tuple(values)
            columns = columns_of(names, chosen)
            role = role_of(columns)
        if role is None:
            found = {"columns": ", ".join(names)[:300]}
            yield error("results_columns_missing", file.name, found, line=line)
            if line <= 2:
                return  # the header of all lines
            continue
        yield _row(file, line, values, columns, role)


def _row(
    file: File, line: int, values: Mapping[str, object], columns: Mapping[str, str], role: str
) -> FlatRow | Problem:
    said = {name: as_text(values.get(column)).strip() for name, column in columns.items()}
    rank, score = as_rank(said.get("rank")), as_number(said.get("score"))
    for name, number in (("rank", rank), ("score", score)):
        if said.get(name) and number is None:
            wrong = {"place": columns[name], "value": said[name][:40]}
            return error("results_number_wrong", file.name, wrong, line=line)
    of_questions = {column for name, column in columns.items() if name not in _OF_ITEMS}
    rest = {name: value for name, value in values.items() if name not in of_questions}
    item = item_of(rest, {name: columns[name] for name in _OF_ITEMS if name in columns})
    asked = said.get("query") or said.get("query_id")
    if role != "document" and not asked:
        column = columns.get("query") or columns["query_id"]
        return error("csv_value_missing", file.name, {"column": column}, line=line)
    is_needed = role in ("grade", "document") or said.get("rank") or said.get("score")
    if item is None and is_needed and role != "question":
        return error("results_without_item", file.name, line=line)
    return FlatRow(
        line,
        role,  # type: ignore[arg-type]
        query_id=said.get("query_id", ""),
        query=said.get("query", ""),
        item=None if role == "question" else item,
        system=said.get("system", ""),
        rank=rank,
        score=score,
        answer=as_text(values.get(columns.get("answer", ""))),
        category=said.get("category", ""),
        grade=said.get("grade") or None,
        rater=said.get("rater", ""),
    )


_OF_ITEMS = ("doc_id", "title", "text", "url", "rank", "score")


def records(file: File) -> Iterator[tuple[int, dict[str, object]] | Problem]:
    with file.opened() as opened:
        start = opened.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"PK"):
        yield from _cells(file)
    elif start.startswith((b"{", b"[")):
        for found in json_objects(file, _one):
            yield found if isinstance(found, Problem) else (found[0], flattened(found[1]))
    else:
        table = read_table(file.name, whole(file), required=(), known=_KNOWN)
        twice = sorted({name for name in table.columns if table.columns.count(name) > 1 and name})
        if twice:
            names = {"columns": ", ".join(twice)}
            raise UnreadableFile(error("results_columns_twice", file.name, names, line=1))
        yield from table.problems
        for record in table.records:
            yield record.line, dict(record.cells)


def header(file: File) -> tuple[str, ...]:
    """The names of the columns of a table, none for a broken one."""
    try:
        with file.opened() as opened:
            first = opened.readline(LONGEST_HEADER)
        if not first.lstrip(b"\xef\xbb\xbf \t").startswith((b"PK", b"{", b"[")):
            return read_table(file.name, first, required=(), known=_KNOWN).columns
        found = next((one for one in records(file) if not isinstance(one, Problem)), None)
    except (ImportRefused, *BROKEN):
        return ()
    return tuple(found[1]) if found else ()


def _one(value: object) -> Iterator[dict[str, object]]:
    yield from (
        one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)
    )


def _cells(file: File) -> Iterator[tuple[int, dict[str, object]] | Problem]:
    """The rows of the first sheet of a workbook, the first one being the header."""
    from openpyxl import load_workbook  # which no other format needs

    data = whole(file)
    rows: list[tuple[object, ...]] = []
    try:
        with zipfile.ZipFile(BytesIO(data)) as packed:
            size = sum(one.file_size for one in packed.infolist())
        if size <= MOST_UNPACKED:
            book = load_workbook(BytesIO(data), read_only=True, data_only=True)
            rows = list(book.worksheets[0].iter_rows(values_only=True))
    except Exception as wrong:  # the library raises whatever its XML parser meets
        raise UnreadableFile(error("results_cut_off", file.name)) from wrong
    if size > MOST_UNPACKED:
        raise UnreadableFile(error("results_cut_off", file.name))
    names = [as_text(cell).strip() for cell in rows[0]] if rows else []
    for number, cells in enumerate(rows[1:], 2):
        values: dict[str, object] = {}
        for name, cell in zip(names, cells, strict=False):
            if name:
                plain = cell if isinstance(cell, str | int | float | None) else str(cell)
                is_whole = isinstance(plain, float) and plain.is_integer()
                values[name] = f"{plain:.0f}" if is_whole else plain
        if any(value not in (None, "") for value in values.values()):
            yield number, values
