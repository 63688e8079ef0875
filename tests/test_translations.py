"""Everything a user reads is there in Indonesian, and nothing else is in the catalogue."""

from __future__ import annotations

import ast
import re
import shutil
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from gettext import NullTranslations
from pathlib import Path
from typing import Any

import pytest
from babel.dates import get_month_names
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from jinja2 import Environment
from jinja2.ext import InternationalizationExtension, extract_from_ast

import relevansi
from relevansi import i18n, labels
from relevansi.app import create_app
from relevansi.config import Settings, resource, sqlite_url
from relevansi.i18n import gettext, ngettext, speaking
from relevansi.importers.runs import problems
from relevansi.kinds import KINDS
from relevansi.metrics.judging.registry import MEASURES
from tests.page import Page
from tests.web.conftest import in_english
from tests.web.reached import opened

PACKAGE = Path(relevansi.__file__).parent
KEYWORDS = ("_", "gettext", "ngettext", "mark")
PLACE = re.compile(r"%\((\w+)\)s")
POINT = re.compile(r"(?<![\d.])\d+\.\d{1,2}(?!\.?\d)")  # 0.6, and neither 1.200 nor 127.0.0.1
WORD = re.compile(r"\b[^\W\d_]{2,}\b")
OWN = "self::script or self::style or self::template or self::code or self::kbd or self::pre"
OWN += " or self::svg or self::time or self::textarea or @dir='auto' or (@lang and not(self::html))"
HEARD = " or ".join(f"name() = '{name}'" for name in ("title", "aria-label", "placeholder", "alt"))
OF_NAMES = {
    *("measures.show", "guides.figures", "guides.index", "guides.show", "participants.consent"),
    *("findings.show", "constraints.show", "constraints.question"),
    *("machine_judges.index", "machine_judges.show", "imports.formats"),
}
"""Pages full of sources, names of files and of models."""
NAMES = """Relevansi Holm Eval SHA RR RBP TP FP FN TN SHM HGB SVG PNG PDF DOCX Markdown LaTeX
HTML XLSX JSON CSV gold Excel TREC qrels BEIR Search Relevance Workbench Quepid Phoenix run
sec Bahasa Indonesia English API Only Vector Hybrid openai gemini llama Mesin Studi m²
Fleiss Cohen Hayes Krippendorff Gwet Psychological Bulletin Educational and Measurement
Communication Methods Measures British Journal of Mathematical Statistical Psychology"""
"""Names of formats, people and works, units and languages, and labels of runs."""


@cache
def used() -> set[str]:
    return set(in_the_code()) | set(in_the_pages())


def in_the_code() -> Iterator[str]:
    for path in PACKAGE.rglob("*.py"):
        yield from in_the_module(path)
    for messages in problems.catalogue().values():
        yield from messages.values()
    for path in PACKAGE.rglob("meanings.toml"):
        yield from in_the_meanings(tomllib.loads(path.read_text("utf-8")))


def in_the_meanings(value: Any) -> Iterator[str]:
    """Names, citations and references to phrases are the same in every language."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key not in {"citations", "references", "source", "symbol", "unit", "figures"}:
                yield from in_the_meanings(part)
    elif isinstance(value, list):
        for part in value:
            yield from in_the_meanings(part)
    elif isinstance(value, str) and not value.startswith("@"):
        yield value


def in_the_module(path: Path) -> Iterator[str]:
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
    environment = Environment(extensions=[InternationalizationExtension])
    for path in resource("templates").rglob("*.html"):
        tree = environment.parse(path.read_text("utf-8"))
        for _line, _keyword, arguments in extract_from_ast(tree, KEYWORDS):
            message = arguments[0] if isinstance(arguments, tuple) else arguments
            if message is not None:
                yield message


def catalogue() -> Catalog:
    with (PACKAGE / "translations" / "id" / "messages.po").open("rb") as file:
        return read_po(file, locale="id", abort_invalid=True)


@cache
def pairs() -> dict[str, str]:
    texts = {}
    for message in catalogue():
        if message.id:
            texts[_singular(message.id)] = _singular(message.string)
    return texts


def _forms(text: object) -> Sequence[object]:
    return text if isinstance(text, (tuple, list)) else (text,)


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


@pytest.mark.parametrize("path", [*PACKAGE.glob("translations/*/*.po")], ids=str)
def test_words_of_a_kind_are_of_messages_that_there_are(path: Path) -> None:
    """Each stands in place of the main catalogue's, with its places and in as many forms."""
    with path.open("rb") as file:
        messages = [message for message in read_po(file, abort_invalid=True) if message.id]
    assert path.stem in {"messages", *KINDS}
    assert {_singular(message.id) for message in messages} <= set(pairs())
    for message in messages:
        texts = [str(text or "") for text in _forms(message.string)]
        forms = [str(form) for form in _forms(message.id)]
        assert all(texts), message.id
        assert set(PLACE.findall(" ".join(texts))) <= set(PLACE.findall(" ".join(forms))) | {"n"}


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


class Bracketed(NullTranslations):
    """Every message as it is, between brackets: what is outside them is in no catalogue."""

    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"⟦{super().ngettext(msgid1, msgid2, n)}⟧"


def outside(page: Page) -> set[str]:
    """The words of a page, to be seen or heard, that no catalogue has.

    What people and files say has a direction of its own; code and names of keys have no language.
    """
    result: set[str] = set()
    attributes = f"//@*[{HEARD}][not(../ancestor-or-self::*[{OWN}])]"
    depth = 0  # a sentence may have elements in it
    for text in page.element.xpath(f"//text()[not(ancestor::*[{OWN}])] | {attributes}"):
        for piece in re.split("([⟦⟧])", text):
            depth += {"⟦": 1, "⟧": -1}.get(piece, 0)
            if not depth and piece != "⟧":
                result |= set(WORD.findall(piece))
    return result


def test_every_word_of_the_demo_s_pages_is_in_a_catalogue(
    demo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a further language is one catalogue."""
    monkeypatch.setattr(i18n, "_catalogue", lambda *_code: Bracketed())
    # Else the names that a new study has would stay bracketed for later tests.
    monkeypatch.setattr(labels, "_in_every_language", labels._in_every_language.__wrapped__)
    file = Path(shutil.copy(demo_file, tmp_path / "demo.sqlite"))
    app = create_app(Settings(sqlite_url(file), tmp_path, is_demo=True))
    client = in_english(app)
    data = [path.read_text("utf-8") for path in resource("seeds").rglob("*.json")]
    sources = [measure.source for measure in MEASURES.values()]
    short_months, months = (
        get_month_names(width, locale="en") for width in ("abbreviated", "wide")
    )
    of_data = set(
        WORD.findall(" ".join([*data, *sources, *months.values(), *short_months.values(), NAMES]))
    )
    pages = {address: page for name, address, page in opened(client, "/") if name not in OF_NAMES}
    app.extensions["database"].close()

    assert len(pages) > 40
    assert {
        address: unknown
        for address, page in pages.items()
        if page is not None and (unknown := outside(page) - of_data)
    } == {}
