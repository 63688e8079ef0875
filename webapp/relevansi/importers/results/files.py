"""Files as they are dropped, alone or in folders and archives, unpacked and decoded as streams."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import SEEK_END, BufferedReader, BytesIO, TextIOWrapper
from pathlib import Path
from typing import IO, Any, NoReturn

from msgspec import Struct, field

from relevansi.importers.runs.json_documents import storable_text
from relevansi.importers.runs.problems import UnreadableFile, error, warning
from relevansi.json_text import RepeatedKey
from relevansi.records import OnProgress, Problem, no_progress

Dropped = Path | tuple[str, bytes]
"""A path, perhaps of a folder, or a name with bytes."""
BROKEN = (
    *(OSError, EOFError, zlib.error, zipfile.BadZipFile, struct.error),
    *(RuntimeError, NotImplementedError, ValueError, OverflowError),
)
"""The exceptions of the standard library for a packed file that is broken or hostile."""
MOST_UNPACKED = 256 * 2**20  # bytes of a workbook, and what any other file may have at least
LONGEST_RECORD = 64 * 2**20
"""Characters of one line or cell, and bytes of a file that is one JSON value."""

_MOST_PROBLEMS = 1_000
_MOST_MEMBERS = 100_000
_MOST_TIMES_PACKED = 100  # which no text reaches
_SKIPPED = re.compile(r"(?:^|/)(?:\.|__MACOSX/)")
_BLANKS = b" \t\r\n"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BINARY = (
    (b"ARROW1", "arrow"),
    (b"%PDF", "pdf"),
    (b"\x89PNG", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"\xd0\xcf\x11\xe0", "old_workbook"),
    (b"PK\x03\x04", "archive"),
    (b"\x1f\x8b", "archive"),
)
_OFFICE = {"content.xml", "Index/Document.iwa", "word/document.xml", "ppt/presentation.xml"}
"""Parts of documents of LibreOffice, Numbers, Word and PowerPoint, which are archives."""
_CONTROLS = bytes({*range(32)} - {*b"\t\n\v\f\r\x1b\x1e"})
"""Bytes of which a text has hardly any."""
_CHUNK = 2**20


class Budget(Struct):
    """What the files of one import may hold together; counted while they are read."""

    cells: int = 10_000_000
    records: int = 20_000_000
    systems: int = 1_000
    questions: int = 200_000
    metadata: int = 1_000

    def spend(self, what: str, file: File, count: int = 1) -> None:
        """Take `count` off what is left of `what`; raises `UnreadableFile` where nothing is."""
        remainder = getattr(self, what) - count
        setattr(self, what, remainder)
        if remainder < 0:
            limit = getattr(type(self)(), what)
            raise UnreadableFile(error(f"results_many_{what}", file.name, {"limit": limit}))


class File(Struct, eq=False):
    """A dropped file, or one in a dropped folder or archive; ``opened`` reads it unpacked.

    ``format`` is set when it is recognised. What is wrong is kept in ``problems``, from the 1,001st
    on only counted (``n_more``); ``counts`` has, by code, what is never told one by one.
    """

    name: str
    size: int
    opened: Callable[[], IO[bytes]]
    format: str = ""
    budget: Budget = field(default_factory=Budget)
    encoding: str = ""
    problems: list[Problem] = field(default_factory=list)
    n_more: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def folder(self) -> str:
        """The name of the folder or archive's folder that it was dropped in, "" for none."""
        return self.name.rpartition("/")[0].rpartition("/")[2]

    @property
    def stem(self) -> str:
        return re.sub(r"(\.gz)?$", "", self.name.rpartition("/")[2]).rpartition(".")[0] or self.name

    def is_called(self, pattern: str) -> bool:
        """Whether a pattern occurs in its name without its folder, in any case."""
        name = re.sub(r"\.gz$", "", self.name.lower())
        return bool(re.search(pattern, name.rpartition("/")[2]))

    def start(self) -> bytes:
        """The first bytes after blanks; none of a broken file, which reading it tells."""
        with suppress(*BROKEN), self.opened() as opened:
            return opened.read(4096).removeprefix(codecs.BOM_UTF8).lstrip(_BLANKS)
        return b""

    def sha256(self) -> str:
        with suppress(*BROKEN), self.opened() as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()  # type: ignore[arg-type]
        return hashlib.sha256().hexdigest()

    def text(self) -> TextIOWrapper:
        """The text of the file as a stream, line ends as they are, without byte order mark.

        Decoded by its mark, else as UTF-8; what is neither is taken for Windows-1252, which is
        reported. Raises `UnreadableFile` for an empty file and for what is no text.
        """
        self.encoding = self.encoding or self._encoding()
        opened = self.opened()
        return TextIOWrapper(opened, self.encoding, errors="replace", newline="")

    def _encoding(self) -> str:
        with self.opened() as opened:
            start = opened.read(4096)
            if not start.removeprefix(codecs.BOM_UTF8).strip(_BLANKS):
                start += opened.read(_CHUNK)
            marked = next((name for mark, name in _MARKS if start.startswith(mark)), None)
            if not start.removeprefix(codecs.BOM_UTF8).strip(_BLANKS):
                self.refuse("file_empty", expected="results_file")
            marked = marked or _unmarked_utf16(start)
            if marked and marked.startswith("utf-16"):
                return marked
            kind = next((kind for sign, kind in _BINARY if start.startswith(sign)), "binary")
            if kind != "binary" or len(start.translate(None, _CONTROLS)) * 12 < len(start) * 11:
                self.refuse("not_text", found=kind)
            decoder = codecs.getincrementaldecoder("utf-8")()
            chunk = start
            try:
                while chunk:
                    decoder.decode(chunk)
                    chunk = opened.read(_CHUNK)
                decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                self.note(warning("encoding_assumed", self.name))
                return "cp1252"
        return marked or "utf-8"

    def lines(self, on_progress: OnProgress = no_progress) -> Iterator[tuple[int, str]]:
        """Every line with its number, line end included; `on_progress` hears of the bytes read.

        Raises `UnreadableFile` at a line that is longer than a record may be.
        """
        with self.text() as text:
            raw: Any = getattr(getattr(text.buffer, "raw", None), "fileobj", text.buffer)
            number = 0
            while line := text.readline(LONGEST_RECORD):
                number += 1
                if len(line) == LONGEST_RECORD:
                    self.refuse("line_too_long", line=number, limit=LONGEST_RECORD // 2**20)
                if number % 10_000 == 0 and raw.seekable():
                    on_progress(min(raw.tell(), self.size), self.size)
                yield number, line

    def whole_text(self) -> str:
        """All text, or `UnreadableFile` beyond the length of a record."""
        with self.text() as text:
            value = text.read(LONGEST_RECORD + 1)
        if len(value) > LONGEST_RECORD:
            megabytes = max(self.size, len(value)) // 2**20
            limit = LONGEST_RECORD // 2**20
            self.refuse("json_too_large", megabytes=megabytes, limit=limit)
        return value

    def note(self, *problems: Problem) -> None:
        room = _MOST_PROBLEMS - len(self.problems)
        self.problems += problems[:room]
        self.n_more += len(problems[room:])

    def error(self, code: str, line: int | None = None, **details: str | int) -> None:
        self.note(error(code, self.name, details, line=line))

    def warn(self, code: str, line: int | None = None, **details: str | int) -> None:
        self.note(warning(code, self.name, details, line=line))

    def refuse(self, code: str, line: int | None = None, **details: str | int) -> NoReturn:
        """Raise an `UnreadableFile`: nothing of the file can be used."""
        raise UnreadableFile(error(code, self.name, details, line=line))

    def remarks(self) -> list[Problem]:
        """Everything that is wrong, what is only counted at the end."""
        more = [error("results_more", self.name, {"count": self.n_more})] if self.n_more else []
        totals = [warning(code, self.name, {"count": n}) for code, n in self.counts.items() if n]
        return [*self.problems, *more, *totals]


@contextmanager
def reading(file: File, line: int | None = None) -> Iterator[None]:
    """Refuse a file for what the block raises over JSON within it, or over broken bytes."""
    try:
        yield
    except RepeatedKey as repeated:
        file.refuse("json_key_repeated", line=line, place=f"“{repeated.key}”")
    except BROKEN as wrong:
        raise UnreadableFile(error("results_cut_off", file.name)) from wrong


def _unmarked_utf16(start: bytes) -> str | None:
    """The order of bytes in a text of UTF-16 without a mark, told by where its zeros are."""
    even, odd = start[::2], start[1::2]
    for name, letters, zeros in (("utf-16-le", even, odd), ("utf-16-be", odd, even)):
        if zeros.count(0) * 10 > len(zeros) * 9 and not letters.count(0):
            return name
    return None


def expanded(dropped: Iterable[Dropped]) -> Iterator[File]:
    """Every file that was dropped, with those in folders and archives; raises `UnreadableFile`."""
    budget = Budget()
    for source in dropped:
        if isinstance(source, tuple):
            yield from _members(*source, budget)
        elif source.is_dir():
            for path in sorted(source.rglob("*")):
                if path.is_file() and not _SKIPPED.search(path.relative_to(source).as_posix()):
                    name = path.relative_to(source.parent).as_posix()
                    yield from _members(name, path, budget)
        else:
            yield from _members(source.name, source, budget)


def check(name: str, path: Path) -> None:
    """Raise `UnreadableFile` for what is no file, which might be read without end, or is locked."""
    try:
        if not path.is_file() and (path.exists() or path.is_symlink()):
            raise UnreadableFile(error("not_a_file", name))
        path.open("rb").close()
    except OSError as wrong:
        reason = {"reason": wrong.strerror or type(wrong).__name__}
        raise UnreadableFile(error("unreadable_file", name, reason)) from wrong


def _members(name: str, source: Path | bytes, budget: Budget) -> Iterator[File]:
    """The files in a zip, or the file itself when it is none (a workbook is a zip, too)."""
    if isinstance(source, Path):
        check(name, source)
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    file = File(name, size, partial(_opened, source), budget=budget)
    if not file.start().startswith(b"PK\x03\x04") or name.lower().endswith(".xlsx"):
        yield file
        return
    try:
        packed = zipfile.ZipFile(BytesIO(source) if isinstance(source, bytes) else source)
    except BROKEN as wrong:
        raise UnreadableFile(error("results_cut_off", name)) from wrong
    members = {member.filename: member for member in packed.infolist() if not member.is_dir()}
    if _OFFICE.intersection(members):
        file.refuse("not_text", found="office")
    if "[Content_Types].xml" in members:
        yield file
        return
    if len(members) > _MOST_MEMBERS:
        raise UnreadableFile(error("results_cut_off", name))
    for path, member in sorted(members.items()):
        if not _SKIPPED.search(path):
            opened = partial(_member, packed, member)
            yield File(storable_text(path), member.compress_size, opened, budget=budget)


def _opened(source: Path | bytes) -> IO[bytes]:
    raw = BytesIO(source) if isinstance(source, bytes) else source.open("rb")
    if raw.read(2) != b"\x1f\x8b":
        raw.seek(0)
        return raw
    size = raw.seek(0, SEEK_END)
    raw.seek(0)
    unpacked = _Unpacked(fileobj=raw)
    unpacked.myfileobj = raw  # type: ignore[assignment]  # which it closes
    unpacked.bytes_left = _most(size)
    return BufferedReader(unpacked)


class _Unpacked(gzip.GzipFile):
    """A gzip file that raises ``ValueError`` when it has none of its unpacked ``bytes_left``."""

    bytes_left = 0

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self.bytes_left -= len(data)
        if self.bytes_left < 0:
            raise ValueError("the file unpacks to far more than texts do")
        return data


def _member(packed: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    if member.file_size > _most(member.compress_size):
        raise ValueError(f"{member.filename} unpacks to far more than texts do")
    return packed.open(member)


def _most(packed: int) -> int:
    return max(MOST_UNPACKED, _MOST_TIMES_PACKED * packed)
