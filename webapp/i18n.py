"""The words on the pages in the reader's language: Indonesian first, English beside it.

Message ids are English. The catalogue of every other language is a ``messages.po`` under
``translations/``. What was read of it is kept beside it in ``__pycache__``, as Python keeps what
it compiled, so that nobody has to compile it. The language in force is a context variable: the
edges set it, every layer reads it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar, Token
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from stat import S_IMODE
from tempfile import TemporaryDirectory
from typing import Any

TRANSLATIONS = Path(__file__).with_name("translations")
LANGUAGES = ("id", "en")
DEFAULT_LANGUAGE = "id"
SOURCE_LANGUAGE = "en"

_language: ContextVar[str] = ContextVar("language", default=DEFAULT_LANGUAGE)


def language() -> str:
    """The language in force, one of ``LANGUAGES``."""
    return _language.get()


def speak(code: str) -> Token[str]:
    """Put `code` in force in this context; an unknown code means the default."""
    return _language.set(code if code in LANGUAGES else DEFAULT_LANGUAGE)


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Put `code` in force inside the ``with`` block; an unknown code means the default."""
    spoken = speak(code)
    try:
        yield
    finally:
        _language.reset(spoken)


def mark(message: str) -> str:
    """`message` itself: marks a text for translation where it is defined, not shown."""
    return message


def gettext(message: str, **values: object) -> str:
    """`message` in the language in force, its ``%(name)s`` places filled from `values`."""
    translated = _catalogue(language()).get(message, message)
    return translated % values if values else translated


def ngettext(singular: str, plural: str, n: int, **values: object) -> str:
    """The form of the message that fits `n`, filled with ``%(n)s`` and `values`."""
    catalogue = _catalogue(language())
    if singular in catalogue:  # Indonesian has one form for every number.
        chosen = catalogue[singular]
    else:
        chosen = singular if n == 1 else plural
    return chosen % {"n": n, **values}


@cache
def _catalogue(code: str) -> dict[str, str]:
    """Message id to translation for `code`; empty for the source language."""
    if code == SOURCE_LANGUAGE:
        return {}
    path = TRANSLATIONS / code / "messages.po"
    said, kept = path.read_bytes(), path.with_name("__pycache__") / "messages.json"
    digest = sha256(said).hexdigest()
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads(kept.read_text("utf-8"))
        if found["of"] == digest:
            messages: dict[str, str] = found["messages"]
            return messages
    read = dict(_entries(said, code))
    if not sys.dont_write_bytecode:
        _keep(kept, {"of": digest, "messages": read}, path.stat().st_mode)
    return read


def _entries(said: bytes, code: str) -> Iterator[tuple[str, str]]:
    """Yield each message id of a catalogue with its translation."""
    from babel.messages.pofile import read_po  # 40 ms that --help need not pay

    catalogue: Iterable[Any] = read_po(BytesIO(said), locale=code)
    for message in catalogue:
        key = message.id[0] if isinstance(message.id, tuple) else message.id
        text = message.string[0] if isinstance(message.string, tuple) else message.string
        if key and text:
            yield key, text


def _keep(path: Path, read: object, mode: int) -> None:
    """Write a file whole or not at all; where none can be written nothing is kept."""
    with suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        with TemporaryDirectory(dir=path.parent) as folder:
            written = Path(folder, path.name)
            written.write_text(json.dumps(read, ensure_ascii=False), "utf-8")
            written.chmod(S_IMODE(mode))
            written.replace(path)
