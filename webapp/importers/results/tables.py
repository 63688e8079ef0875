"""Tables with a row per result, question, document or grade: CSV, TSV, XLSX and JSON Lines."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping

from webapp.importers.results import rows
from webapp.importers.results.files import File
from webapp.importers.results.rows import ITEM_ROLES, ROLES, Columns, FlatRow, Rows, as_text

_OF_QRELS = {"query_id": "query-id", "doc_id": "corpus-id", "grade": "score"}
_OF_LISTS = ("text", "rank", "score", "system", "answer")


def header_key(names: tuple[str, ...]) -> str:
    """The same for tables with the same columns in any order."""
    return hashlib.sha256("\n".join(sorted(map(str.lower, names))).encode()).hexdigest()[:16]


def columns_of(names: tuple[str, ...], chosen: Columns) -> dict[str, str]:
    """The column of each role: as guessed, else as `chosen` ("" for none) where it exists."""
    lowered = {name.lower(): name for name in names}
    if set(_OF_QRELS.values()) <= lowered.keys():  # of BEIR and MTEB
        found = {role: lowered[name] for role, name in _OF_QRELS.items()}
    else:
        found = dict(rows.guessed(names))
    for role, name in chosen.items():
        column = lowered.get(name.strip().lower(), "")
        if role in ROLES and (column or not name):
            found = {one: own for one, own in found.items() if own != column} | {role: column}
    return {role: name for role, name in found.items() if name}


def role_of(columns: Columns) -> str | None:
    """What the rows of a table with these columns are: "result", "grade" ...; ``None``: nothing."""
    asks = columns.keys() & {"query", "query_id"}
    if asks and columns.keys() & {"doc_id", "text", "url"}:
        is_rated = "grade" in columns and not columns.keys() & set(_OF_LISTS)
        return "grade" if is_rated else "result"
    if {"query", "query_id"} <= columns.keys():
        return "question"
    return "document" if {"doc_id", "text"} <= columns.keys() else None


def read(file: File, chosen: Columns) -> Rows:
    """Every row of a table; a line with a wrong value is left out and reported."""
    columns: dict[str, str] = {}
    names: tuple[str, ...] = ()
    role = None
    for line, raw in rows.records(file):
        values = rows.flattened(raw)
        if tuple(values) != names:
            names = tuple(values)
            columns = columns_of(names, chosen)
            role = role_of(columns)
            yield names
        if role is not None:
            yield from _row(file, line, values, columns, role)
            continue
        file.error("results_columns_missing", line, columns=", ".join(names)[:300])
        if line <= 2:
            return  # the header of all lines


def _row(file: File, line: int, values: Mapping[str, object], columns: Columns, role: str) -> Rows:
    said: dict[str, str] = defaultdict(str)
    said |= {name: as_text(values.get(column)).strip() for name, column in columns.items()}
    rank, score = rows.as_rank(said["rank"]), rows.as_number(said["score"])
    for name, number in (("rank", rank), ("score", score)):
        if said[name] and number is None:
            file.error("results_number_wrong", line, place=columns[name], value=said[name][:40])
            return
    of_items = {name: column for name, column in columns.items() if name in ITEM_ROLES}
    of_questions = set(columns.values()) - set(of_items.values())
    item = rows.item_of({k: v for k, v in values.items() if k not in of_questions}, of_items)
    if role != "document" and not (said["query"] or said["query_id"]):
        column = columns.get("query") or columns["query_id"]
        file.error("csv_value_missing", line, column=column)
        return
    is_needed = role in ("grade", "document") or said["rank"] or said["score"]
    if item is None and is_needed and role != "question":
        file.error("results_without_item", line)
        return
    yield FlatRow(
        line,
        role,  # type: ignore[arg-type]
        item=None if role == "question" else item,
        rank=rank,
        score=score,
        grade=said["grade"] or None,
        answer=as_text(values.get(columns.get("answer", ""))),
        query_id=said["query_id"],
        query=said["query"],
        system=said["system"],
        category=said["category"],
        rater=said["rater"],
    )
