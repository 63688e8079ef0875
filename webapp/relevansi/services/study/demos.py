"""The demos' finished studies, as they lie in ``seeds``."""

from __future__ import annotations

import lzma
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

from relevansi.config import resource
from relevansi.db import sqlite_files
from relevansi.i18n import DEFAULT_LANGUAGE, SOURCE_LANGUAGE, language


def packed_study(*, documents: bool = False) -> Path:
    """Return the file with a demo's study; that of documents is there in two languages."""
    if not documents:
        return resource("seeds") / "demo" / "study.sqlite.xz"
    code = language() if language() == DEFAULT_LANGUAGE else SOURCE_LANGUAGE
    return resource("seeds") / "documents" / f"study.{code}.sqlite.xz"


def restore(file: Path, *, documents: bool = False) -> None:
    """Put the study of a demo into the place of `file`, as a whole or not at all."""
    with TemporaryDirectory(dir=file.parent) as folder:
        unpacked = Path(folder, file.name)
        unpacked.write_bytes(lzma.decompress(packed_study(documents=documents).read_bytes()))
        sqlite_files.set_mark(unpacked, mark(documents=documents))
        sqlite_files.replace_database(unpacked, file, earlier=None)


def mark(*, documents: bool = False) -> int:
    """Return the number of the study that a demo of this version has, in any language."""
    files = sorted(packed_study(documents=documents).parent.glob("study*.sqlite.xz"))
    return crc32(b"".join(file.read_bytes() for file in files)) & 0x7FFF_FFFF
