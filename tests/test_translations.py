"""Everything a user reads is there in Indonesian, and nothing else is in the catalogue."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from jinja2 import Environment
from jinja2.ext import InternationalizationExtension, extract_from_ast

import webapp
from webapp.config import resource
from webapp.i18n import gettext, ngettext, speaking

PACKAGE = Path(webapp.__file__).parent
KEYWORDS = ("_", "gettext", "ngettext", "mark")
PLACE = re.compile(r"%\((\w+)\)s")
POINT = re.compile(r"(?<![\d.])\d+\.\d{1,2}(?!\.?\d)")  # 0.6, and neither 1.200 nor 127.0.0.1


@cache
def used() -> set[str]:
    """Return the message ids of the code and the pages, by their singular."""
    return set(in_the_code()) | set(in_the_pages())


def in_the_code() -> Iterator[str]:
    """Yield the message ids of the code, those inside f-strings included."""
    for path in PACKAGE.rglob("*.py"):
        yield from in_the_module(path)


def in_the_module(path: Path) -> Iterator[str]:
    """Yield the message ids of one module."""
    for call in ast.walk(ast.parse(path.read_text("utf-8"))):
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id in KEYWORDS
            and call.args
            and isinstance(call.args[0], ast.Constant)
            and isinstance(call.args[0].value, str)
        ):
            yield call.args[0].value


def in_the_pages() -> Iterator[str]:
    """Yield the message ids of the templates."""
    environment = Environment(extensions=[InternationalizationExtension])
    for path in resource("templates").rglob("*.html"):
        tree = environment.parse(path.read_text("utf-8"))
        for _line, _keyword, said in extract_from_ast(tree, KEYWORDS):
            message = said[0] if isinstance(said, tuple) else said
            if message is not None:
                yield message


def catalogue() -> Catalog:
    """Return the catalogue; a plural with more forms than Indonesian has is refused."""
    with (PACKAGE / "translations" / "id" / "messages.po").open("rb") as file:
        return read_po(file, locale="id", abort_invalid=True)


@cache
def pairs() -> dict[str, str]:
    texts = {}
    for message in catalogue():
        if message.id:
            texts[_singular(message.id)] = _singular(message.string)
    return texts


def _singular(text: object) -> str:
    return str(text[0] if isinstance(text, (tuple, list)) else text or "")


def test_every_message_has_its_indonesian() -> None:
    assert used() - set(pairs()) == set()
    assert [key for key, text in pairs().items() if not text] == []


def test_no_translation_is_of_a_message_that_nothing_uses() -> None:
    assert set(pairs()) - used() == set()


def test_a_translation_has_the_places_of_its_message() -> None:
    wrong = {
        key: text
        for key, text in pairs().items()
        if not set(PLACE.findall(text)) <= set(PLACE.findall(key)) | {"n"}
    }

    assert wrong == {}


def test_a_number_in_indonesian_has_a_decimal_comma() -> None:
    assert [text for text in pairs().values() if POINT.search(text)] == []


def test_messages_come_in_the_language_in_force() -> None:
    with speaking("en"):
        assert gettext("This study has no run %(name)s", name="x") == "This study has no run x"
        assert ngettext("%(n)s card", "%(n)s cards", 1) == "1 card"
        assert ngettext("%(n)s card", "%(n)s cards", 2) == "2 cards"
    with speaking("id"):
        assert ngettext("%(n)s card", "%(n)s cards", 2) == "2 kartu"
    with speaking("xx"):  # an unknown language is Indonesian
        assert ngettext("%(n)s card", "%(n)s cards", 1) == "1 kartu"
