"""Files as they are dropped, alone or in folders and zips, opened unpacked and read as streams."""

from __future__ import annotations

import gzip
import hashlib
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from io import SEEK_END, BufferedReader, BytesIO
from pathlib import Path
from typing import IO

from msgspec import Struct, field

from webapp.importers.evaluations.cited_answers import MAX_LINE_BYTES, raw_lines
from webapp.importers.runs.json_documents import MAX_BYTES, storable_text
from webapp.importers.runs.problems import UnreadableFile, error, warning
from webapp.records import Problem, Tell, nobody

Dropped = Path | tuple[str, bytes]
"""A path, perhaps of a folder, or a name with bytes."""
BROKEN = (
    *(OSError, EOFError, zlib.error, zipfile.BadZipFile, struct.error),
    *(RuntimeError, NotImplementedError, ValueError, OverflowError),
)
"""The exceptions of the standard library for a packed file that is broken or hostile."""
BLANKS = b"\xef\xbb\xbf \t\r\n"
MOST_UNPACKED = 256 * 2**20  # bytes of a workbook, and what any other file may have at least

_MOST_PROBLEMS = 1_000
_MOST_MEMBERS = 100_000
_MOST_TIMES_PACKED = 100  # which no text reaches
_SKIPPED = re.compile(r"(?:^|/)(?:\.|__MACOSX/)")


class File(Struct, eq=False):
    """A dropped file, or one in a dropped folder or zip; `opened` reads it unpacked.

    ``format`` is set when it is recognised. What is wrong is kept in ``problems``, from the 1,001st
    on only counted (``n_more``); ``counts`` has, by code, what is never told one by one.
    """

    name: str
    size: int
    opened: Callable[[], IO[bytes]]
    format: str = ""
    problems: list[Problem] = field(default_factory=list)
    n_more: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def stem(self) -> str:
        return re.sub(r"(\.gz)?$", "", self.name.rpartition("/")[2]).rpartition(".")[0] or self.name

    def start(self) -> bytes:
        """The first bytes after blanks; none of a broken file, which reading it tells."""
        with suppress(*BROKEN), self.opened() as opened:
            return opened.read(4096).lstrip(BLANKS)
        return b""

    def sha256(self) -> str:
        with suppress(*BROKEN), self.opened() as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()  # type: ignore[arg-type]
        return hashlib.sha256().hexdigest()

    def whole(self) -> bytes:
        """All bytes, or `UnreadableFile` beyond the limit of ``json_documents.load``."""
        with self.opened() as opened:
            data = opened.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            sizes = {"megabytes": max(self.size, len(data)) // 2**20, "limit": MAX_BYTES // 2**20}
            raise UnreadableFile(error("file_too_large", self.name, sizes))
        return data

    def text(self) -> str:
        return storable_text(self.whole().decode("utf-8-sig", "replace"))

    def lines(self, tell: Tell = nobody) -> Iterator[tuple[int, bytes]]:
        """Every line with its number, without byte order mark; `tell` hears of the bytes read."""
        with self.opened() as opened:
            raw = getattr(getattr(opened, "raw", None), "fileobj", opened)
            for number, data in enumerate(raw_lines(opened), 1):
                if number % 10_000 == 0 and raw.seekable():
                    tell(min(raw.tell(), self.size), self.size)
                if data is None:
                    self.error("line_too_long", number, limit=MAX_LINE_BYTES // 2**20)
                else:
                    yield number, data.removeprefix(b"\xef\xbb\xbf") if number == 1 else data

    def text_lines(self, tell: Tell = nobody) -> Iterator[tuple[int, str]]:
        """Every line that is not blank with its number, without line end."""
        for number, data in self.lines(tell):
            text = ""
            try:
                text = storable_text(data.decode())
            except UnicodeDecodeError:
                self.error("line_not_utf8", number)
            if text.strip():
                yield number, text.rstrip("\r\n")

    def note(self, *problems: Problem) -> None:
        room = _MOST_PROBLEMS - len(self.problems)
        self.problems += problems[:room]
        self.n_more += len(problems[room:])

    def error(self, code: str, line: int | None = None, **details: str | int) -> None:
        self.note(error(code, self.name, details, line=line))

    def told(self) -> list[Problem]:
        """Everything that is wrong, what is only counted at the end."""
        more = [error("results_more", self.name, {"count": self.n_more})] if self.n_more else []
        counted = [warning(code, self.name, {"count": n}) for code, n in self.counts.items() if n]
        return [*self.problems, *more, *counted]


def expanded(dropped: Iterable[Dropped]) -> Iterator[File]:
    """Every file that was dropped, with those in folders and zips; raises `UnreadableFile`."""
    for one in dropped:
        if isinstance(one, tuple):
            yield from _members(*one)
        elif one.is_dir():
            for path in sorted(one.rglob("*")):
                if path.is_file() and not _SKIPPED.search(path.relative_to(one).as_posix()):
                    yield from _members(path.relative_to(one.parent).as_posix(), path)
        else:
            yield from _members(one.name, one)


def check(name: str, path: Path) -> None:
    """Raise `UnreadableFile` for what is no file, which might be read without end, or is locked."""
    try:
        if not path.is_file() and (path.exists() or path.is_symlink()):
            raise UnreadableFile(error("not_a_file", name))
        path.open("rb").close()
    except OSError as wrong:
        reason = {"reason": wrong.strerror or type(wrong).__name__}
        raise UnreadableFile(error("unreadable_file", name, reason)) from wrong


def _members(name: str, source: Path | bytes) -> Iterator[File]:
    """The files in a zip, or the file itself when it is none (a workbook is a zip, too)."""
    if isinstance(source, Path):
        check(name, source)
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    file = File(name, size, partial(_opened, source))
    if not file.start().startswith(b"PK\x03\x04") or name.lower().endswith(".xlsx"):
        yield file
        return
    try:
        packed = zipfile.ZipFile(BytesIO(source) if isinstance(source, bytes) else source)
    except BROKEN as wrong:
        raise UnreadableFile(error("results_cut_off", name)) from wrong
    members = {one.filename: one for one in packed.infolist() if not one.is_dir()}
    if "[Content_Types].xml" in members:
        yield file
        return
    if len(members) > _MOST_MEMBERS:
        raise UnreadableFile(error("results_cut_off", name))
    for member, one in sorted(members.items()):
        if not _SKIPPED.search(member):
            yield File(storable_text(member), one.compress_size, partial(_member, packed, one))


def _opened(source: Path | bytes) -> IO[bytes]:
    raw = BytesIO(source) if isinstance(source, bytes) else source.open("rb")
    if raw.read(2) != b"\x1f\x8b":
        raw.seek(0)
        return raw
    size = raw.seek(0, SEEK_END)
    raw.seek(0)
    unpacked = _Unpacked(fileobj=raw)
    unpacked.myfileobj = raw  # type: ignore[assignment]  # which it closes
    unpacked.left = _most(size)
    return BufferedReader(unpacked)


class _Unpacked(gzip.GzipFile):
    """A gzip file that raises ``ValueError`` when it has none of its unpacked bytes ``left``."""

    left = 0

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self.left -= len(data)
        if self.left < 0:
            raise ValueError("the file unpacks to far more than texts do")
        return data


def _member(packed: zipfile.ZipFile, one: zipfile.ZipInfo) -> IO[bytes]:
    if one.file_size > _most(one.compress_size):
        raise ValueError(f"{one.filename} unpacks to far more than texts do")
    return packed.open(one)


def _most(packed: int) -> int:
    return max(MOST_UNPACKED, _MOST_TIMES_PACKED * packed)
