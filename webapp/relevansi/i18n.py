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


def found_in(folder: Path) -> tuple[str, ...]:
    """The codes of the languages with a catalogue, compiled or not, as they are offered."""
    further = sorted(path.parent.name for path in folder.glob("*/messages.[mp]o"))
    return tuple(dict.fromkeys((DEFAULT_LANGUAGE, SOURCE_LANGUAGE, *further)))


LANGUAGES = found_in(TRANSLATIONS)

_language: ContextVar[str] = ContextVar("language", default=DEFAULT_LANGUAGE)


_kind: ContextVar[str] = ContextVar("kind", default="")


def language() -> str:
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
    """The key of "no" that is shown: that of "tidak", else a cross; both work."""
    return "t" if language() == "id" else "x"


def own_name(code: str) -> str:
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

    count = str(n) if abs(n) < 1000 else format_decimal(n, locale=language())
    return _catalogue(language(), _kind.get()).ngettext(singular, plural, n) % {
        "n": count,
        **values,
    }


@cache
def _catalogue(code: str, kind: str = "") -> NullTranslations:
    """The catalogue of a language, and over it the one that a kind of items has of its own."""
    source = TRANSLATIONS / code / f"{kind or 'messages'}.po"
    if not (source.exists() or source.with_suffix(".mo").exists()):
        return _catalogue(code) if kind else NullTranslations()
    translations = GNUTranslations(BytesIO(_current(source)))
    if kind:
        translations.add_fallback(_catalogue(code))
    return translations


def _current(source: Path) -> bytes:
    compiled_file = source.with_suffix(".mo")
    ages = [path.stat().st_mtime_ns if path.exists() else 0 for path in (source, compiled_file)]
    return compiled_file.read_bytes() if ages[0] <= ages[1] else compiled(source)


def compiled(source: Path) -> bytes:
    """A ``messages.po`` as gettext reads it, kept beside it: another process reads all or none."""
    from babel.messages.mofile import write_mo  # noqa: PLC0415 - 40 ms that --help need not pay
    from babel.messages.pofile import read_po  # noqa: PLC0415 - --help need not pay for it

    written = BytesIO()
    with source.open("rb") as file:
        write_mo(written, read_po(file))
    with suppress(OSError):  # a folder that cannot be written
        part = source.with_suffix(f".{os.getpid()}.mo")
        part.write_bytes(written.getvalue())
        part.replace(source.with_suffix(".mo"))
    return written.getvalue()
