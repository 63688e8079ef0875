"""Tables with a row each, and what all readers share: records of files, and items of values."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from io import BytesIO
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from webapp.importers.evaluations.cited_answers import MAX_LINE_BYTES, read_lines
from webapp.importers.results.files import BLANKS, MOST_UNPACKED, File
from webapp.importers.runs import csv_ratings
from webapp.importers.runs.json_documents import load, storable_text
from webapp.importers.runs.problems import UnreadableFile, error
from webapp.kinds.document import Document, Scalar
from webapp.records import Problem

_LONGEST_META = 500
_TOLD = ("query_id", "query", "system", "rank", "score", "grade")


class FlatRow(Struct, frozen=True):
    """One row of any file: a listed item, an empty list, a question, a document or a grade.

    ``item`` is a bare id where the file says no more. ``query_id`` is the file's own id of the
    question. ``place`` numbers the lists of a file that has one list per object (0: rows are
    joined by question). ``grade`` is as the file has it.
    """

    line: int
    role: Literal["result", "question", "document", "grade"] = "result"
    query_id: str = ""
    query: str = ""
    item: Document | str | None = None
    system: str = ""
    rank: int | None = None
    score: float | None = None
    answer: str = ""
    category: str = ""
    grade: object = None
    rater: str = ""
    place: int = 0
    extra: Mapping[str, object] = MappingProxyType({})

    def told(self) -> dict[str, str]:
        """What it states, as texts by role."""
        item = self.item if isinstance(self.item, Document) else Document(doc_id=self.item)
        told: dict[str, object] = {
            **{name: getattr(self, name) for name in _TOLD},
            **{name: getattr(item, name) for name in ("doc_id", "title", "text", "url")},
        }
        return {name: str(value)[:200] for name, value in told.items() if value not in (None, "")}


Rows = Iterator[FlatRow | tuple[str, ...]]
"""Rows, and the names of a table's columns before those that have them."""
Columns = Mapping[str, str]
"""Role to the name of its column or key, as a person chose it."""
Record = tuple[int, dict[str, object]]
"""A line or entry, counted from 1, and what it holds."""


def records(file: File, is_one: Callable[[dict[str, object]], bool] = bool) -> Iterator[Record]:
    """Every row of a CSV file or a workbook, or the objects of JSON and JSON Lines that `is_one`.

    An object that is taken brings those beside it in its list. Where there is none the outermost
    ones are given: their reader says what they lack.
    """
    start = file.start()
    if start.startswith(b"PK"):
        yield from _cells(file)
    elif not start.startswith((b"{", b"[")):
        known = {"context.span_id", *(name for names in ROLES.values() for name in names.split())}
        table = csv_ratings.read_table(file.name, file.whole(), required=(), known=known)
        twice = sorted({name for name in table.columns if table.columns.count(name) > 1 and name})
        if twice:
            names = {"columns": ", ".join(twice)}
            raise UnreadableFile(error("results_columns_twice", file.name, names, line=1))
        file.note(*table.problems)
        for record in table.records:
            yield record.line, dict(record.cells)
    else:
        yield from _json_records(file, is_one)


def _json_records(file: File, is_one: Callable[[dict[str, object]], bool]) -> Iterator[Record]:
    with file.opened() as opened:
        first = opened.readline(MAX_LINE_BYTES).strip(BLANKS)
        if not (first.startswith(b"{") and first.endswith(b"}")):
            value, problems = load(file.name, file.whole(), expected="results_file")
            file.note(*problems)
            yield from enumerate(objects(value, is_one) or _dicts(value), 1)
            return
    with file.opened() as opened:
        for line in read_lines(file.name, opened):
            if isinstance(line, Problem):
                file.note(line)
            else:
                found = objects(line.value, is_one) or [line.value]
                yield from ((line.number, one) for one in found)


_ENVELOPES = frozenset(
    (
        *("results", "data", "queries", "questions", "examples", "samples", "rows", "runs"),
        *("responses", "traces", "judgments", "judgmentRatings", "details", "hits", "_source"),
        *("resourceSpans", "scopeSpans", "spans"),
    )
)


def objects(value: object, is_one: Callable[[dict[str, object]], bool]) -> list[dict[str, object]]:
    """The outermost objects in a JSON value that `is_one`, with those beside them in a list."""
    if isinstance(value, list) and any(map(is_one, _dicts(value))):
        return _dicts(value)
    if isinstance(value, dict) and is_one(value):
        return [value]
    if isinstance(value, dict):
        value = [inner for name, inner in value.items() if name in _ENVELOPES]
    inner = value if isinstance(value, list) else ()
    return [found for one in inner for found in objects(one, is_one)]


def _dicts(value: object) -> list[dict[str, object]]:
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]


def _cells(file: File) -> Iterator[Record]:
    """The rows of the first sheet of a workbook, the first one being the header."""
    from openpyxl import load_workbook  # which no other format needs

    rows: list[tuple[object, ...]] = []
    data = BytesIO(file.whole())
    try:
        with zipfile.ZipFile(data) as packed:
            if sum(one.file_size for one in packed.infolist()) > MOST_UNPACKED:
                raise OverflowError  # noqa: TRY301
        book = load_workbook(data, read_only=True, data_only=True)
        rows = list(book.worksheets[0].iter_rows(values_only=True))
    except Exception as wrong:  # the library raises whatever its XML parser meets
        raise UnreadableFile(error("results_cut_off", file.name)) from wrong
    names = [as_text(cell).strip() for cell in rows[0]] if rows else []
    for number, cells in enumerate(rows[1:], 2):
        named = {name: cell for name, cell in zip(names, cells, strict=False) if name}
        if any(cell not in (None, "") for cell in named.values()):
            yield number, {name: _cell(cell) for name, cell in named.items()}


def _cell(value: object) -> str | int | float:
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    return value if isinstance(value, str | int | float) else str(value or "")


# Role to the names of columns and keys that mean it, best first, in lower case with _ for
# blanks, dots and dashes.
QUESTION_ROLES = {
    "query_id": "query_id qid topic topic_id question_id id_query query_number",
    "query": "query question user_input input search_term keywords prompt pertanyaan inputs",
    "system": "system run method strategy engine retriever search_method run_id tag config model",
    "answer": "answer response output generated_answer prediction jawaban",
    "category": "category kategori",
    "grade": "grade rating relevance judgment judgement label qrel relevansi",
    "rater": "rater judge assessor annotator",
}
ITEM_ROLES = {
    "doc_id": "doc_id docid docno document_id corpus_id passage_id pid chunk_id node_id id _id id_ "
    "doc_uri",
    "title": "title judul heading headline name subject",
    "text": "text content page_content passage contents body chunk snippet document context "
    "abstract description teks isi",
    "url": "url link uri href source",
    "rank": "rank position pos peringkat",
    "score": "score _score similarity relevance_score",
}
ROLES = QUESTION_ROLES | ITEM_ROLES
_OF_ITEMS = frozenset({"id", "_id", "id_"})  # in a row that also has a question: whose?


@lru_cache(maxsize=1024)
def guessed(names: tuple[str, ...], *, of_item: bool = False) -> Mapping[str, str]:
    """The name among `names` for each role that has one.

    >>> dict(guessed(("Query", "Doc-ID", "score")))
    {'query': 'Query', 'doc_id': 'Doc-ID', 'score': 'score'}
    """
    plain: dict[str, str] = {}
    for name in names:
        plain.setdefault(re.sub(r"[\s.-]", "_", name.strip().lower()), name)
    found: dict[str, str] = {}
    for role, known in (ITEM_ROLES if of_item else ROLES).items():
        for one in known.split():
            is_open = one in _OF_ITEMS and ("query" in found or "query_id" in found)
            if one in plain and not is_open and plain[one] not in found.values():
                found[role] = plain[one]
                break
    return found


_INNER = (
    *("node", "document", "doc", "hit", "_source", "fields", "payload"),
    *("metadata", "meta", "extra_info"),
)


def flattened(raw: Mapping[str, object]) -> dict[str, object]:
    """The values of an object with those of its inner objects; outer ones go first."""
    values = {
        name: value
        for name, value in raw.items()
        if not (name in _INNER and isinstance(value, dict)) and value is not None
    }
    for name in _INNER:
        inner = raw.get(name)
        if isinstance(inner, dict):
            for key, value in flattened(inner).items():
                values.setdefault(key, value)
    return values


def item_of(values: Mapping[str, object], columns: Columns | None = None) -> Document | None:
    """The document that `values` state, read by `columns` or by guess; ``None`` for none.

    Other values become ``meta``. An address is kept only if a browser can open it.
    """
    columns = guessed(tuple(values), of_item=True) if columns is None else columns
    said = {role: as_text(values.get(name)) for role, name in columns.items() if name}
    url, title = said.get("url", ""), said.get("title", "")
    if not (said.get("doc_id") or said.get("text", "").strip() or title or url):
        return None
    has_address = url.startswith(("https://", "http://"))
    read = {name for role, name in columns.items() if role != "url" or has_address}
    meta: dict[str, Scalar] = {}
    for name, value in values.items():
        if name in read or value == "":
            continue
        if isinstance(value, str):
            meta[storable_text(name)] = as_text(value)[:_LONGEST_META]
        elif isinstance(value, int | float) and as_number(value) is not None:
            meta[storable_text(name)] = value
    return Document(
        title=title.strip() or ("" if has_address else url),
        text=said.get("text", ""),
        url=url if has_address else None,
        doc_id=said.get("doc_id", "").strip() or None,
        meta=meta,
    )


def as_text(value: object) -> str:
    """A value as text: numbers as JSON writes them, lists of texts joined, nothing for null."""
    match value:
        case str():
            return storable_text(value)
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case list():
            return ", ".join(filter(None, map(as_text, value[:100])))
        case _:
            return ""


def as_number(value: object) -> float | None:
    """A finite number, stated as one or as text; ``None`` for anything else."""
    try:
        number = float(value) if isinstance(value, str | int | float) else None
    except (ValueError, OverflowError):
        return None
    return number if number is not None and abs(number) < 1e300 else None


def as_rank(value: object) -> int | None:
    number = as_number(value)
    return int(number) if number is not None and number == int(number) and number >= 0 else None


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
        found = dict(guessed(names))
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


def read_table(file: File, chosen: Columns) -> Rows:
    """Every row of a table; a line with a wrong value is left out and reported."""
    columns: dict[str, str] = {}
    names: tuple[str, ...] = ()
    role = None
    for line, raw in records(file):
        values = flattened(raw)
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
    rank, score = as_rank(said["rank"]), as_number(said["score"])
    for name, number in (("rank", rank), ("score", score)):
        if said[name] and number is None:
            file.error("results_number_wrong", line, place=columns[name], value=said[name][:40])
            return
    of_items = {name: column for name, column in columns.items() if name in ITEM_ROLES}
    of_questions = set(columns.values()) - set(of_items.values())
    item = item_of({k: v for k, v in values.items() if k not in of_questions}, of_items)
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
