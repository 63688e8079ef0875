"""The rows of tables by the roles of their columns: results, questions, documents or grades."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from relevansi.importers.results import json_forms, json_lists, json_systems, shapes, tables
from relevansi.importers.results.columns import (
    Head,
    Known,
    Layout,
    Numbers,
    known_id,
    layout_of,
    report_left,
    unread_grades,
)
from relevansi.importers.results.files import File, reading
from relevansi.importers.results.ranks import id_of, refuse_number, stated_rank
from relevansi.importers.results.records import has_objects, literal, numbered_columns, part_of
from relevansi.importers.results.rows import (
    BARE_ID,
    DOCUMENT_ROLES,
    EITHER,
    RETRIEVED,
    Columns,
    Role,
    Row,
    Values,
    as_score,
    as_text,
    columns_of,
    cut,
    flat_row,
    is_several,
    item_of,
    plain_name,
    role_of,
)
from relevansi.importers.results.unknown import UnknownNames, unknown_json, unknown_names
from relevansi.importers.runs.csv_ratings import REQUIRED as OF_FIGURES
from relevansi.importers.runs.csv_ratings import original_text
from relevansi.importers.runs.json_documents import kind_of
from relevansi.importers.runs.prices import content_of
from relevansi.kinds.document import Document
from relevansi.records import EmptyOutcome, QueryState

OUTCOMES = frozenset(("", *EmptyOutcome))
"""What our own long CSV has in place of a grade for an empty list."""
_IDS = re.compile("(?:^|_)ids$")  # of several results, in one cell
_BARE_IDS = re.compile(r"[\w.:#@+-]+(?:\s*[,;|]\s*[\w.:#@+-]+)*", re.ASCII)
_ROLES: Sequence[Role] = ("result", "grade", "question", "document")
_LOOKED_AT = 200  # rows by which columns are told apart
_TOTAL = re.compile(
    r"(?:grand |sub)?total|sum|average|avg|mean|median|jumlah|rata[- ]?rata|rerata|summe|gesamt|"
    r"durchschnitt|mittelwert|promedio|media|moyenne|合计|合計|总计|平均",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_MONTH = "(?:Jan|Feb|Mar|Mrz|Apr|Ma[iy]|Mei|Jun|Jul|Aug|Agu|Sep|O[ck]t|Nov|De[csz])"
_CHANGED = re.compile(rf"\d[.,]\d+E\+\d\d|\d\d?(?:-|\. ){_MONTH}|{_MONTH}[- ]\d\d")
"""Ids that a spreadsheet took for a long number or a date."""


def look(file: File, chosen: Columns) -> tuple[Role, Mapping[str, str]]:
    """What the rows of a table state, and its columns with a value of each.

    Raises `UnknownNames` where no column is a question beside a document.
    """
    file = replace(file, problems=[], counts=Counter())  # what is read here is read again
    parts = _parts(file, chosen)
    if any({*OF_FIGURES} <= {*map(str.lower, part.table.names)} for part in parts):
        file.refuse("results_of_figures")
    part = min(parts, key=lambda part: _ROLES.index(part.role))
    return part.role, part.head.examples()


class _Part(NamedTuple):
    """A table with its first rows, and how its rows are read."""

    table: tables.Table
    head: Head
    form: shapes.Shape | Layout
    role: Role


def _parts(file: File, chosen: Columns) -> list[_Part]:
    """The tables of a file; of several, those that nobody knows are named and left out."""
    parts: list[_Part] = []
    unknown: dict[str, UnknownNames] = {}
    for table in tables.read(file, {*chosen.values()}):
        try:
            parts.append(_part(file, table, chosen))
        except UnknownNames as refused:
            unknown[table.name] = refused
    if not (parts or unknown):
        file.refuse("file_empty", expected="results_file")
    if not parts:
        raise max(unknown.values(), key=lambda refused: len(refused.names))
    if unknown:
        file.warn("workbook_sheets_left", sheets=", ".join(unknown)[:300])
    return parts


def _part(file: File, table: tables.Table, chosen: Columns) -> _Part:
    """A table as a part of its file; raises `UnknownNames` where nobody knows its columns."""
    head = Head(table.names, list(islice(table.rows, _LOOKED_AT)))
    form = _shape_of(file, head, chosen) or layout_of(file, head, chosen)
    if form is None:
        raise _unknown(file, head)
    if isinstance(form, shapes.Shape):
        report_left(file, unread_grades([*filter(_DIGIT.search, table.names)]))
    role = form.role if isinstance(form, Layout) else "result"
    return _Part(table._replace(rows=chain(head.rows, table.rows)), head, form, role)


def _unknown(file: File, head: Head) -> UnknownNames:
    """The refusal of a table without known columns: by its lists of objects, else by its names."""
    for line, cells in head.rows:
        for text in map(as_text, cells):
            _check_printed(file, line, text)
    rows = [_parsed(file, head.names, line, cells) for line, cells in head.rows]
    values = chain.from_iterable(row.values() for row in rows)
    if any(isinstance(value, list) and has_objects(value) for value in values):
        return unknown_json(file, rows)
    return unknown_names(file, head.examples())


def read(file: File, chosen: Columns, known_ids: Known) -> Iterator[Row]:
    """Every row of every table in a file; raises an `ImportRefused`."""
    parts = _parts(file, chosen)
    are_systems = sum(part.role == "result" for part in parts) > 1
    for part in parts:
        names, lines = part.table.names, part.table.rows
        if isinstance(part.form, Layout):
            rows = _rows_of(file, part, part.form, chosen, known_ids)
        else:
            parsed = ((line, _parsed(file, names, line, cells)) for line, cells in lines)
            rows = json_lists.read(file, parsed, part.form)
        if are_systems:
            sheet = part.table.name
            rows = (row if row.system else replace(row, system=sheet) for row in rows)
        yield from rows


def _rows_of(
    file: File, part: _Part, layout: Layout, chosen: Columns, known_ids: Known
) -> Iterator[Row]:
    """The rows of a table with a column for each role."""
    columns = {**layout.columns}
    if "doc_id" not in chosen and layout.role in ("result", "grade"):
        columns |= known_id(file, part.head, columns, known_ids)
    texts = {of: part.head.texts(columns[of]) for of in ("score", "grade") if of in columns}
    numbers = {role: Numbers([*filter(None, cells)]) for role, cells in texts.items()}
    layout = replace(layout, columns=columns, numbers=numbers, comma=part.table.comma)
    names, is_ours, raters = part.table.names, part.table.is_ours, layout.raters
    # A column of texts by its name whose first cells are ids has no texts below either.
    is_either = plain_name(columns.get("doc_id", "")) in EITHER and "text" not in columns
    are_bare_ids = is_either and not is_ours and "doc_id" not in chosen
    for line, cells in part.table.rows:
        originals = [original_text(as_text(cell)) for cell in cells] if is_ours else cells
        values = dict(zip(names, originals, strict=True))
        if is_ours and _is_outcome(values):
            file.counts["results_outcomes"] += bool(values["relevance"])
        elif _is_total(layout, values):
            file.warn("results_total_row", line=line)
        else:
            row = _row(file, line, values, layout)
            if are_bare_ids and row.item and not BARE_ID.fullmatch(id_of(row.item)):
                place = {"column": columns["doc_id"], "value": id_of(row.item)[:60]}
                file.refuse("results_id_or_text", line=line, **place)
            for rater in raters:
                yield replace(row, rater=rater, grade=as_text(values[rater]).strip())
            if not raters:
                yield row


def _is_total(layout: Layout, values: Values) -> bool:
    """Whether a row sums up those above it: it says so, and states no rank and no result."""
    if as_text(values.get(layout.columns.get("rank", ""))).strip():
        return False
    texts = filter(None, (as_text(value).strip() for value in values.values()))
    if not _TOTAL.fullmatch(next(texts, "")) or not any(map(_DIGIT.search, texts)):
        return False
    roles = {role for role, name in layout.columns.items() if as_text(values.get(name)).strip()}
    return not (roles & {"query", "query_id"} and roles & {*DOCUMENT_ROLES})


def _is_outcome(values: Values) -> bool:
    """Whether a row of our long CSV is about an empty list: no rank and no document."""
    is_of_item = values.get("document") or values.get("rank")
    return not is_of_item and values.get("relevance") in OUTCOMES


def read_json(
    file: File,
    values: Iterator[tuple[int, object]],
    chosen: Columns,
    role: Role,
    id_column: Columns = MappingProxyType({}),
) -> Iterator[Row]:
    """The rows of JSON with an object for each, all of one role; raises an `ImportRefused`.

    One that leaves out the `id_column` has no id: what others have beside that is another one.
    """
    layout = Layout(role, {})
    nested: dict[str, None] = {}
    names: tuple[str, ...] | None = None  # a row may leave out what is blank
    for line, value in values:
        if not isinstance(value, dict):
            file.refuse("line_not_an_object", line=line, expected="object", found="other_value")
        row = dict.fromkeys(id_column.values(), "") | flat_row(value)
        if tuple(row) != names:
            names = tuple(row)
            layout = Layout(role, columns_of(names, {**id_column, **chosen}))
            of_row = {*layout.columns.values()}
        nested |= dict.fromkeys(n for n in names if n not in of_row and _is_nested(row[n]))
        for needed in ("query", "query_id", "doc_id", "text"):
            inner = row.get(layout.columns.get(needed, ""))
            if inner and is_several(inner) and (needed != "text" or not as_text(inner)):
                place = {"place": layout.columns[needed], "found": kind_of(inner)}
                file.refuse("results_value_nested", line=line, **place)
        yield _row(file, line, row, layout)
    if nested:
        file.warn("results_values_left", names=", ".join(nested)[:300])


def _is_nested(value: object) -> bool:
    is_list = isinstance(value, list) and has_objects(value)
    return is_list or (isinstance(value, dict) and bool(value))


def _shape_of(file: File, head: Head, chosen: Columns) -> shapes.Shape | None:
    """The shape of rows that have a list of results in a cell."""
    mapped = shapes.mapped(chosen)
    values = [_parsed(file, head.names, line, cells) for line, cells in head.rows]
    cells = chain.from_iterable(value.values() for value in values)
    if not mapped and not any(isinstance(cell, list | dict) for cell in cells):
        return None
    return json_systems.shape_of([*map(json_forms.prepared, values)], mapped)


def _parsed(file: File, names: Sequence[str], line: int, cells: Sequence[object]) -> Values:
    """A row as an object: lists and objects in cells, as JSON or Python prints them, are read."""
    values: Values = {}
    with reading(file, line):
        for name, cell in zip(names, cells, strict=True):
            parsed = literal(cell) if isinstance(cell, str) else None
            if parsed is None and part_of(name):
                parsed = _listed(as_text(cell).strip(), plain_name(name))
            values[name] = cell if parsed is None else parsed
    columns = columns_of(tuple(names), {})
    if role_of(columns) in ("result", "grade"):
        return values
    for role in ("query_id", "system", "answer", "category"):
        if columns.get(role) in values:
            values.setdefault(role, values[columns[role]])
    lists = {
        stem: [None if _is_nothing(cell) else cell for cell in map(values.pop, ranked)]
        for stem, ranked in numbered_columns(tuple(names)).items()
    }
    filled = [
        n for listed in lists.values() for n, cell in enumerate(listed, 1) if cell is not None
    ]
    depth = max(filled, default=0)
    return values | {stem: listed[:depth] for stem, listed in lists.items()}


def _is_nothing(cell: object) -> bool:
    """Whether a cell is blank or only says so, as R and pandas write it."""
    return not content_of(as_text(cell))


def _listed(text: str, name: str) -> list[str] | None:
    """The parts of an array as PostgreSQL writes it, or of ids beside each other; else ``None``."""
    if text.startswith("{") and text.endswith("}"):
        return next(csv.reader([text[1:-1]]), [])
    are_ids = _IDS.search(name) or (RETRIEVED.match(name) and _BARE_IDS.fullmatch(text))
    return re.split(r"[,;|\s]+", text) if are_ids else None


def _row(file: File, line: int, values: Values, layout: Layout) -> Row:
    """What a row of a table states; raises an `ImportRefused`."""
    file.budget.spend("records", file)
    role, columns = layout.role, layout.columns
    texts = {of: as_text(values.get(name)).strip() for of, name in layout.of_rows.items()}
    if role != "document" and not (texts.get("query") or texts.get("query_id")):
        column = columns.get("query") or columns.get("query_id") or "query"
        file.refuse("csv_cell_blank", line=line, column=column)
    if role == "result" and texts.get("system") == "":
        file.refuse("csv_cell_blank", line=line, column=columns["system"])
    item = _item(file, line, values, layout.columns)
    number, points, grade = (texts.pop(of, "") for of in ("rank", "score", "grade"))
    rank = stated_rank(file, line, columns["rank"], number) if number else None
    cell = values[columns["score"]] if points else None
    if isinstance(cell, str) and "score" in layout.numbers:
        cell = layout.numbers["score"].plain(points)
    score = as_score(cell, comma=layout.comma) if points else None
    if points and score is None:
        file.counts["results_scores_unusable"] += 1
        if rank is None and role == "result":
            refuse_number(file, line, columns["score"], points)
    failure = ""
    if item is None and role in ("grade", "document"):
        file.refuse("results_names_no_item", line=line)
    if item is None and role == "result" and (rank is not None or score is not None):
        file.error("results_without_item", line)
    elif item is None and role == "result":
        failure = json_lists.failure(values)
        file.counts["results_rows_blank"] += not failure
    file.counts["results_ids_changed"] += bool(item and _CHANGED.fullmatch(item.doc_id or ""))
    if "grade" in layout.numbers and not grade.endswith("%"):  # a percentage is no grade
        grade = layout.numbers["grade"].plain(grade) or grade
    return Row(
        line,
        role,
        item=None if role == "question" else item,
        rank=rank,
        score=score,
        grade=grade,
        answer=as_text(values.get(columns["answer"])) if "answer" in columns else "",
        state=QueryState.FAILED if failure else QueryState.RESULTS,
        error=cut(failure),
        **texts,  # type: ignore[arg-type]  # the roles of the question, the system and the rater
    )


def _check_printed(file: File, line: int, text: str) -> None:
    """Refuse a file with a text that Python printed of an object, which cannot be read back."""
    if json_lists.PRINTED.match(text):
        file.refuse("results_printed", line=line, text=text[:60])


def _item(file: File, line: int, values: Values, columns: Columns) -> Document | None:
    item = item_of(values, columns)
    if item and item.text:
        _check_printed(file, line, item.text)
    parts = (item.doc_id, item.title, item.text, item.url) if item else ()
    return None if all(map(_is_nothing, parts)) else item
