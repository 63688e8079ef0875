"""The words on the pages in the reader's language: Indonesian first, English beside it.

Message ids are English. The catalogue of every other language is a ``messages.po`` under
``translations/``, read as it is, so there is nothing to compile. The language in force is
a context variable: the edges set it, every layer reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from functools import cache
from pathlib import Path

LANGUAGES = ("id", "en")
DEFAULT_LANGUAGE = "id"
SOURCE_LANGUAGE = "en"

_language: ContextVar[str] = ContextVar("language", default=DEFAULT_LANGUAGE)


def language() -> str:
    """The language in force, one of ``LANGUAGES``."""
    return _language.get()


def speak(code: str) -> Token[str]:
    """Put `code` in force until ``hush``; an unknown code means the default."""
    return _language.set(code if code in LANGUAGES else DEFAULT_LANGUAGE)


def hush(spoken: Token[str]) -> None:
    """Put in force again what was before ``speak``."""
    _language.reset(spoken)


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Put `code` in force inside the ``with`` block; an unknown code means the default."""
    spoken = speak(code)
    try:
        yield
    finally:
        hush(spoken)


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
    from babel.messages.pofile import read_po  # 40 ms that --help need not pay

    path = Path(__file__).with_name("translations") / code / "messages.po"
    with path.open("rb") as file:
        return dict(_entries(read_po(file, locale=code)))


def _entries(catalogue: object) -> Iterator[tuple[str, str]]:
    for message in catalogue:  # type: ignore[attr-defined]
        key = message.id[0] if isinstance(message.id, tuple) else message.id
        text = message.string[0] if isinstance(message.string, tuple) else message.string
        if key and text:
            yield key, text
