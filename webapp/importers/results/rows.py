"""What all readers of results share: the files as dropped, their records, and items of values."""

from __future__ import annotations

import gzip
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from io import SEEK_END, BufferedReader, BytesIO, RawIOBase
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, Literal

from msgspec import Struct, field

from webapp.importers.evaluations.cited_answers import MAX_LINE_BYTES, raw_lines, read_lines
from webapp.importers.runs.csv_ratings import read_table
from webapp.importers.runs.json_documents import MAX_BYTES, load, storable_text
from webapp.importers.runs.problems import UnreadableFile, error
from webapp.kinds.document import Document, Scalar
from webapp.records import Problem, Tell, nobody

BROKEN = (
    *(OSError, EOFError, zlib.error, zipfile.BadZipFile, struct.error),
    *(RuntimeError, NotImplementedError, ValueError, OverflowError),
)
"""The exceptions of the standard library for a packed file that is broken or hostile."""

MOST_PROBLEMS = 1_000
"""Problems of one file that are kept; the rest are counted."""

_LONGEST_META = 500
_MOST_MEMBERS = 100_000
_MOST_UNPACKED = 256 * 2**20  # bytes of a workbook, and what any other file may have at least
_MOST_TIMES_PACKED = 100  # which no text reaches
_SKIPPED = re.compile(r"(?:^|/)(?:\.|__MACOSX/)")
_BLANKS = b"\xef\xbb\xbf \t\r\n"


class File(Struct):
    """A dropped file, or one in a dropped folder or zip; `opened` reads it unpacked."""

    name: str
    size: int
    opened: Callable[[], IO[bytes]]
    problems: list[Problem] = field(default_factory=list)
    n_more: int = 0

    @property
    def stem(self) -> str:
        return re.sub(r"(\.gz)?$", "", self.name.rpartition("/")[2]).rpartition(".")[0] or self.name

    def start(self) -> bytes:
        """The first bytes after blanks; none of a broken file, which reading it tells."""
        with suppress(*BROKEN), self.opened() as opened:
            return opened.read(4096).lstrip(_BLANKS)
        return b""

    def note(self, problem: Problem) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)
        else:
            self.n_more += 1

    def error(self, code: str, line: int | None = None, **details: str | int) -> None:
        self.note(error(code, self.name, details, line=line))


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


Rows = Iterator[FlatRow | tuple[str, ...]]
"""Rows, and the names of a table's columns before those that have them."""
Columns = Mapping[str, str]
"""Role to the name of its column or key, as a person chose it."""
Record = tuple[int, dict[str, object]]
"""A line or entry, counted from 1, and what it holds."""


def expanded(dropped: Iterable[Path | tuple[str, bytes]]) -> Iterator[File]:
    """Every file that was dropped, with those in folders and zips; raises `UnreadableFile`."""
    for one in dropped:
        if isinstance(one, tuple):
            name, data = one
            yield from _members(File(name, len(data), partial(_opened, data)), BytesIO(data))
        elif one.is_dir():
            for path in sorted(one.rglob("*")):
                if path.is_file() and not _SKIPPED.search(path.relative_to(one).as_posix()):
                    yield _at(path.relative_to(one.parent).as_posix(), path)
        else:
            yield from _members(_at(one.name, one), one)


def _at(name: str, path: Path) -> File:
    if path.exists() and not path.is_file():
        raise UnreadableFile(error("not_a_file", name))
    try:
        path.open("rb").close()
        return File(name, path.stat().st_size, partial(_opened, path))
    except OSError as wrong:
        reason = {"reason": wrong.strerror or type(wrong).__name__}
        raise UnreadableFile(error("unreadable_file", name, reason)) from wrong


def _opened(source: Path | bytes) -> IO[bytes]:
    raw = BytesIO(source) if isinstance(source, bytes) else source.open("rb")
    head = raw.read(2)
    size = raw.seek(0, SEEK_END)
    raw.seek(0)
    return BufferedReader(_Unpacked(raw, _most(size))) if head == b"\x1f\x8b" else raw


class _Unpacked(RawIOBase):
    """A gzip file that raises ``ValueError`` beyond `most` unpacked bytes."""

    def __init__(self, fileobj: IO[bytes], most: int) -> None:
        self.fileobj = fileobj
        self._packed = gzip.GzipFile(fileobj=fileobj)
        self._left = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        read = self._packed.readinto(buffer)
        self._left -= read
        if self._left < 0:
            raise ValueError("the file unpacks to far more than texts do")
        return read

    def close(self) -> None:
        super().close()
        self.fileobj.close()


def _most(packed: int) -> int:
    return max(_MOST_UNPACKED, _MOST_TIMES_PACKED * packed)


def _members(file: File, source: Path | BytesIO) -> Iterator[File]:
    """The files in a zip, or the file itself when it is none (a workbook is a zip, too)."""
    if not file.start().startswith(b"PK\x03\x04") or file.name.lower().endswith(".xlsx"):
        yield file
        return
    try:
        packed = zipfile.ZipFile(source)
    except BROKEN as wrong:
        raise UnreadableFile(error("results_cut_off", file.name)) from wrong
    members = {one.filename: one for one in packed.infolist() if not one.is_dir()}
    if "[Content_Types].xml" in members:
        yield file
        return
    if len(members) > _MOST_MEMBERS:
        raise UnreadableFile(error("results_cut_off", file.name))
    for name, one in sorted(members.items()):
        if not _SKIPPED.search(name):
            yield File(storable_text(name), one.compress_size, partial(_member, packed, one))


def _member(packed: zipfile.ZipFile, one: zipfile.ZipInfo) -> IO[bytes]:
    if one.file_size > _most(one.compress_size):
        raise ValueError(f"{one.filename} unpacks to far more than texts do")
    return packed.open(one)


def whole(file: File) -> bytes:
    """All bytes of a file, or `UnreadableFile` beyond the limit of `load`."""
    with file.opened() as opened:
        data = opened.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        sizes = {"megabytes": max(file.size, len(data)) // 2**20, "limit": MAX_BYTES // 2**20}
        raise UnreadableFile(error("file_too_large", file.name, sizes))
    return data


def whole_text(file: File) -> str:
    return storable_text(whole(file).decode("utf-8-sig", "replace"))


def lines(file: File, tell: Tell = nobody) -> Iterator[tuple[int, bytes]]:
    """Every line with its number, without byte order mark; `tell` hears of the bytes read."""
    with file.opened() as opened:
        raw = getattr(getattr(opened, "raw", None), "fileobj", opened)
        for number, data in enumerate(raw_lines(opened), 1):
            if number % 10_000 == 0 and raw.seekable():
                tell(min(raw.tell(), file.size), file.size)
            if data is None:
                file.error("line_too_long", number, limit=MAX_LINE_BYTES // 2**20)
            else:
                yield number, data.removeprefix(b"\xef\xbb\xbf") if number == 1 else data


def text_lines(file: File, tell: Tell = nobody) -> Iterator[tuple[int, str]]:
    """Every line that is not blank with its number, without line end."""
    for number, data in lines(file, tell):
        text = ""
        try:
            text = storable_text(data.decode())
        except UnicodeDecodeError:
            file.error("line_not_utf8", number)
        if text.strip():
            yield number, text.rstrip("\r\n")


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
        table = read_table(file.name, whole(file), required=(), known=known)
        twice = sorted({name for name in table.columns if table.columns.count(name) > 1 and name})
        if twice:
            names = {"columns": ", ".join(twice)}
            raise UnreadableFile(error("results_columns_twice", file.name, names, line=1))
        for problem in table.problems:
            file.note(problem)
        for record in table.records:
            yield record.line, dict(record.cells)
    else:
        yield from _json_records(file, is_one)


def _json_records(file: File, is_one: Callable[[dict[str, object]], bool]) -> Iterator[Record]:
    with file.opened() as opened:
        first = opened.readline(MAX_LINE_BYTES).strip(_BLANKS)
        if not (first.startswith(b"{") and first.endswith(b"}")):
            value, problems = load(file.name, whole(file), expected="results_file")
            for problem in problems:
                file.note(problem)
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
    data = BytesIO(whole(file))
    try:
        with zipfile.ZipFile(data) as packed:
            if sum(one.file_size for one in packed.infolist()) > _MOST_UNPACKED:
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
