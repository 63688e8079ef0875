"""What all readers of results share: the files as dropped, flat rows, and items out of values."""

from __future__ import annotations

import gzip
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import IO, Literal, NamedTuple

from msgspec import Struct

from webapp.importers.evaluations.cited_answers import MAX_LINE_BYTES, raw_lines, read_lines
from webapp.importers.runs.json_documents import MAX_BYTES, load, storable_text
from webapp.importers.runs.problems import UnreadableFile, error
from webapp.kinds.document import Document, Scalar
from webapp.records import Problem

BROKEN = (
    *(OSError, EOFError, zlib.error, zipfile.BadZipFile, struct.error),
    *(RuntimeError, NotImplementedError, ValueError, OverflowError),
)
"""The exceptions of the standard library for a packed file that is broken or hostile."""

_LONGEST_META = 500
_MOST_MEMBERS = 100_000
_SKIPPED = re.compile(r"(?:^|/)(?:\.|__MACOSX/)")


class File(NamedTuple):
    """A dropped file, or one in a dropped folder or zip; `opened` reads it unpacked."""

    name: str
    size: int
    opened: Callable[[], IO[bytes]]

    @property
    def stem(self) -> str:
        return re.sub(r"(\.gz)?$", "", self.name.rpartition("/")[2]).rpartition(".")[0] or self.name


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


Rows = Iterator[FlatRow | Problem]


def expanded(dropped: Iterable[Path | tuple[str, bytes]]) -> Iterator[File]:
    """Every file that was dropped, with those in folders and zips; raises `UnreadableFile`."""
    for one in dropped:
        if isinstance(one, tuple):
            name, data = one
            file = File(name, len(data), partial(_of_bytes, data))
            yield from _members(file, BytesIO(data))
        elif one.is_dir():
            for path in sorted(one.rglob("*")):
                name = path.relative_to(one.parent).as_posix()
                if path.is_file() and not _SKIPPED.search(path.relative_to(one).as_posix()):
                    yield _at(name, path)
        else:
            yield from _members(_at(one.name, one), one)


def _of_bytes(data: bytes) -> IO[bytes]:
    return _unpacked(BytesIO(data))


def _at(name: str, path: Path) -> File:
    if path.exists() and not path.is_file():
        raise UnreadableFile(error("not_a_file", name))
    try:
        size = path.stat().st_size
        path.open("rb").close()
    except OSError as wrong:
        reason = {"reason": wrong.strerror or type(wrong).__name__}
        raise UnreadableFile(error("unreadable_file", name, reason)) from wrong
    return File(name, size, lambda: _unpacked(path.open("rb")))


def _unpacked(raw: IO[bytes]) -> IO[bytes]:
    head = raw.read(2)
    raw.seek(0)
    if head != b"\x1f\x8b":
        return raw
    packed = gzip.GzipFile(fileobj=raw)
    packed.myfileobj = raw  # type: ignore[assignment] # so that it is closed with it
    return packed  # type: ignore[return-value]


def _members(file: File, source: Path | BytesIO) -> Iterator[File]:
    """The files in a zip, or the file itself when it is none (a workbook is a zip, too)."""
    with file.opened() as opened:
        try:
            is_zip = opened.read(4) == b"PK\x03\x04"
        except BROKEN:
            is_zip = False
    if not is_zip or file.name.lower().endswith(".xlsx"):
        yield file
        return
    try:
        packed = zipfile.ZipFile(source)
        members = [one for one in packed.infolist() if not one.is_dir()]
    except BROKEN as wrong:
        raise UnreadableFile(error("results_cut_off", file.name)) from wrong
    if any(one.filename == "[Content_Types].xml" for one in members):
        yield file
        return
    if len(members) > _MOST_MEMBERS:
        raise UnreadableFile(error("results_cut_off", file.name))
    for one in sorted(members, key=lambda one: one.filename):
        if not _SKIPPED.search(one.filename):
            name = storable_text(one.filename)
            yield File(name, one.compress_size, partial(packed.open, one))


def whole(file: File) -> bytes:
    """All bytes of a file, or `UnreadableFile` beyond the limit of `load`."""
    with file.opened() as opened:
        data = opened.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        sizes = {"megabytes": max(file.size, len(data)) // 2**20, "limit": MAX_BYTES // 2**20}
        raise UnreadableFile(error("file_too_large", file.name, sizes))
    return data


def text_lines(file: File, opened: IO[bytes]) -> Iterator[tuple[int, str] | Problem]:
    """Every line that is not blank with its number, without line end and byte order mark."""
    for number, data in enumerate(raw_lines(opened), 1):
        if data is None:
            limit = {"limit": MAX_LINE_BYTES // 2**20}
            yield error("line_too_long", file.name, limit, line=number)
            continue
        try:
            text = storable_text(data.decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError:
            yield error("line_not_utf8", file.name, line=number)
            continue
        if text.strip():
            yield number, text.rstrip("\r\n")


def worded_lines(file: File, count: int) -> Iterator[tuple[int, list[str]] | Problem]:
    """The words of every line that has `count` of them, blanks in the last one."""
    with file.opened() as opened:
        for line in text_lines(file, opened):
            words = [] if isinstance(line, Problem) else line[1].split(None, count - 1)
            if isinstance(line, Problem):
                yield line
            elif len(words) != count:
                counts = {"cells": len(words), "columns": count}
                yield error("results_word_count", file.name, counts, line=line[0])
            else:
                yield line[0], words


def json_objects(
    file: File, inside: Callable[[object], Iterable[dict[str, object]]]
) -> Iterator[tuple[int, dict[str, object]] | Problem]:
    """The objects in each line of JSON Lines, with its number, or `inside` a JSON file, counted."""
    with file.opened() as opened:
        first = opened.readline(MAX_LINE_BYTES).strip(b"\xef\xbb\xbf \t\r\n")
        is_lines = first.startswith(b"{") and first.endswith(b"}")
    if is_lines:
        with file.opened() as opened:
            for line in read_lines(file.name, opened):
                if isinstance(line, Problem):
                    yield line
                else:
                    yield from ((line.number, one) for one in inside(line.value))
        return
    value, problems = load(file.name, whole(file), expected="results_file")
    yield from problems
    yield from enumerate(inside(value), 1)


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
    *("node", "document", "doc", "_source", "fields", "payload"),
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


def item_of(values: Mapping[str, object], columns: Mapping[str, str]) -> Document | None:
    """The document that `values` state, read by `columns` (role to name); ``None`` for none.

    Other values become ``meta``. An address is kept only if a browser can open it.
    """
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
