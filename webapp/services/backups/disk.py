"""Files of a backup on the disk: read in pieces, synced, in folders that go away."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import IO

PIECE = 2**20


def sha256_of(content: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    digest = sha256()
    with content.open("rb") as opened:
        for piece in pieces(opened):
            digest.update(piece)
    return digest.hexdigest()


def pieces(opened: IO[bytes]) -> Iterator[bytes]:
    """Yield an open file in pieces that fit in memory."""
    while piece := opened.read(PIECE):
        yield piece


def sync(file: Path) -> None:
    """Bring a file and its name to the disk."""
    with file.open("rb+") as opened:
        os.fsync(opened.fileno())
    with suppress(OSError):  # Windows cannot open a folder, and need not
        folder = os.open(file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def folder_beside(file: Path) -> Iterator[Path]:
    """Yield a new private folder on the disk of `file`, which is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=f".{file.name}.", dir=file.absolute().parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
