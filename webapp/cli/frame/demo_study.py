"""The demo's study: made from the files in ``seeds`` by the services, and kept there.

Making it takes seconds, so each first start of the demo restores what ``nox -s demo`` kept.
"""

from __future__ import annotations

import lzma
import random
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

from webapp.config import resource, sqlite_url
from webapp.db import sqlite_files
from webapp.db.engine import Database

BEGUN_AT = datetime(2026, 2, 9, 2, tzinfo=UTC)
"""When the demo's study begins: the same study is made every time."""


def kept() -> Path:
    """Return the file of the study that is restored."""
    return resource("seeds") / "demo" / "study.sqlite.xz"


def restore(file: Path) -> None:
    """Put the kept study into the place of `file`, as a whole or not at all.

    Its mark is another one than that of any other study that was kept.
    """
    packed = kept().read_bytes()
    with TemporaryDirectory(dir=file.parent) as folder:
        whole = Path(folder, file.name)
        whole.write_bytes(lzma.decompress(packed))
        sqlite_files.set_mark(whole, mark())
        sqlite_files.put(whole, file, kept=None)


def mark() -> int:
    """Return the number of the kept study."""
    return crc32(kept().read_bytes()) & 0x7FFF_FFFF


def make(file: Path) -> None:
    """Make the study in the new database `file` by the services that users use."""
    from webapp.services.runs import samples

    database = Database(sqlite_url(file))
    database.prepare()
    with database.writing() as session, _same_secrets():
        samples.load_demo(session, resource("seeds"), BEGUN_AT)
        session.commit()
    database.close()


def keep() -> None:
    """Make the study and keep it: ``nox -s demo``."""
    with TemporaryDirectory() as folder:
        made, taken = Path(folder, "made.sqlite"), Path(folder, "taken.sqlite")
        make(made)
        sqlite_files.take(made, taken)
        kept().write_bytes(lzma.compress(taken.read_bytes(), preset=9))


@contextmanager
def _same_secrets() -> Iterator[None]:
    """Let the secrets of the demo's study, and so its addresses and orders, be always the same.

    Its people and answers are invented, and nobody can sign in by them.
    """
    drawn = random.Random("relevansi demo")  # noqa: S311 - they guard nothing
    known = secrets.token_hex, secrets.token_urlsafe
    secrets.token_hex = lambda nbytes=None: drawn.randbytes(nbytes or 32).hex()
    secrets.token_urlsafe = lambda nbytes=None: (
        urlsafe_b64encode(drawn.randbytes(nbytes or 32)).rstrip(b"=").decode()
    )
    try:
        yield
    finally:
        secrets.token_hex, secrets.token_urlsafe = known
