"""The words on the pages in the reader's language: Indonesian first, English beside it.

Message ids are English. Every other language is a ``messages.po`` in a folder of its code under
``translations/``, and nothing else; gettext reads the ``messages.mo`` beside it, which the build
compiles. A kind of items may have words of its own for some messages, in ``KIND.po``. The language
in force and the kind are context variables: the edges set them, every layer reads them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar, Token
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path

TRANSLATIONS = Path(__file__).with_name("translations")
DEFAULT_LANGUAGE = "id"
SOURCE_LANGUAGE = "en"


def languages_in(folder: Path) -> tuple[str, ...]:
    """The codes of the languages with a catalogue, compiled or not, in the order of menus."""
    further = sorted(path.parent.name for path in folder.glob("*/messages.[mp]o"))
    return tuple(dict.fromkeys((DEFAULT_LANGUAGE, SOURCE_LANGUAGE, *further)))


LANGUAGES = languages_in(TRANSLATIONS)

_language: ContextVar[str] = ContextVar("language", default=DEFAULT_LANGUAGE)
_kind: ContextVar[str] = ContextVar("kind", default="")


def language() -> str:
    """The code of the language in force in this context."""
    return _language.get()


def kind_of_items() -> str:
    """The kind of items in force; empty where no study was read."""
    return _kind.get()


def speak_of(kind: str) -> None:
    """Put the words of a kind of items in force in this context, where it has its own."""
    _kind.set(kind)


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


def no_key() -> str:
    """The key that pages show for "not relevant": t for "tidak", else x; both work everywhere."""
    return "t" if language() == "id" else "x"


def language_name(code: str) -> str:
    """What speakers of a language call it."""
    with speaking(code):
        return gettext("English")  # each catalogue has the name of its language here


def direction() -> str:
    """The direction in which the language in force is written: "ltr" or "rtl"."""
    from babel import Locale  # noqa: PLC0415 - --help need not pay for it

    return Locale.parse(language()).text_direction


def texts_of(folder: Path, name: str) -> dict[str, str]:
    """The versions of a page-long text by their language: ``NAME.id.md``, ``NAME.en.md``."""
    paths = {code: folder / f"{name}.{code}.md" for code in LANGUAGES}
    return {code: path.read_text("utf-8") for code, path in paths.items() if path.is_file()}


def mark(message: str) -> str:
    """`message` itself: marks a text for translation where it is defined, not shown."""
    return message


def gettext(message: str, **values: object) -> str:
    """`message` in the language in force, its ``%(name)s`` places filled from `values`."""
    translated = _catalogue(language(), _kind.get()).gettext(message) if message else ""
    return translated % values if values else translated


def ngettext(singular: str, plural: str, n: int, **values: object) -> str:
    """The form of the message that fits `n`, filled with ``%(n)s`` and `values`."""
    from babel.numbers import format_decimal  # noqa: PLC0415 - which --help need not pay

    message = _catalogue(language(), _kind.get()).ngettext(singular, plural, n)
    count = str(n) if abs(n) < 1000 else format_decimal(n, locale=language())
    return message % {"n": count, **values}


@cache
def _catalogue(code: str, kind: str = "") -> NullTranslations:
    """The catalogue of a language, and over it the one that a kind of items has of its own."""
    source = TRANSLATIONS / code / f"{kind or 'messages'}.po"
    if not (source.exists() or source.with_suffix(".mo").exists()):
        return _catalogue(code) if kind else NullTranslations()
    compiled_file = source.with_suffix(".mo")
    is_current = _written_at(compiled_file) >= _written_at(source)
    data = compiled_file.read_bytes() if is_current else compiled(source)
    translations = GNUTranslations(BytesIO(data))
    if kind:
        translations.add_fallback(_catalogue(code))
    return translations


def _written_at(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


def compiled(source: Path) -> bytes:
    """A ``messages.po`` as gettext reads it; a copy is left beside it for the next start."""
    from babel.messages.mofile import write_mo  # noqa: PLC0415 - 40 ms that --help need not pay
    from babel.messages.pofile import read_po  # noqa: PLC0415 - --help need not pay for it

    buffer = BytesIO()
    with source.open("rb") as file:
        write_mo(buffer, read_po(file))
    data = buffer.getvalue()
    with suppress(OSError):  # a folder that cannot be written
        # Renamed once it is whole: a server that starts meanwhile reads all of it or none.
        part = source.with_suffix(f".{os.getpid()}.mo")
        part.write_bytes(data)
        part.replace(source.with_suffix(".mo"))
    return data
