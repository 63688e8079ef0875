"""The words on the pages in the reader's language: Indonesian first, English beside it.

Message ids are English. The catalogue of every other language is a ``messages.po`` under
``translations/``, read as it is, so there is nothing to compile. The language in force is
a context variable: the edges set it, every layer reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

LANGUAGES = ("id", "en")
DEFAULT_LANGUAGE = "id"
SOURCE_LANGUAGE = "en"

_LINES = r'(".*"(?:\n".*")*)'
# Babel, by which entries are found and written, takes five times as long to read them.
_ENTRY = rf"^msgid {_LINES}\n(?:msgid_plural {_LINES[1:-1]}\n)?msgstr(?:\[0\])? {_LINES}"
_MEANT = {"n": "\n", "t": "\t", "r": "\r"}

_language: ContextVar[str] = ContextVar("language", default=DEFAULT_LANGUAGE)


def language() -> str:
    """The language in force, one of ``LANGUAGES``."""
    return _language.get()


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Put `code` in force inside the ``with`` block; an unknown code means the default."""
    token = _language.set(code if code in LANGUAGES else DEFAULT_LANGUAGE)
    try:
        yield
    finally:
        _language.reset(token)


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
    path = Path(__file__).with_name("translations") / code / "messages.po"
    return read(path.read_text("utf-8"))


def read(catalogue: str) -> dict[str, str]:
    r"""What a catalogue translates: message id to text, for several forms by the singular.

    >>> read('msgid "Save"\nmsgstr "Simpan"')
    {'Save': 'Simpan'}
    """
    entries = re.findall(_ENTRY, catalogue, re.MULTILINE)
    found = ((_unquoted(message), _unquoted(said)) for message, said in entries)
    return {message: text for message, text in found if message and text}


def _unquoted(quoted: str) -> str:
    """The text of quoted lines, as they stand below each other in a catalogue."""
    text = "".join(line[1:-1] for line in quoted.split("\n"))
    if "\\" not in text:
        return text
    return re.sub(r"\\(.)", lambda found: _MEANT.get(found[1], found[1]), text)
