"""Everything a user reads is there in Indonesian, and nothing else is in the catalogue."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

import webapp
from webapp.config import resource
from webapp.i18n import gettext, ngettext, speaking

PACKAGE = Path(webapp.__file__).parent
PLACE = re.compile(r"%\((\w+)\)s")


def used() -> set[str]:
    """Return the message ids of the code and the pages, by their singular."""
    keywords = {"_": None, "gettext": None, "ngettext": (1, 2), "mark": None}
    found = set()
    for folder, method in (
        (PACKAGE, "python"),
        (resource("templates"), "jinja2.ext:babel_extract"),
    ):
        ending = "**.py" if method == "python" else "**.html"
        for _, _, message, _, _ in extract_from_dir(
            folder, [(ending, method)], keywords=keywords, options_map={}
        ):
            found.add(message[0] if isinstance(message, tuple) else message)
    return found | within_f_strings()


def within_f_strings() -> set[str]:
    """Return the message ids that stand inside f-strings, which Babel does not read."""
    return {
        call.args[0].value
        for path in PACKAGE.rglob("*.py")
        for string in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(string, ast.JoinedStr)
        for call in ast.walk(string)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in {"gettext", "ngettext", "mark"}
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    }


def catalogue() -> Catalog:
    with (PACKAGE / "translations" / "id" / "messages.po").open("rb") as file:
        return read_po(file, locale="id")


def pairs() -> dict[str, str]:
    texts = {}
    for message in catalogue():
        if message.id:
            texts[_singular(message.id)] = _singular(message.string)
    return texts


def _singular(text: object) -> str:
    return str(text[0] if isinstance(text, (tuple, list)) else text or "")


def test_every_message_has_its_indonesian_and_no_other_is_there() -> None:
    assert used() - set(pairs()) == set()
    assert set(pairs()) - used() == set()
    assert [key for key, text in pairs().items() if not text] == []


def test_a_translation_has_the_places_of_its_message() -> None:
    wrong = {
        key: text
        for key, text in pairs().items()
        if not set(PLACE.findall(text)) <= set(PLACE.findall(key)) | {"n"}
    }

    assert wrong == {}


def test_messages_come_in_the_language_in_force() -> None:
    with speaking("en"):
        assert gettext(
            "There is no run %(name)s; `relevansi runs` lists them.", name="x"
        ).startswith("There")
        assert ngettext("%(n)s card", "%(n)s cards", 1) == "1 card"
        assert ngettext("%(n)s card", "%(n)s cards", 2) == "2 cards"
    with speaking("id"):
        assert ngettext("%(n)s card", "%(n)s cards", 2) == "2 kartu"
    with speaking("xx"):  # an unknown language is Indonesian
        assert ngettext("%(n)s card", "%(n)s cards", 1) == "1 kartu"
