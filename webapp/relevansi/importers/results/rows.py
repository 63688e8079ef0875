"""Rows that files state, whatever their format, and the names by which their values are known."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from math import inf, isnan
from pathlib import Path
from types import MappingProxyType
from typing import Literal
from unicodedata import normalize

from msgspec import Struct

from relevansi import json_text
from relevansi.importers.runs.json_documents import storable_text
from relevansi.kinds.document import Document, Scalar
from relevansi.records import QueryState

LONGEST_ID = 200
LONGEST_VALUE = 500
"""Characters that are kept of a value of metadata; a longer one ends in "…"."""
Columns = Mapping[str, str]
"""Role to the name of its column or the path to it, as a person chose it."""
Values = dict[str, object]
"""An object of a file: names to values, as JSON has them."""


Role = Literal["result", "question", "document", "grade"]
"""What a row states."""


class Row(Struct, frozen=True, gc=False):
    """What a file states in one place, by its ``role``.

    A result without ``item`` but with a ``rank`` or ``score`` is one that cannot be read; without
    these it says that the list is empty. ``item`` is a bare id where the file says no more.
    ``query_id`` is the file's own id of the question. ``list_number`` numbers the lists of a file
    that has one list per object (0: rows are joined by question). ``grade`` is as the file has it,
    ``reason`` why the item is not relevant.
    ``state`` tells a list that is not known, whose call failed or which cannot be read.
    """

    line: int
    role: Role = "result"
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
    reason: str = ""
    list_number: int = 0
    state: QueryState = QueryState.RESULTS
    error: str = ""
    extra: Mapping[str, object] = MappingProxyType({})

    def texts(self) -> dict[str, str]:
        """What it states, as short texts by role."""
        item = self.item if isinstance(self.item, Document) else Document(doc_id=self.item)
        names = ("query_id", "query", "system", "rank", "score", "grade")
        values: dict[str, object] = {
            **{name: getattr(self, name) for name in names},
            **{name: getattr(item, name) for name in ("doc_id", "title", "text", "url")},
        }
        return {name: str(value)[:200] for name, value in values.items() if value not in (None, "")}


Rows = Iterator[Row]

_NAMES = tomllib.loads(Path(__file__).with_name("names.toml").read_text("utf-8"))
QUESTION_ROLES: dict[str, str] = _NAMES["question"]
ITEM_ROLES: dict[str, str] = _NAMES["item"]
"""Role to the names of columns and keys that mean it, best first, with blanks between."""
_PARTS = frozenset(
    name for role in ("title", "text", "url", "score") for name in ITEM_ROLES[role].split()
)
DOCUMENT_ROLES = ("doc_id", "title", "text", "url")
ROLES = QUESTION_ROLES | ITEM_ROLES
MAPPED_ROLES = ("query", "items", *(role for role in ROLES if role != "query"))
"""What a person can say where it is: a column of a table, or a path in JSON."""
OPEN_IDS = frozenset({"id", "_id", "id_"})
"""Names of ids of which a row that also has a question does not say whose they are."""


EITHER = frozenset({"doc", "document", "dokumen", "documento", "dokument"})
"""Names of ids beside a text, which are else those of the text itself."""
NAMES_ID = re.compile(
    "(?:^|_)(?:id|pk|key|doi|code|kode|slug|ref|file|no|nr|num|nummer|number|numero)$"
)
"""How names end that may be those of an id, where values look like it."""
BARE_ID = re.compile(r"[\w.:/#@+=-]{1,200}", re.ASCII)
"""A text that is an id where nothing says what it is."""


OF_RESULTS = re.compile(
    "^(?:retrieved?|result|source|hit|doc|document|context|chunk|passage|node|page|item|article|"
    "product|paragraph|snippet)_"
)
"""What the name of a value of a result may begin with."""
_TYPE = re.compile("_(?:t|s|ts|ss|txts?|txt_[a-z]{2})$")
"""How the names of Solr's dynamic fields end."""
_UNIT = re.compile(r"_?[(\[].*$")
"""What people write behind a name: (0-3), [cosine]."""
_OF_ITEM = re.compile(
    "(?!(?:query|question|topic|user|author|session|trace|span|run|parent|model|category|thread|"
    "conversation|request|message|system|group|cluster|tenant|index|collection|dataset|type)_).+_id"
)
"""Names of ids that are those of an item, if it has no other."""
_ACCENTS = frozenset("\u0300\u0301\u0302\u0303\u0308\u0327")  # of Latin letters


def plain_name(name: str) -> str:
    """The name of a column or key as ``ROLES`` has it.

    >>> plain_name(" Doc-ID "), plain_name("pageContent"), plain_name("@search.score")
    ('doc_id', 'page_content', '_search_score')
    """
    words = re.sub(r"(?<=[a-z])(?=[A-Z][a-z]|ID$)", "_", name.strip()).lower()
    if not words.isascii():
        words = "".join(c for c in normalize("NFD", words) if c not in _ACCENTS)
        words = normalize("NFC", words)
    return re.sub(r"[\s.@-]+", "_", words)


@lru_cache(maxsize=1024)
def guessed(names: tuple[str, ...], *, of_item: bool = False) -> Mapping[str, str]:
    """The name among `names` for each role that has one.

    >>> dict(guessed(("Query", "Doc-ID", "score")))
    {'query': 'Query', 'doc_id': 'Doc-ID', 'score': 'score'}
    """
    plain: dict[str, str] = {}
    for name in names:
        plain.setdefault(plain_name(name), name)
    counts = Counter(_UNIT.sub("", spelled) for spelled in plain)
    for spelled, name in [*plain.items()]:
        if counts[bare := _UNIT.sub("", spelled)] == 1:
            plain.setdefault(bare, name)
        part = OF_RESULTS.sub("", _TYPE.sub("", spelled))
        if part in _PARTS:
            plain.setdefault(part, name)
    columns: dict[str, str] = {}
    for role, candidates in (ITEM_ROLES if of_item else ROLES).items():
        for candidate in candidates.split():
            is_open = candidate in OPEN_IDS and ("query" in columns or "query_id" in columns)
            name = plain.get(candidate, "")
            if name and not is_open and name not in columns.values():
                columns[role] = name
                break
    others = [name for spelled, name in plain.items() if _OF_ITEM.fullmatch(spelled)]
    if of_item and "doc_id" not in columns and len(others) == 1:
        columns["doc_id"] = others[0]
    # What may be either is the text where nothing else is.
    if plain_name(columns.get("doc_id", "")) in EITHER and "text" not in columns:
        columns["text"] = columns.pop("doc_id")
    return columns


WRAPPERS = tuple(_NAMES["beside"]["wrappers"].split())
"""Names of objects within an item whose values are the item's own."""
_RANK_NAMES = frozenset(ITEM_ROLES["rank"].split())
_UNREAD = frozenset(_NAMES["beside"]["machinery"].split())


def flattened(raw: Mapping[str, object], *, depth: int = 0) -> Values:
    """The values of an object with those of its wrappers; outer ones go first.

    A list is no id where there is another one, and a place in a wrapper not the rank in the list.
    """
    values: Values = {}
    several: Values = {}
    for name, raw_value in raw.items():
        value = scalar(raw_value) if isinstance(raw_value, dict) else raw_value
        is_wrapper = name in WRAPPERS and isinstance(value, dict)
        is_no_id = name in ("id", "_id") and is_several(value)
        is_other_place = depth and name in _RANK_NAMES
        if not (is_wrapper or is_no_id or is_other_place or value is None or name in _UNREAD):
            values[name] = value
        if is_no_id:
            several[name] = value
    for name in WRAPPERS:
        inner = raw.get(name)
        if isinstance(inner, str) and inner.startswith("{"):
            with suppress(ValueError, RecursionError):
                inner = json_text.decode(inner)
        if isinstance(inner, dict) and depth < 8:
            for key, value in flattened(inner, depth=depth + 1).items():
                values.setdefault(key, value)
    has_id = bool(several) and "doc_id" in guessed(tuple(values), of_item=True)
    return values if has_id else several | values


def flat_row(raw: Mapping[str, object]) -> Values:
    """The values of an object for one result: the ``id`` in its document is no id of the row."""
    row = flattened(raw)
    for name in WRAPPERS:
        inner = raw.get(name)
        of_document = flattened(inner) if isinstance(inner, dict) else {}
        if "query" in guessed(tuple(of_document)):
            continue  # it is the row itself that is wrapped
        doc_id = next((of_document[name] for name in OPEN_IDS if name in of_document), None)
        if doc_id is not None:
            return {"doc_id": doc_id, **row}
    return row


def item_of(values: Values, columns: Columns, others: Collection[str] = ()) -> Document | None:
    """The document that `values` state, its roles read by `columns`; ``None`` for none.

    Values that are of neither these nor the `others` become ``meta``. An address is kept only if a
    browser can open it.
    """
    texts = {role: as_text(values.get(columns[role])) for role in DOCUMENT_ROLES if role in columns}
    url, title = texts.get("url", ""), texts.get("title", "").strip()
    doc_id, text = texts.get("doc_id", "").strip(), texts.get("text", "")
    if is_several(values.get(columns.get("doc_id", ""))):
        doc_id = ""  # which is no id
    if not doc_id and BARE_ID.fullmatch(text) and plain_name(columns["text"]) in EITHER:
        doc_id, text = text, ""
    elif doc_id and len(doc_id) > LONGEST_ID and plain_name(columns["doc_id"]) in EITHER:
        doc_id = ""
    if not (doc_id or title or url or text.strip()):
        return None
    has_address = url.startswith(("https://", "http://"))
    roles = {*columns.values(), *others}
    if not has_address:
        roles.discard(columns.get("url", ""))
    meta: dict[str, Scalar] = {}
    for name, value in values.items():
        if name in roles or value == "":
            continue
        is_of_texts = isinstance(value, list) and any(isinstance(part, str) for part in value)
        if isinstance(value, str) or is_of_texts:
            meta[storable_text(name)] = cut(as_text(value))
        elif isinstance(value, int | float) and as_number(value) is not None:
            meta[storable_text(name)] = value
    return Document(
        title=title or ("" if has_address else url),
        text=text,
        url=url if has_address else None,
        doc_id=doc_id or None,
        meta=meta,
    )


def cut(text: str) -> str:
    """Return the text with no more than ``LONGEST_VALUE`` characters.

    >>> cut("a text"), len(cut("long" * 200)), cut("long" * 200)[-3:]
    ('a text', 500, 'on…')
    """
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"


def scalar(value: object) -> object:
    """What an object of MongoDB's extended JSON or of App Search says; any other value as it is.

    >>> scalar({"$numberDouble": "0.5"})
    '0.5'
    """
    while isinstance(value, dict) and len(value) == 1 and next(iter(value)).startswith("$"):
        (value,) = value.values()
    if isinstance(value, dict) and "raw" in value and value.keys() <= {"raw", "snippet"}:
        return value["raw"]
    return value


def is_several(value: object) -> bool:
    """Whether a value is an object or a list, but none of a single plain value."""
    value = scalar(value) if isinstance(value, dict) else value
    is_one = isinstance(value, list) and len(value) == 1 and not isinstance(value[0], list | dict)
    return isinstance(value, list | dict) and not is_one


_INNER_TEXTS = ("text", "content", "page_content", "snippet", "body", "value")


def as_text(value: object) -> str:
    """A value as text: numbers as JSON writes them, the texts of a list joined, "" for null.

    >>> as_text([{"type": "text", "text": "Long"}, "red"])
    'Long, red'
    """
    value = scalar(value) if isinstance(value, dict) else value
    if isinstance(value, str):  # as most are; a pattern takes longer
        return storable_text(value)
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case list():
            texts = (as_text(inner) for inner in value[:100] if not isinstance(inner, list))
            return ", ".join(filter(None, texts))
        case dict():
            inner = (value[name] for name in _INNER_TEXTS if isinstance(value.get(name), str))
            return storable_text(next(inner, ""))
        case _:
            return ""


_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+(?:[eE][+-]?\d+)?\s*")


def as_number(value: object, *, comma: bool = False) -> float | None:
    """A finite number, stated as one or as text; ``None`` for anything else.

    `comma`: a comma is read as decimal point, too.
    """
    number = as_score(value, comma=comma)
    return number if number is not None and abs(number) < 1e300 else None


def as_score(value: object, *, comma: bool = False) -> float | None:
    """A number by which results can be ordered, infinite ones too; ``None`` for anything else."""
    if comma and isinstance(value, str) and _DECIMAL_COMMA.fullmatch(value):
        value = value.replace(",", ".")
    try:
        number = float(value) if isinstance(value, str | int | float) else None
    except ValueError:
        return None
    except OverflowError:
        return inf
    return None if number is None or isnan(number) or "_" in str(value) else number


_SURE = {
    mark: re.compile(
        rf"[+-]?(?:(?:\d{{1,3}}(?:\{grouping}\d{{3}})+|0|\d{{4,}})\{mark}\d+"
        rf"|\d{{1,3}}(?:\{grouping}\d{{3}}){{2,}}"
        rf"|\d+\{mark}(?:\d\d?|\d{{4,}}|\d+[eE][+-]?\d+))"
    )
    for mark, grouping in ((",", "."), (".", ","))
}
"""Numbers whose decimal mark is sure: no number is grouped like that by the same sign."""
_GROUPED = {
    mark: re.compile(rf"[+-]?\d{{1,3}}(?:\{grouping}\d{{3}})*(?:\{mark}\d+)?")
    for mark, grouping in ((",", "."), (".", ","))
}


class Notation(Struct, frozen=True):
    """How a column writes its numbers: the decimal ``mark``, "" where none is sure, and percent."""

    mark: str = ""
    is_percent: bool = False

    def plain(self, text: str) -> str:
        """The text of a number with a point and nothing between its digits.

        >>> Notation(",").plain("1.234,5"), Notation(".", is_percent=True).plain("91.2 %")
        ('1234.5', '91.2e-2')
        """
        if self.is_percent:
            text = text.removesuffix("%").rstrip() + "e-2" if text.endswith("%") else ""
        if self.mark and _GROUPED[self.mark].fullmatch(text.removesuffix("e-2")):
            grouping = "." if self.mark == "," else ","
            return text.replace(grouping, "").replace(self.mark, ".")
        return text


def notation_of(texts: Sequence[str]) -> Notation:
    """How the numbers of a column are written, as those say whose notation is sure.

    >>> notation_of(["1.234", "0,5"]).mark, notation_of(["1.234"]).mark
    (',', '')
    """
    are_percent = bool(texts) and all(text.endswith("%") for text in texts)
    plain = [text.removesuffix("%").rstrip() for text in texts]
    marks = [mark for mark, pattern in _SURE.items() if any(map(pattern.fullmatch, plain))]
    return Notation(marks[0] if len(marks) == 1 else "", are_percent)


def as_rank(value: object) -> int | None:
    number = as_number(value)
    return int(number) if number is not None and number == int(number) and number >= 0 else None


# Columns by which a file is known, and their roles: of BEIR and MTEB, of the documents that
# Phoenix lists by its spans, and of our own long CSV.
KNOWN_HEADERS: tuple[Mapping[str, str], ...] = (
    {"query_id": "query-id", "doc_id": "corpus-id", "grade": "score"},
    {"query": "input", "text": "reference", "rank": "document_position", "score": "document_score"},
    {"query_id": "query_id", "doc_id": "document", "grade": "relevance", "rater": "rater"}
    | {"": "provenance"},
)


def has_known_header(names: Collection[str]) -> bool:
    return any(set(header.values()) <= {*names} for header in KNOWN_HEADERS)


def header_key(names: tuple[str, ...]) -> str:
    """The same for tables with the same columns in any order."""
    return hashlib.sha256("\n".join(sorted(map(str.lower, names))).encode()).hexdigest()[:16]


RETRIEVED = re.compile("retriev(?:ed|al)_?(?:context|chunk|doc|passage)")
"""What the names of columns begin with that have what was retrieved, not what should have been."""


def columns_of(names: tuple[str, ...], chosen: Columns) -> dict[str, str]:
    """The column of each role: as guessed, else as `chosen` ("" for none) where it exists."""
    lowered = {name.lower(): name for name in names if name}
    columns = dict(guessed(tuple(filter(None, names))))
    if plain_name(columns.get("text", "")) == "context" and any(map(RETRIEVED.match, lowered)):
        del columns["text"]  # what should have been found
    for header in KNOWN_HEADERS:
        if set(header.values()) <= lowered.keys():
            columns = {role: lowered[name] for role, name in header.items() if role}
            if "reason" in lowered and "" in header:  # our own, of this version
                columns["reason"] = lowered["reason"]
            break
    for role, name in chosen.items():
        column = lowered.get(name.strip().lower(), "")
        if role in ROLES and (column or not name):
            columns = {of: at for of, at in columns.items() if at != column} | {role: column}
    return {role: name for role, name in columns.items() if name}


_OF_LISTS = ("text", "rank", "score", "system", "answer")


def role_of(columns: Columns) -> Role | None:
    """What the rows of a table with these columns state; ``None``: nothing to judge."""
    asks = columns.keys() & {"query", "query_id"}
    if asks and columns.keys() & {"doc_id", "text", "url"}:
        is_graded = "grade" in columns and not columns.keys() & set(_OF_LISTS)
        return "grade" if is_graded else "result"
    if {"query", "query_id"} <= columns.keys():
        return "question"
    return "document" if {"doc_id", "text"} <= columns.keys() else None
